"""Revise: a new plan in the light of what the arm shows (VoG §3.4 and appendix A.3.5)."""

from dataclasses import replace

from kgqa.models.errors import MalformedReply
from kgqa.nodes.vog.bandit import Arm
from kgqa.nodes.vog.state import VoGState, VoGUpdate, interleaved_observations, observed_nothing
from kgqa.prompts.plans import plan_outline
from kgqa.prompts.revise_plan import ReviseAhead, ReviseGlobally, ReviseLocally, RevisePlan, merge_plans
from kgqa.runtime.node import NodeRuntime, node


@node("revise")
async def revise(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model revise the plan; a malformed reply earns nothing."""
    arm = state["arm"] or "local"
    runtime.trace |= {"step": state["step_index"], "arm": arm}
    try:
        reply = await runtime.prompt(_revision_prompt(state, arm, runtime.context.depth))
    except MalformedReply as error:
        runtime.record_failure(error)
        return {"revised": None, "decision": "forward"}
    plan = merge_plans(state["plan"], reply, arm)
    revised = replace(plan, steps=plan.steps[: runtime.context.depth])
    runtime.trace |= {"steps": len(revised.steps), "plan": plan_outline(revised)}
    runtime.trace |= {"answers": list(revised.answers), "reason": reply.rationale}
    return {"revised": revised, "decision": "forward"}


def _revision_prompt(state: VoGState, arm: Arm, depth: int) -> RevisePlan:
    here = [] if observed_nothing(state) else state["feedback"][-1]
    question, plan, done = state["question"], state["plan"], state["step_index"] - observed_nothing(state)
    topics = tuple(state["topic_entities"])
    if arm == "local":
        return ReviseLocally(question, plan, done, tuple(here), depth=depth, topics=topics)
    if arm == "global":
        return ReviseGlobally(
            question, plan, done, interleaved_observations(state), depth=depth, topics=topics
        )
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
