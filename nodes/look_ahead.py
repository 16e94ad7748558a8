"""Look ahead: which relations lead on from what was just chosen? (VoG §3.4.1, R_(t+1))."""

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.nodes.around import offered, ranked
from kgqa.session.planned import Planned, PlannedUpdate, is_empty
from kgqa.session.step import Run, step


@step("look_ahead")
async def look_ahead(state: Planned, run: Run) -> PlannedUpdate:
    """Retrieve and filter the relations to come, without the model; a time-out leaves none to show."""
    steps = state["plan"].steps
    place = state["at"] - 1 if is_empty(state) else state["at"]
    step = steps[place] if place < len(steps) else None
    frontier = state["frontier"]
    try:
        leaving = await offered(frontier, state["leads"], run)
        offers = await ranked(leaving, frontier, state["question"], step, run)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        offers = []
    run.note |= {"step": state["at"], "relations": len(offers)}
    return {"offers": offers, "decision": "forward"}
