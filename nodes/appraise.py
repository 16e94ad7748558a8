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
from kgqa.session.planned import Appraised, Planned, PlannedUpdate, is_empty, names_known
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
    good = reward >= (threshold_of(context.encoder) if context.threshold is None else context.threshold)
    total = sum(state["bandit"].counts.values()) + 1
    last = is_empty(state) or revisions >= context.revisions or total >= context.revisions_in_all
    taken = Appraised(revised, arm, reward) if revised and good else best if last else None
    run.note |= {
        "step": state["at"],
        "arm": arm,
        "reward": reward,
        "answers": list(revised.answers) if revised else [],
        "before": list(state["plan"].answers),
        "accepted": good,
    }
    if taken:
        run.note["taken"] = taken.arm
    return {
        "pool": pool,
        "bandit": state["bandit"].after(arm, reward),
        "best": best,
        "revisions": revisions,
        "plan": taken.plan if taken else state["plan"],
        "arm": taken.arm if taken else arm,
        "decision": _next(state, ends=bool(taken) or last),
    }


def _next(state: Planned, *, ends: bool) -> Decision:
    if not ends:
        return "refine"
    return "backtrack" if is_empty(state) else "forward"


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
    facts = [] if is_empty(state) else state["feedback"][-1][:FACTS]
    whole = " ".join([step.thought, step.search, predicted])
    texts = [state["question"], whole, predicted or said[-1], *said, *map(draw_fact, facts)]
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
        contradicted=await asyncio.to_thread(judge.contradicts, claims(facts), step.observation),
        unanswered=is_unanswered(plan.answers),
    )
