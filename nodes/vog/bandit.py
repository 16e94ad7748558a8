"""The arms of a revision and how one is chosen: UCB with context-aware bonuses (VoG §3.4.1, appendix B.1)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Arm: TypeAlias = Literal["local", "lookahead", "global"]

ARMS: tuple[Arm, ...] = ("local", "lookahead", "global")
"""All arms; the first of equals is chosen."""

EXPLORATION_WEIGHT = 1.4
"""What exploration counts (equation 2)."""

ENTROPY_WEIGHT, STEEPNESS, CENTRE = 0.1, 6.0, 0.5
"""lambda_ent, a and b of equation 9."""

KG_WEIGHT, REPEATED, DEPTH = 0.1, 0.2, 4.0
"""lambda_KG, delta and kappa of equation 10."""

DIVERSITY_PENALTY: Mapping[Arm, float] = {"local": 0.05, "lookahead": 0.1, "global": 0.2}
"""lambda_div of each arm (equation 11)."""

DIVERSITY_WINDOW = 3
"""How many selections the diversity penalty looks back: k of equation 11, which the paper does not give."""


@dataclass(frozen=True, slots=True)
class Bandit:
    """How often each arm was chosen (N_c), what it has earned (R_c), and the arms chosen last."""

    counts: dict[Arm, int]
    rewards: dict[Arm, float]
    recent: tuple[Arm, ...] = ()

    @classmethod
    def blank(cls) -> "Bandit":
        """Return the bandit of a question that had no revision yet."""
        return cls(dict.fromkeys(ARMS, 0), dict.fromkeys(ARMS, 0.0))

    def scores(
        self,
        *,
        entropy: float,
        at: int,
        expected_depth: float,
        repeated: bool,
        kg_priors: bool = True,
        diversity: bool = True,
    ) -> dict[Arm, float]:
        """Return the score of each arm (equation 2); infinite for one that was not tried yet.

        The bonuses are added after the square root: below it, as the paper is typeset, a
        penalty could make it the root of a negative number.

        Args:
            entropy: of the answers of the pool: H_t, from 0 to 1.
            at: the step at hand, from 1: t.
            expected_depth: how many steps a plan is expected to have: T_d.
            repeated: whether the step came back to an entity met before: E_rep.
            kg_priors: whether equations 9 and 10 count.
            diversity: whether equation 11 counts.
        """
        total = sum(self.counts.values())
        scores: dict[Arm, float] = {}
        for arm in ARMS:
            if not self.counts[arm]:
                scores[arm] = math.inf
                continue
            score = self.rewards[arm] / self.counts[arm]
            score += EXPLORATION_WEIGHT * math.sqrt(math.log(total) / self.counts[arm])
            if kg_priors:
                score += entropy_bonus(arm, entropy) + kg_bonus(arm, at, expected_depth, repeated)
            if diversity:
                score -= DIVERSITY_PENALTY[arm] * self.recent.count(arm)
            scores[arm] = score
        return scores

    @staticmethod
    def choose(scores: Mapping[Arm, float]) -> Arm:
        """Return the arm with the highest score, the first of equals."""
        return max(ARMS, key=scores.__getitem__)

    def after(self, arm: Arm, reward: float) -> "Bandit":
        """Return the bandit after a revision by ``arm`` that earned ``reward``."""
        return Bandit(
            {**self.counts, arm: self.counts[arm] + 1},
            {**self.rewards, arm: self.rewards[arm] + reward},
            (*self.recent, arm)[-DIVERSITY_WINDOW:],
        )


def entropy_bonus(arm: Arm, entropy: float) -> float:
    """Return what speaks for a new plan where the answers are uncertain: B_ent (equation 9)."""
    if arm != "global":
        return 0.0
    return ENTROPY_WEIGHT / (1 + math.exp(-STEEPNESS * (entropy - CENTRE)))


def kg_bonus(arm: Arm, at: int, expected_depth: float, repeated: bool) -> float:
    """Return what speaks against looking ahead late, and for a new plan after a loop: B_KG (equation 10)."""
    if arm == "lookahead":
        return -KG_WEIGHT * math.tanh(DEPTH * at / expected_depth)
    return KG_WEIGHT * REPEATED * (arm == "global" and repeated)
