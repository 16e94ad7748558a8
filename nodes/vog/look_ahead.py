"""Look ahead: which relations lead on from what was just chosen? (VoG §3.4.1, R_(t+1))."""

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.nodes.vog.entropy_filter import list_candidates, rank_candidates
from kgqa.nodes.vog.state import VoGState, VoGUpdate, observed_nothing
from kgqa.runtime.node import NodeRuntime, node


@node("look_ahead")
async def look_ahead(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Retrieve and filter the relations to come, without the model; a time-out leaves none to show."""
    steps = state["plan"].steps
    place = state["step_index"] - 1 if observed_nothing(state) else state["step_index"]
    step = steps[place] if place < len(steps) else None
    frontier = state["frontier"]
    try:
        leaving = await list_candidates(frontier, state["leads"], runtime)
        offers = await rank_candidates(leaving, frontier, state["question"], step, runtime)
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        offers = []
    runtime.trace |= {"step": state["step_index"], "relations": len(offers)}
    return {"offers": offers, "decision": "forward"}
