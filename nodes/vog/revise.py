"""Plan, look ahead, revise: steps, then new ones as the arm shows (VoG §3.1 and §3.4, appendix A.3.5)."""

from dataclasses import replace
from typing import Any

from kgqa.kg.terms import Path
from kgqa.nodes.recall_exemplars import shown_exemplars
from kgqa.nodes.vog.rerank import leave_out_tried, list_candidates, rank_candidates
from kgqa.nodes.vog.state import (
    Bandit,
    VoGState,
    VoGUpdate,
    interleaved_observations,
    limit_paths,
    new_step,
    observations,
    observed_nothing,
    why_unanswered,
)
from kgqa.prompts.plan_steps import PlanSteps
from kgqa.prompts.plans import PlanStep, SearchPlan, parse_plan, plan_outline
from kgqa.prompts.revise_plan import REVISIONS, Arm, RevisePlan, merge_plans
from kgqa.runtime.node import NodeRuntime, node


@node("plan")
async def plan_steps(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model plan the whole search, with its answer, and begin at the topic entities.

    A malformed reply leaves the question itself as the only search, without an answer.
    Without verification (VoG, Table 2) the plan's answer is all there is.
    """
    question, topics = state["question"], tuple(state["topic_entities"])
    exemplars = shown_exemplars(state, runtime, "guide_decomposition")
    context = runtime.context
    checks = context.conclude and context.attributes
    reply = await runtime.ask(PlanSteps(question, topics, context.depth, exemplars, attributes=checks))
    plan = parse_plan(reply) if reply else SearchPlan((PlanStep("", question),))
    runtime.trace |= {"steps": len(plan.steps), "plan": plan_outline(plan), "answers": list(plan.answers)}
    return {
        **new_step(),
        "plan": plan,
        "pool": [plan],
        "entropy": 0.0,
        "step_index": 1,
        "frontier": [Path(topic) for topic in topics],
        "feedback": [],
        "set_aside": [],
        "checkpoints": [],
        "left_out": [],
        "concluded": [],
        "skipped": 0,
        "bandit": Bandit.blank(),
        "verdict": None,
        "supporting": [],
        "against": [],
        "decision": "forward" if context.verification else "stop",
    }


@node("look_ahead")
async def look_ahead(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Retrieve and filter the relations to come, without the model; a time-out leaves none to show."""
    place = state["step_index"] - observed_nothing(state)
    step = next(iter(state["plan"].steps[place:]), None)
    frontier = _places_ahead(state, runtime)
    leaving = await list_candidates(frontier, state["leads"], runtime) or []
    if why_unanswered(state):  # what was followed from there has not led to the answer
        followed = {
            path.chain.upto(depth) for path in observations(state) for depth in range(1, 1 + len(path.steps))
        }
        leaving = leave_out_tried(leaving, frontier, followed)
    offers = await rank_candidates(leaving, frontier, state["question"], step, runtime)
    runtime.trace |= {"step": state["step_index"], "relations": len(offers)}
    return {"offers": offers, "decision": "forward"}


@node("revise")
async def revise(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model revise the plan; a malformed reply earns nothing."""
    arm, depth = state["arm"] or "local", runtime.context.depth
    runtime.trace |= {"step": state["step_index"], "arm": arm}
    reply = await runtime.ask(_revision_prompt(state, arm, runtime))
    if reply is None:
        return {"revised": None, "decision": "forward"}
    plan = merge_plans(state["plan"], reply, arm)
    revised = replace(plan, steps=plan.steps[:depth])
    runtime.trace |= {"steps": len(revised.steps), "plan": plan_outline(revised)}
    runtime.trace |= {"answers": list(revised.answers), "reason": reply.rationale}
    return {"revised": revised, "decision": "forward"}


def _places_ahead(state: VoGState, runtime: NodeRuntime) -> list[Path]:
    """Return what the next step may begin at: where the search stands, and topics if that is no answer."""
    topics = state["topic_entities"] if _begins_anew(state, runtime) else ()
    return limit_paths([*state["frontier"], *map(Path, topics)])


def _begins_anew(state: VoGState, runtime: NodeRuntime) -> bool:
    return runtime.context.frontier == "wide" and why_unanswered(state) is not None


def _revision_prompt(state: VoGState, arm: Arm, runtime: NodeRuntime) -> RevisePlan:
    empty = observed_nothing(state)
    case: dict[str, Any] = {"depth": runtime.context.depth, "empty": empty}
    case |= {"unanswered": why_unanswered(state), "anew": _begins_anew(state, runtime)}
    case["topics"] = tuple(state["topic_entities"])
    facts = () if empty else tuple(state["feedback"][-1])
    if arm in {"global", "mixed"} or why_unanswered(state):
        facts = interleaved_observations(state)
    if arm in {"lookahead", "mixed"}:
        case |= {"frontier": tuple(_places_ahead(state, runtime)), "offers": tuple(state["offers"])}
    return REVISIONS[arm](state["question"], state["plan"], state["step_index"] - empty, facts, **case)
