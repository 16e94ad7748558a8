"""Revise: a new plan in the light of what the arm shows (VoG §3.4 and appendix A.3.5)."""

from dataclasses import replace

from kgqa.models.errors import MalformedReply
from kgqa.prompts.plans import outlined
from kgqa.prompts.revise_plan import ReviseAhead, ReviseGlobally, ReviseLocally, RevisePlan, merged
from kgqa.session.bandit import Arm
from kgqa.session.planned import Planned, PlannedUpdate, in_turns, is_empty
from kgqa.session.step import Run, step


@step("revise")
async def revise(state: Planned, run: Run) -> PlannedUpdate:
    """Let the model revise the plan; a malformed reply earns nothing."""
    arm = state["arm"] or "local"
    run.note |= {"step": state["at"], "arm": arm}
    try:
        reply = await run.ask(_prompt(state, arm, run.context.depth))
    except MalformedReply as error:
        run.failed(error)
        return {"revised": None, "decision": "forward"}
    plan = merged(state["plan"], reply, arm)
    revised = replace(plan, steps=plan.steps[: run.context.depth])
    run.note |= {"steps": len(revised.steps), "plan": outlined(revised)}
    run.note |= {"answers": list(revised.answers), "reason": reply.rationale}
    return {"revised": revised, "decision": "forward"}


def _prompt(state: Planned, arm: Arm, depth: int) -> RevisePlan:
    here = [] if is_empty(state) else state["feedback"][-1]
    question, plan, done = state["question"], state["plan"], state["at"] - is_empty(state)
    topics = tuple(state["topic_entities"])
    if arm == "local":
        return ReviseLocally(question, plan, done, tuple(here), depth=depth, topics=topics)
    if arm == "global":
        return ReviseGlobally(question, plan, done, in_turns(state), depth=depth, topics=topics)
    return ReviseAhead(
        question,
        plan,
        done,
        tuple(here),
        frontier=tuple(state["frontier"]),
        offers=tuple(state["offers"]),
        depth=depth,
        topics=topics,
    )
