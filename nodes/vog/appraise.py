"""Choose an arm, appraise its plan: is it good enough? (VoG §3.4, equations 2 to 4 and 9 to 11)."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kgqa.nodes.vog.state import (
    ARMS,
    Bandit,
    RewardedPlan,
    VoGState,
    VoGUpdate,
    candidate_answers,
    may_revise,
    observed_nothing,
    open_arms,
    why_unanswered,
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
from kgqa.prompts.revise_plan import Arm
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Decision

ENTROPY_WEIGHT, STEEPNESS, CENTRE = 0.1, 6.0, 0.5  # lambda_ent, a and b of equation 9
KG_WEIGHT, REPEATED, DEPTH = 0.1, 0.2, 4.0  # lambda_KG, delta and kappa of equation 10

DIVERSITY_PENALTY: Mapping[Arm, float] = {"local": 0.05, "lookahead": 0.1, "global": 0.2}
"""lambda_div of each arm (equation 11)."""


@node("choose_arm")
async def choose_arm(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Choose by UCB, or the fixed strategy; look ahead where nothing was observed, or no answer among it."""
    once = runtime.context.candidate_plans == "revised" and state["revisions"]  # Algorithm 2, line 4
    answers = candidate_answers(state, state["pool"], runtime.context)
    entropy = state["entropy"] if once else answer_entropy(answers)
    runtime.trace["entropy"] = entropy
    arm = _choose(state, entropy, runtime)
    runtime.trace |= {"step": state["step_index"], "arm": arm}
    ahead = arm in {"lookahead", "mixed"}
    return {"arm": arm, "entropy": entropy, "decision": "forward" if ahead else "refine"}


def _choose(state: VoGState, entropy: float, runtime: NodeRuntime) -> Arm:
    context, bandit = runtime.context, state["bandit"]
    if context.strategy != "adaptive":
        fixed: Arm = context.strategy
        return fixed
    arms = open_arms(state, context)
    if "lookahead" in arms and (observed_nothing(state) or state["trace"][-1]["node"] == "conclude"):
        return "lookahead"
    index, repeated = state["step_index"], state["repeated"]
    scores = score_arms(bandit, context, entropy=entropy, step_index=index, repeated=repeated)
    runtime.trace["scores"] = {arm: score if math.isfinite(score) else None for arm, score in scores.items()}
    return best_arm({arm: scores[arm] for arm in arms})


def score_arms(
    bandit: Bandit, context: Any, *, entropy: float, step_index: int, repeated: bool
) -> dict[Arm, float]:
    """Return the score of each arm (equation 2); infinite for one that was not tried yet.

    The bonuses are added after the square root: below it, as the paper is typeset, a
    penalty could make it the root of a negative number. ``entropy`` is that of the answers of the pool
    (H_t), ``step_index`` counts from 1 (t), ``repeated`` says whether the step came back to an entity met
    before (E_rep). Equations 9 and 10 count by ``kg_priors``, equation 11 by ``diversity``.
    """
    total = sum(bandit.counts.values())
    scores: dict[Arm, float] = dict.fromkeys(ARMS, math.inf)
    for arm in filter(bandit.counts.get, ARMS):
        score = bandit.rewards[arm] / bandit.counts[arm]
        score += context.alpha * math.sqrt(math.log(total) / bandit.counts[arm])
        if context.kg_priors:
            bonus = kg_bonus(arm, step_index, context.expected_depth, repeated)
            score += context.bonus_scale * (entropy_bonus(arm, entropy) + bonus)
        if context.diversity:
            score -= context.bonus_scale * DIVERSITY_PENALTY[arm] * bandit.recent.count(arm)
        scores[arm] = score
    return scores


def entropy_bonus(arm: Arm, entropy: float) -> float:
    """Return what speaks for a new plan where the answers are uncertain: B_ent (equation 9)."""
    if arm != "global":
        return 0.0
    return ENTROPY_WEIGHT / (1 + math.exp(-STEEPNESS * (entropy - CENTRE)))


def kg_bonus(arm: Arm, step_index: int, expected_depth: float, repeated: bool) -> float:
    """Return what speaks against looking ahead late, and for a new plan after a loop: B_KG (equation 10)."""
    if arm == "lookahead":
        return -KG_WEIGHT * math.tanh(DEPTH * step_index / expected_depth)
    return KG_WEIGHT * REPEATED * (arm == "global" and repeated)


def best_arm(scores: Mapping[Arm, float]) -> Arm:
    """Return the arm with the highest score, the first of equals."""
    return max(filter(scores.__contains__, ARMS), key=scores.__getitem__)


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
    unanswered = not repeats and why_unanswered(state) is not None
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
        likeness=cosine if raw else scaled_cosine,
        question=rows[0],
        step=rows[1],
        predicted=rows[2] if predicted or not raw else None,
        thought=rows[last],
        earlier=rows[3:last],
        facts=rows[last + 1 :],
        contradicted=await runtime.within_time_limit(judging),
        unanswered=says_nothing(step.observation) if raw else is_unanswered(plan.answers),
    )
