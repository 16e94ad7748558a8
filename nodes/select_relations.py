"""Prune: which relations does the step need? (VoG §3.2 and appendix A.3.2)."""

from kgqa.models.errors import MalformedReply
from kgqa.prompts.facts import Offer
from kgqa.prompts.select_relations import SelectRelations
from kgqa.session.planned import Planned, PlannedUpdate, at_hand, most_asked, standing, without_more
from kgqa.session.step import Run, step

UNASKED = 3
"""Relations that are followed where the model was not asked, or would not say."""


@step("prune")
async def select_relations(state: Planned, run: Run) -> PlannedUpdate:
    """Let the model choose among the relations; a single one needs no call.

    A malformed reply, or one too many in the same step, leaves the likeliest.
    """
    offers, asked = state["offers"], state["asked"]
    if len(offers) > 1 and asked < most_asked(state, run.context.width):
        chosen, asked = await _chosen(state, run), asked + 1
    else:
        chosen = offers[:UNASKED]
    run.note |= {"step": state["at"], "chosen": [str(offer.hop) for offer in chosen]}
    return {
        "offers": chosen,
        "asked": asked,
        "decision": "forward" if chosen else without_more(state, run.context),
    }


async def _chosen(state: Planned, run: Run) -> list[Offer]:
    offers = state["offers"]
    prompt = SelectRelations(
        state["question"],
        at_hand(state),
        tuple(standing(state)),
        tuple(offers),
        topics=tuple(state["topic_entities"]),
    )
    try:
        reply = await run.ask(prompt)
    except MalformedReply as error:
        run.failed(error)
        return offers[:UNASKED]
    run.note["reason"] = reply.rationale
    return [offers[number - 1] for number in reply.relations]
