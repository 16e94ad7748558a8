"""Plan: which steps lead to the answer, and what will they observe? (VoG §3.1)."""

from kgqa.kg.terms import Path
from kgqa.models.errors import MalformedReply
from kgqa.nodes.recall_exemplars import shown_to
from kgqa.prompts.plan_steps import PlanSteps
from kgqa.prompts.plans import PlanStep, SearchPlan, outlined
from kgqa.prompts.steps import plan_of
from kgqa.session.bandit import Bandit
from kgqa.session.planned import Planned, PlannedUpdate, step_begun
from kgqa.session.step import Run, step


@step("plan")
async def plan_steps(state: Planned, run: Run) -> PlannedUpdate:
    """Let the model plan the whole search, with its answer, and begin at the topic entities.

    A malformed reply leaves the question itself as the only search, without an answer.
    Without verification (VoG, Table 2) the plan's answer is all there is.
    """
    plan = await _planned(state, run)
    run.note |= {"steps": len(plan.steps), "plan": outlined(plan), "answers": list(plan.answers)}
    return {
        **step_begun(),
        "plan": plan,
        "pool": [plan],
        "at": 1,
        "frontier": [Path(topic) for topic in state["topic_entities"]],
        "feedback": [],
        "past": [],
        "stood": [],
        "skipped": 0,
        "bandit": Bandit.blank(),
        "verdict": None,
        "favour": [],
        "against": [],
        "decision": "forward" if run.context.verification else "stop",
    }


async def _planned(state: Planned, run: Run) -> SearchPlan:
    prompt = PlanSteps(
        state["question"],
        tuple(state["topic_entities"]),
        run.context.depth,
        shown_to(state, run, "guide_decomposition"),
    )
    try:
        reply = await run.ask(prompt)
    except MalformedReply as error:
        run.failed(error)
        return SearchPlan((PlanStep("", state["question"]),))
    return plan_of(reply)
