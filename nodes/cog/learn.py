"""Learn: the relations that led to a grounded answer may help with questions to come (CoG, Limitations)."""

import asyncio

from kgqa.nodes.cog.state import CoGState, CoGUpdate
from kgqa.priors.errors import EncoderError
from kgqa.priors.masking import mask_names
from kgqa.priors.slots import Blueprint, Slot
from kgqa.runtime.node import NodeRuntime, node


@node("learn")
async def learn(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Add the chains of the answer to the overlay, where the context names one and every topic was met."""
    chains = [each.chain for each in state["memory"]]
    met = [chain.topic for chain in chains] == state["topic_entities"]
    if not runtime.context.overlay or not met or state["outcome"] or state["stopped_by"]:
        return {"decision": "stop"}
    masked = mask_names(state["question"], [each.name for each in state["topic_entities"] if each.name])
    try:
        if library := await runtime.blueprint_library():
            found = Blueprint(tuple(tuple(Slot(hop.words, hop.forward) for hop in c.hops) for c in chains))
            await asyncio.to_thread(library.add, masked, found)
            runtime.trace["blueprint"] = str(found)
    except (ValueError, EncoderError) as error:
        runtime.record_failure(error)
    return {"decision": "stop"}
