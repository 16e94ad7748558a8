"""Retrieve relations: what leads on from the entities at hand? (VoG §3.2)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.nodes.around import offered
from kgqa.prompts.facts import Offer
from kgqa.session.planned import (
    Planned,
    PlannedUpdate,
    Stand,
    chains_of,
    standing,
    stood_before,
    without_more,
)
from kgqa.session.state import has_run
from kgqa.session.step import Run, step


@step("retrieve_relations")
async def retrieve_around(state: Planned, run: Run) -> PlannedUpdate:
    """Ask the graph which relations leave the frontier, in either direction.

    A time-out is no empty observation: the step is passed over. Once the search has been taken up
    again, what was tried is left out.
    """
    frontier = standing(state)
    run.note |= {"step": state["at"], "frontier": len(frontier)}
    try:
        offers = await offered(frontier, state["leads"], run)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return {"offers": [], "decision": "filter" if state["reached"] else "backtrack"}
    update: PlannedUpdate = {}
    if run.context.second_look:
        offers = _untried(offers, state) if has_run(state, "look_again") else offers
        ahead = chains_of(offers, frontier)
        stand = Stand(state["at"], state["frontier"], state["crossing"], state["crossed"], ahead)
        update["stood"] = [*stood_before(state, stand), stand]
    run.note["relations"] = len(offers)
    return {**update, "offers": offers, "decision": "forward" if offers else without_more(state, run.context)}


def _untried(offers: Sequence[Offer], state: Planned) -> list[Offer]:
    """Leave out of each relation the places from where it was followed before."""
    frontier, tried = standing(state), set(state["tried"])
    left = [
        Offer(offer.hop, tuple(at for at in offer.heads if frontier[at].chain.then(offer.hop) not in tried))
        for offer in offers
    ]
    return [offer for offer in left if offer.heads]
