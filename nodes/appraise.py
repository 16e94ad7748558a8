"""Appraise: is a revised plan good enough to go by? (VoG §3.4.2, equations 3 and 4)."""

import asyncio

from kgqa.priors.agreement import answer_key, is_unanswered
from kgqa.priors.rewards import (
    Metrics,
    answer_entropy,
    confidence,
    measured,
    mixed,
    task_reward,
    threshold_of,
)
from kgqa.prompts.facts import FACTS, claims, draw_fact
from kgqa.prompts.plans import SearchPlan
from kgqa.session.planned import Appraised, Planned, PlannedUpdate, is_empty, may_revise, names_known
from kgqa.session.state import Decision
from kgqa.session.step import Run, step


@step("appraise")
async def appraise(state: Planned, run: Run) -> PlannedUpdate:
    """Reward the arm for its plan, and take up the plan where the reward reaches the threshold.

    After the last revision of a step the best of them is taken up, if it earned anything.
    """
    arm, revised, context = state["arm"] or "local", state["revised"], run.context
    pool = [*state["pool"], revised] if revised else state["pool"]
    reward = await _reward(state, revised, pool, run) if revised else 0.0
    best = state["best"]
    if revised and reward > (best.reward if best else 0.0):
        best = Appraised(revised, arm, reward)
    revisions = state["revisions"] + 1
    bandit = state["bandit"].after(arm, reward)
    threshold = threshold_of(context.encoder) if context.threshold is None else context.threshold
    good = revised is not None and reward >= threshold
    tried: Planned = {**state, "bandit": bandit, "revisions": revisions}
    last = is_empty(state) or not may_revise(tried, context)
    taken = Appraised(revised, arm, reward) if revised and good else best if last else None
    run.note |= {
        "step": state["at"],
        "arm": arm,
        "reward": reward,
        "threshold": threshold,
        "answers": list(revised.answers) if revised else [],
        "before": list(state["plan"].answers),
        "accepted": good,
    }
    if is_empty(state):
        run.note["empty"] = True
    plan = taken.plan if taken else state["plan"]
    if taken:
        run.note["taken"] = taken.arm
    return {
        "pool": pool,
        "bandit": bandit,
        "best": best,
        "revisions": revisions,
        "plan": plan,
        "arm": taken.arm if taken else arm,
        "crossing": [],
        "crossed": 0,
        "decision": _next(state, plan) if taken or last else "refine",
    }


def _next(state: Planned, plan: SearchPlan) -> Decision:
    """Try a step again that has observed nothing, if the plan still has it."""
    return "backtrack" if is_empty(state) and state["at"] <= len(plan.steps) else "forward"


async def _reward(state: Planned, plan: SearchPlan, pool: list[SearchPlan], run: Run) -> float:
    """Give the reward of a plan: its share of the task and of the consensus, mixed by the entropy."""
    ids = names_known(state)
    keys = [answer_key(each.answers, ids) for each in pool]
    metrics = await _metrics(state, plan, run)
    task = task_reward(metrics, run.context.leave_out)
    agreed = confidence(keys, answer_key(plan.answers, ids))
    entropy = answer_entropy(keys)
    run.note |= {"task": task, "confidence": agreed, "entropy": entropy, "metrics": metrics.shown()}
    if run.context.reward == "task":
        return task
    if run.context.reward == "confidence":
        return agreed
    return mixed(task, agreed, entropy, run.context.beta)


async def _metrics(state: Planned, plan: SearchPlan, run: Run) -> Metrics:
    """Measure the step at hand of a plan, or its last where it has fewer."""
    steps = plan.steps[: state["at"]]
    step = steps[-1]
    said = [each.thought or each.search for each in steps]
    predicted = " ".join(" ".join(statement) for statement in step.observation)
    facts = [] if is_empty(state) else state["feedback"][-1]
    whole = " ".join([step.thought, step.search, predicted])
    texts = [state["question"], whole, predicted or said[-1], *said, *map(draw_fact, facts[:FACTS])]
    rows = await run.encode(texts)
    judge = await run.judge()
    last = 2 + len(said)
    return measured(
        question=rows[0],
        step=rows[1],
        predicted=rows[2],
        thought=rows[last],
        earlier=rows[3:last],
        facts=rows[last + 1 :],
        contradicted=await run.in_time(asyncio.to_thread(judge.contradicts, claims(facts), step.observation)),
        unanswered=is_unanswered(plan.answers),
    )
