"""Choose an arm: in the light of what shall the plan be revised? (VoG §3.4.1, appendix B.1)."""

import math
from collections.abc import Mapping
from typing import Any

from kgqa.nodes.vog.state import (
    ARMS,
    Bandit,
    VoGState,
    VoGUpdate,
    candidate_answers,
    observed_nothing,
    open_arms,
)
from kgqa.priors.rewards import answer_entropy
from kgqa.prompts.revise_plan import Arm
from kgqa.runtime.node import NodeRuntime, node

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
    if "lookahead" in arms and (observed_nothing(state) or state["last_node"] == "conclude"):
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
