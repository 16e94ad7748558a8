"""Learn: the relations that led to a grounded answer may help with questions to come (CoG, Limitations)."""

import asyncio

from kgqa.priors.blueprints import Blueprint, Slot, mask
from kgqa.priors.errors import EncoderError
from kgqa.session.guided import Guided, GuidedUpdate
from kgqa.session.step import Run, step


@step("learn")
async def learn(state: Guided, run: Run) -> GuidedUpdate:
    """Add the chains of the answer to the overlay, where the context names one and every topic was met."""
    met = [each.chain.topic for each in state["memory"]] == state["topic_entities"]
    if not run.context.overlay or not met or state["outcome"] or state["stopped_by"]:
        return {"decision": "stop"}
    names = [topic.name for topic in state["topic_entities"] if topic.name]
    try:
        library = await run.library()
        if library:
            chains = [each.chain for each in state["memory"]]
            found = Blueprint(tuple(tuple(Slot(hop.words, hop.forward) for hop in c.hops) for c in chains))
            await asyncio.to_thread(library.add, mask(state["question"], names), found)
            run.note["blueprint"] = str(found)
    except (ValueError, EncoderError) as error:
        run.failed(error)
    return {"decision": "stop"}
