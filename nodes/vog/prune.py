"""Prune: which relations does the step need? (VoG §3.2 and appendix A.3.2)."""

from kgqa.models.errors import MalformedReply
from kgqa.nodes.vog.state import (
    VoGState,
    VoGUpdate,
    current_frontier,
    current_step,
    max_selections,
    next_without_candidates,
)
from kgqa.prompts.facts import RelationCandidate
from kgqa.prompts.select_relations import SelectRelations
from kgqa.runtime.node import NodeRuntime, node

MAX_UNASKED_RELATIONS = 3
"""Relations that are followed where the model was not asked, or would not say."""


@node("prune")
async def prune(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model choose among the relations; a single one needs no call.

    A malformed reply, or one too many in the same step, leaves the likeliest.
    """
    offers, asked = state["offers"], state["asked"]
    if len(offers) > 1 and asked < max_selections(state, runtime.context.width):
        chosen, asked = await _choose_relations(state, runtime), asked + 1
    else:
        chosen = offers[:MAX_UNASKED_RELATIONS]
    runtime.trace |= {"step": state["step_index"], "chosen": [str(offer.hop) for offer in chosen]}
    return {
        "offers": chosen,
        "asked": asked,
        "decision": "forward" if chosen else next_without_candidates(state, runtime.context),
    }


async def _choose_relations(state: VoGState, runtime: NodeRuntime) -> list[RelationCandidate]:
    offers = state["offers"]
    prompt = SelectRelations(
        state["question"],
        current_step(state),
        tuple(current_frontier(state)),
        tuple(offers),
        topics=tuple(state["topic_entities"]),
    )
    try:
        reply = await runtime.prompt(prompt)
    except MalformedReply as error:
        runtime.record_failure(error)
        return offers[:MAX_UNASKED_RELATIONS]
    runtime.trace["reason"] = reply.rationale
    return [offers[number - 1] for number in reply.relations]
