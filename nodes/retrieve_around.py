"""Retrieve relations: what leads on from the entities at hand? (VoG §3.2)."""

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.nodes.around import offered
from kgqa.session.planned import Planned, PlannedUpdate, standing, without_more
from kgqa.session.step import Run, step


@step("retrieve_relations")
async def retrieve_around(state: Planned, run: Run) -> PlannedUpdate:
    """Ask the graph which relations leave the frontier, in either direction.

    A time-out is no empty observation: the step is passed over.
    """
    frontier = standing(state)
    run.note |= {"step": state["at"], "frontier": len(frontier)}
    try:
        offers = await offered(frontier, run)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return {"offers": [], "decision": "filter" if state["reached"] else "backtrack"}
    run.note["relations"] = len(offers)
    return {"offers": offers, "decision": "forward" if offers else without_more(state, run.context)}
