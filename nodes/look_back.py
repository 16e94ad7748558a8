"""Look again: a plan ran dry; where else could its steps have led? (beyond VoG, as `look_again`)."""

from kgqa.nodes.ground import is_proved
from kgqa.nodes.look_again import LOOKS
from kgqa.session.planned import Planned, PlannedUpdate, Stand, step_begun, stood_before
from kgqa.session.step import Run, step


@step("look_again")
async def look_back(state: Planned, run: Run) -> PlannedUpdate:
    """Go back to the last place that the search went on from and that leads on otherwise as well.

    Places are where a step began, and where it crossed nodes without a name. What was tried there
    is left out, what was observed since then is set aside, and the plan stays as it is. Not where
    one of its answers is proved.
    """
    stand = _last(state)
    proved = stand is not None and await is_proved(state, run)
    if proved or stand is None:
        run.note["reason"] = "an answer is proved" if proved else "no place is left to look from again"
        return {"decision": "stop"}
    run.note |= {"step": stand.at, "frontier": len(stand.crossing or stand.frontier)}
    before, since = state["feedback"][: stand.at - 1], state["feedback"][stand.at - 1 :]
    return {
        **step_begun(),
        "at": stand.at,
        "frontier": stand.frontier,
        "crossing": stand.crossing,
        "crossed": stand.crossed,
        "feedback": before,
        "past": [*(path for paths in reversed(since) for path in paths), *state["past"]],
        "stood": stood_before(state, stand),
        "skipped": 0,
        "decision": "refine",
    }


def _last(state: Planned) -> Stand | None:
    """Give the last place of which some of what led on was tried, and some was not; none after all looks."""
    if sum(entry["node"] == "look_again" for entry in state["trace"]) >= LOOKS:
        return None
    tried, steps = set(state["tried"]), len(state["plan"].steps)
    open_ = [
        stand
        for stand in state["stood"]
        if stand.at <= steps and 0 < sum(chain in tried for chain in stand.ahead) < len(stand.ahead)
    ]
    return open_[-1] if open_ else None
