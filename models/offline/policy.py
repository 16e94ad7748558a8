"""Which hop is likely to be next on the way to the answer, and whether the way is over."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Hop
from kgqa.models.offline.ways import Advice
from kgqa.models.offline.wording import Wording
from kgqa.priors.blueprints import Slot

Shares = npt.NDArray[np.float64]

LEARNED = 0.5
"""What the hop model counts, where there is one."""

NEAREST = 0.3
"""What the nearest training questions count, where any goes this way."""

WORDS = 0.2
"""What the words of relations count beside the two, as far as no training question is like this one."""

LEAST = 0.02
"""The same where one is."""

OVER = 0.5
"""How likely a way is taken to be over by words alone."""

SPREAD = 0.2
"""Likenesses of words that are this far apart are e times as likely."""


class Policy:
    """What is known of the ways of one question from one topic entity.

    Args:
        advice: what training questions say, empty where there are none.
        wording: how well chains say the question.
        slot: gives a hop as ``advice`` names it; see `kgqa.models.offline.mirrors`.
        without: parts of the model to leave out; without "words" only where nothing else is known.
    """

    def __init__(
        self,
        advice: Advice,
        wording: Wording,
        slot: Callable[[Hop], Slot],
        without: frozenset[str] = frozenset(),
    ) -> None:
        self._hops = [{slot: math.exp(value) for slot, value in hops.items()} for hops in advice.hops]
        self._slot = slot
        self._wording = wording
        self._words = WORDS * (LEAST if "words" in without else max(LEAST, 1 - advice.best))
        self._near = [
            (near.exemplar.chain, vote) for near, vote in zip(advice.nearest, advice.votes, strict=True)
        ]

    def over(self, way: Sequence[Hop]) -> float:
        """Tell how likely a way is over after these hops; at least one."""
        parts = ((LEARNED, self._learned(len(way))), (NEAREST, self._votes(way)))
        said = [(weight, shares.get(None, 0.0)) for weight, shares in parts if shares]
        said.append((self._words, OVER))
        return sum(weight * share for weight, share in said) / sum(weight for weight, _ in said)

    def follow(self, way: Sequence[Hop], offered: Sequence[Hop]) -> Shares:
        """Tell how likely each of the hops follows, given that one does: shape (offered,), sum 1."""
        slots = [self._slot(hop) for hop in offered]
        words = np.maximum(self._wording.hops(way, offered) / SPREAD, -700.0)
        total = self._words * _normal(np.exp(words - words.max()))
        weight = self._words
        for share, told in ((LEARNED, self._learned(len(way))), (NEAREST, self._votes(way))):
            known = np.array([told.get(slot, 0.0) for slot in slots])
            if known.sum() > 0:
                total = total + share * _normal(known)
                weight += share
        return total / weight

    def _learned(self, position: int) -> dict[Slot | None, float]:
        return self._hops[position] if position < len(self._hops) else {}

    def _votes(self, way: Sequence[Hop]) -> dict[Slot | None, float]:
        """Give the shares of the nearest questions whose chain begins this way; None: it is over."""
        begun = tuple(map(self._slot, way))
        votes: dict[Slot | None, float] = defaultdict(float)
        for chain, weight in self._near:
            if chain[: len(begun)] == begun:
                votes[chain[len(begun)] if len(chain) > len(begun) else None] += weight
        total = sum(votes.values())
        return {slot: vote / total for slot, vote in votes.items()} if total else {}


def _normal(shares: Shares) -> Shares:
    return np.asarray(shares / shares.sum(), np.float64)
