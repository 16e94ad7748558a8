"""Look ahead and revise: a new plan in the light of what the arm shows (VoG §3.4, appendix A.3.5)."""

from dataclasses import replace
from typing import Any

from kgqa.kg.terms import Path
from kgqa.nodes.vog.rerank import rank_candidates
from kgqa.nodes.vog.retrieve_relations import leave_out_tried, list_candidates
from kgqa.nodes.vog.state import (
    VoGState,
    VoGUpdate,
    interleaved_observations,
    limit_paths,
    observations,
    observed_nothing,
)
from kgqa.prompts.plans import plan_outline
from kgqa.prompts.revise_plan import REVISIONS, Arm, RevisePlan, merge_plans
from kgqa.runtime.node import NodeRuntime, node


@node("look_ahead")
async def look_ahead(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Retrieve and filter the relations to come, without the model; a time-out leaves none to show."""
    place = state["step_index"] - observed_nothing(state)
    step = next(iter(state["plan"].steps[place:]), None)
    frontier = _places_ahead(state, runtime)
    leaving = await list_candidates(frontier, state["leads"], runtime) or []
    if state["unanswered"]:  # what was followed from there has not led to the answer
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
    return runtime.context.frontier == "wide" and state["unanswered"] is not None


def _revision_prompt(state: VoGState, arm: Arm, runtime: NodeRuntime) -> RevisePlan:
    empty = observed_nothing(state)
    case: dict[str, Any] = {"depth": runtime.context.depth, "empty": empty}
    case |= {"unanswered": state["unanswered"], "anew": _begins_anew(state, runtime)}
    case["topics"] = tuple(state["topic_entities"])
    facts = () if empty else tuple(state["feedback"][-1])
    if arm in {"global", "mixed"} or state["unanswered"]:
        facts = interleaved_observations(state)
    if arm in {"lookahead", "mixed"}:
        case |= {"frontier": tuple(_places_ahead(state, runtime)), "offers": tuple(state["offers"])}
    return REVISIONS[arm](state["question"], state["plan"], state["step_index"] - empty, facts, **case)
