"""Appraise: is a revised plan good enough to go by? (VoG §3.4.2, equations 3 and 4)."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from kgqa.nodes.vog.state import (
    RewardedPlan,
    VoGState,
    VoGUpdate,
    candidate_answers,
    may_revise,
    observed_nothing,
)
from kgqa.priors.answer_agreement import is_unanswered
from kgqa.priors.nli import says_nothing
from kgqa.priors.rewards import (
    RevisionMetrics,
    answer_confidence,
    answer_entropy,
    blend_rewards,
    cosine,
    default_threshold,
    measure_revision,
    scaled_cosine,
    task_reward,
)
from kgqa.prompts.facts import MAX_FACTS_SHOWN, draw_fact, facts_as_statements
from kgqa.prompts.plans import PlanStep, SearchPlan, Statement
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Decision


@node("appraise")
async def appraise(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Reward the arm for its plan, and take up the plan where the reward reaches the threshold.

    After the last revision of a step the best of them is taken up, if it earned anything. Where nothing was
    observed, or what was is not the answer, one is the last.
    """
    arm, revised, best, context = state["arm"] or "local", state["revised"], state["best"], runtime.context
    pool, reward = state["pool"], 0.0
    repeats = context.repeat_revisions
    again = not repeats and any(_is_same(revised, plan) for plan in pool)
    if revised:
        pool = [*pool, revised]
        reward = await _reward_last(state, pool, runtime)
        if reward > (best.reward if best else 0.0):
            best = RewardedPlan(revised, arm, reward)
    revisions = state["revisions"] + 1
    bandit = state["bandit"].after(arm, reward)
    threshold = context.threshold
    if threshold is None:
        threshold = default_threshold(context.encoder, context.reward_metrics)
    good, empty = revised is not None and reward >= threshold, observed_nothing(state)
    tried_arms = [*state["tried_arms"], arm]
    tried: VoGState = {**state, "bandit": bandit, "revisions": revisions, "tried_arms": tried_arms}
    unanswered = not repeats and state["unanswered"] is not None
    last = empty or again or unanswered or not may_revise(tried, context)
    taken = RewardedPlan(revised, arm, reward) if revised and good else best if last else None
    plan = taken.plan if taken else state["plan"]
    runtime.trace |= {
        "step": state["step_index"],
        "arm": arm,
        "reward": reward,
        "threshold": threshold,
        "answers": list(revised.answers) if revised else [],
        "before": list(state["plan"].answers),
        "accepted": good,
        **({"empty": True} if empty else {}),
        **({"taken": taken.arm} if taken else {}),
    }
    # a step that has observed nothing is tried again, if the plan still has it, or has another in its place
    step, before = (each.steps[state["step_index"] - 1 :][:1] for each in (plan, state["plan"]))
    tries_again = empty and step and (repeats or _searches(step) != _searches(before))
    following: Decision = "backtrack" if tries_again else "forward"
    return {
        "pool": pool,
        "bandit": bandit,
        "best": best,
        "revisions": revisions,
        "tried_arms": tried_arms,
        "plan": plan,
        "taken_arm": taken.arm if taken else state["taken_arm"],
        "unanswered": None if taken or last else state["unanswered"],
        "arm": taken.arm if taken else arm,
        "crossing": [],
        "crossed": 0,
        "decision": following if taken or last else "refine",
    }


def _is_same(revised: SearchPlan | None, plan: SearchPlan) -> bool:
    """Return whether a revision searches and answers what another plan does."""
    if revised is None or revised.answers != plan.answers:
        return False
    return _searches(revised.steps) == _searches(plan.steps)


def _searches(steps: Sequence[PlanStep]) -> list[tuple[str, tuple[Statement, ...]]]:
    return [(step.search, step.observation) for step in steps]


async def _reward_last(state: VoGState, pool: list[SearchPlan], runtime: NodeRuntime) -> float:
    """Return the reward of the last plan: its task reward and the consensus on it, mixed by the entropy."""
    context = runtime.context
    keys = candidate_answers(state, pool, context)
    metrics = await _measure_step(state, pool[-1], runtime)
    task = task_reward(metrics, context.ablate_reward)
    agreed = answer_confidence(keys, keys[-1])
    entropy = state["entropy"] if context.candidate_plans == "revised" else answer_entropy(keys)
    runtime.trace |= {"task": task, "confidence": agreed, "entropy": entropy, "metrics": asdict(metrics)}
    if context.reward == "both":
        return blend_rewards(task, agreed, entropy, context.beta)
    return task if context.reward == "task" else agreed


async def _measure_step(state: VoGState, plan: SearchPlan, runtime: NodeRuntime) -> RevisionMetrics:
    """Measure the current step of a plan, or its last where it has fewer.

    By ``reward_metrics="raw"`` cosines count as they are, and it is the predicted observation that must say
    something, not the answer (appendix B.2).
    """
    raw = runtime.context.reward_metrics == "raw"
    steps = plan.steps[: state["step_index"]]
    step = steps[-1]
    thoughts = [each.thought or each.search for each in steps]
    predicted = " ".join(" ".join(statement) for statement in step.observation)
    facts = [] if observed_nothing(state) else state["feedback"][-1]
    whole = " ".join([step.thought, step.search, predicted])
    shown = map(draw_fact, facts[:MAX_FACTS_SHOWN])
    rows = await runtime.encode([state["question"], whole, predicted or thoughts[-1], *thoughts, *shown])
    detector, statements = await runtime.contradiction_detector(), facts_as_statements(facts)
    judging = asyncio.to_thread(detector.contradicts, statements, step.observation)
    last = 2 + len(thoughts)
    return measure_revision(
        similarity=cosine if raw else scaled_cosine,
        question=rows[0],
        step=rows[1],
        predicted=rows[2] if predicted or not raw else None,
        thought=rows[last],
        earlier=rows[3:last],
        facts=rows[last + 1 :],
        contradicted=await runtime.within_time_limit(judging),
        unanswered=says_nothing(step.observation) if raw else is_unanswered(plan.answers),
    )
