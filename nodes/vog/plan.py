"""Plan: which steps lead to the answer, and what will they observe? (VoG §3.1)."""

from kgqa.kg.terms import Path
from kgqa.nodes.recall_exemplars import shown_exemplars
from kgqa.nodes.vog.state import Bandit, VoGState, VoGUpdate, new_step
from kgqa.prompts.plan_steps import PlanSteps
from kgqa.prompts.plans import PlanStep, SearchPlan, parse_plan, plan_outline
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
        "taken_arm": None,
        "cut": False,
        "unanswered": None,
        "decision": "forward" if context.verification else "stop",
    }
