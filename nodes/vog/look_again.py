"""Look again: a plan ran dry; where else could its steps have led? (beyond VoG, as `look_again`)."""

from kgqa.nodes.look_again import MAX_SECOND_LOOKS
from kgqa.nodes.vog.answer import is_any_answer_proved
from kgqa.nodes.vog.state import SearchCheckpoint, VoGState, VoGUpdate, earlier_checkpoints, new_step
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import node_count


@node("look_again")
async def look_again(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Go back to the last place that the search went on from and that leads on otherwise as well.

    Places are where a step began, and where it crossed nodes without a name. What was tried there
    is left out, what was observed since then is set aside, and the plan stays as it is. Not where
    one of its answers is proved.
    """
    checkpoint = _last_checkpoint(state)
    proved = checkpoint is not None and await is_any_answer_proved(state, runtime)
    if proved or checkpoint is None:
        runtime.trace["reason"] = "an answer is proved" if proved else "no place is left to look from again"
        return {"decision": "stop"}
    index = checkpoint.step_index
    runtime.trace |= {"step": index, "frontier": len(checkpoint.crossing or checkpoint.frontier)}
    since = state["feedback"][index - 1 :]
    return {
        **new_step(),
        "step_index": index,
        "frontier": checkpoint.frontier,
        "crossing": checkpoint.crossing,
        "crossed": checkpoint.crossed,
        "feedback": state["feedback"][: index - 1],
        "set_aside": [*(path for paths in reversed(since) for path in paths), *state["set_aside"]],
        "checkpoints": earlier_checkpoints(state, checkpoint),
        "skipped": 0,
        "decision": "refine",
    }


def _last_checkpoint(state: VoGState) -> SearchCheckpoint | None:
    """Return the last place of which some but not all of what led on was tried; none after all looks."""
    if node_count(state, "look_again") >= MAX_SECOND_LOOKS:
        return None
    tried, steps = set(state["tried"]), len(state["plan"].steps)
    for checkpoint in reversed(state["checkpoints"]):
        times = sum(chain in tried for chain in checkpoint.ahead)
        if checkpoint.step_index <= steps and 0 < times < len(checkpoint.ahead):
            return checkpoint
    return None
