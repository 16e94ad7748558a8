"""Advance: the next step of the plan, or the end (VoG §3.4: executed from t+1 onward)."""

from kgqa.kg.terms import Entity, Path
from kgqa.nodes.expand_around import frontier_of
from kgqa.priors.agreement import worded
from kgqa.prompts.plans import PlanStep
from kgqa.session.planned import Planned, PlannedUpdate, is_empty, observed, step_begun
from kgqa.session.state import Decision, has_run
from kgqa.session.step import Run, step

SKIPPED = 2
"""Steps without an observation after which the plan is all there is; a second look makes do with one."""


@step("advance")
async def advance(state: Planned, run: Run) -> PlannedUpdate:
    """Go on from what was chosen, and from known entities that the next step names.

    At the end, the search may be looked at again (``second_look``).
    """
    plan, at = state["plan"], state["at"] + 1
    skipped = state["skipped"] + is_empty(state)
    if at > len(plan.steps) or skipped >= (1 if has_run(state, "look_again") else SKIPPED):
        run.note["reason"] = "the plan is carried out" if at > len(plan.steps) else "nothing is observed"
        ends: Decision = "refine" if run.context.second_look else "stop"
        return {"at": at, "skipped": skipped, "decision": "infer" if plan.whether else ends}
    frontier = frontier_of([*state["frontier"], *_named(state, plan.steps[at - 1])])
    run.note["step"] = at
    begun = step_begun()
    return {**begun, "at": at, "skipped": skipped, "frontier": frontier, "decision": "forward"}


def _named(state: Planned, step: PlanStep) -> list[Path]:
    """Give the paths to known entities that a step searches from."""
    said = f" {worded(' '.join([step.search, *(head for head, _, _ in step.observation)]))} "
    known = [*map(Path, state["topic_entities"]), *observed(state)]
    return [
        path
        for path in known
        if isinstance(path.end, Entity) and path.end.name and f" {worded(path.end.name)} " in said
    ]
