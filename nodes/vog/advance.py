"""Advance: the next step of the plan, or the end (VoG §3.4: executed from t+1 onward)."""

from kgqa.kg.terms import Entity, Path
from kgqa.nodes.vog.expand import limit_frontier
from kgqa.nodes.vog.state import VoGState, VoGUpdate, all_observations, new_step, observed_nothing
from kgqa.priors.answer_agreement import normalise_answer
from kgqa.prompts.plans import PlanStep
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Decision, node_has_run

MAX_SKIPPED_STEPS = 2
"""Steps without an observation after which the plan is all there is; a second look makes do with one."""


@node("advance")
async def advance(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Go on from what was chosen, and from known entities that the next step names.

    At the end, the search may be looked at again (``retry_search``).
    """
    plan, at = state["plan"], state["step_index"] + 1
    skipped = state["skipped"] + observed_nothing(state)
    if at > len(plan.steps) or skipped >= (1 if node_has_run(state, "look_again") else MAX_SKIPPED_STEPS):
        runtime.trace["reason"] = "the plan is carried out" if at > len(plan.steps) else "nothing is observed"
        ends: Decision = "refine" if runtime.context.retry_search else "stop"
        return {"step_index": at, "skipped": skipped, "decision": "infer" if plan.whether else ends}
    frontier = limit_frontier([*state["frontier"], *_named_entities(state, plan.steps[at - 1])])
    runtime.trace["step"] = at
    begun = new_step()
    return {**begun, "step_index": at, "skipped": skipped, "frontier": frontier, "decision": "forward"}


def _named_entities(state: VoGState, step: PlanStep) -> list[Path]:
    """Return the paths to known entities that a step searches from."""
    said = f" {normalise_answer(' '.join([step.search, *(head for head, _, _ in step.observation)]))} "
    known = [*map(Path, state["topic_entities"]), *all_observations(state)]
    return [
        path
        for path in known
        if isinstance(path.end, Entity) and path.end.name and f" {normalise_answer(path.end.name)} " in said
    ]
