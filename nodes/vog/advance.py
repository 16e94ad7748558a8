"""Advance: the next step of the plan, or the end (VoG §3.4: executed from t+1 onward), or a second look."""

from kgqa.kg.terms import Entity, Path
from kgqa.nodes.look_again import MAX_SECOND_LOOKS
from kgqa.nodes.vog.answer import is_any_answer_proved
from kgqa.nodes.vog.state import (
    SearchCheckpoint,
    VoGState,
    VoGUpdate,
    earlier_checkpoints,
    limit_paths,
    new_step,
    observations,
    observed_nothing,
)
from kgqa.priors.answer_agreement import normalise_answer
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Decision, node_has_run

MAX_SKIPPED_STEPS = 2
"""Steps without an observation after which the plan is all there is.

A second look makes do with one, and so does a search that has not observed anything so far.
"""


@node("advance")
async def advance(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Go on from what was chosen, and from known entities that the next step names; or end, or look again.

    Where the end asks who the answer is, the search stays at its last step: a revision may go on from there.
    """
    context, plan, index = runtime.context, state["plan"], state["step_index"] + 1
    skipped = state["skipped"] + observed_nothing(state)
    carried_out = index > len(plan.steps)
    from_nothing = not (context.repeat_revisions or any(state["feedback"]))
    once = from_nothing or node_has_run(state, "look_again")
    if carried_out or skipped >= (1 if once else MAX_SKIPPED_STEPS):
        runtime.trace["reason"] = "the plan is carried out" if carried_out else "nothing is observed"
        if plan.whether and context.judge:
            return {"step_index": index, "skipped": skipped, "decision": "infer"}
        if context.conclude:
            return {"decision": "filter"}
        ends: Decision = "refine" if context.retry_search else "stop"
        return {"step_index": index, "skipped": skipped, "decision": ends}
    step = plan.steps[index - 1]
    said = f" {normalise_answer(' '.join([step.search, *(head for head, _, _ in step.observation)]))} "
    known = [*map(Path, state["topic_entities"]), *observations(state)]
    entities = [path for path in known if isinstance(path.end, Entity) and path.end.name]
    named = [path for path in entities if f" {normalise_answer(path.end.name or '')} " in said]
    frontier = limit_paths([*state["frontier"], *(named if context.frontier == "wide" else ())])
    runtime.trace["step"] = index
    begun = new_step()
    return {**begun, "step_index": index, "skipped": skipped, "frontier": frontier, "decision": "forward"}


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
    if sum(entry["node"] == "look_again" for entry in state["trace"]) >= MAX_SECOND_LOOKS:
        return None
    tried, steps = set(state["tried"]), len(state["plan"].steps)
    for checkpoint in reversed(state["checkpoints"]):
        times = sum(chain in tried for chain in checkpoint.ahead)
        if checkpoint.step_index <= steps and 0 < times < len(checkpoint.ahead):
            return checkpoint
    return None
