"""Ways, and what training questions say of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.priors.exemplars import HopScores, Near

SHARPNESS = 30.0
"""How much more a nearer training question counts: e to the power of it times the likeness."""

FLOOR = -9.0
"""Logarithm of the likelihood of a hop that training does not have, or hardly ever."""


@dataclass(frozen=True, slots=True)
class Way:
    """A chain that leads to something with a name.

    Attributes:
        chain: from a topic entity.
        ends: what it leads to, as far as it has names.
        truncated: whether the row limit cut the ends.
        also: chains that are the same but for mirrored relations.
        beside: what these lead to beside the ends.
        named_between: nodes between topic and ends that have names, unlike mediators.
    """

    chain: Chain
    ends: tuple[Candidate, ...]
    truncated: bool
    also: tuple[Chain, ...] = ()
    beside: tuple[Candidate, ...] = ()
    named_between: int = 0

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chain and those that are the same."""
        return self.chain, *self.also


@dataclass(frozen=True, slots=True)
class Advice:
    """What training questions say of a question; empty where there are none.

    Attributes:
        nearest: those most alike, best first.
        hops: how likely each hop is at each position, and that the chain is over.
    """

    nearest: Sequence[Near]
    hops: HopScores

    @property
    def best(self) -> float:
        """How like the nearest training question is, 0 without any."""
        return max((near.similarity for near in self.nearest), default=0.0)

    @property
    def votes(self) -> list[float]:
        """What each of the nearest counts: those of more questions and nearer ones more."""
        return [
            near.exemplar.weight * math.exp(SHARPNESS * (near.similarity - self.best))
            for near in self.nearest
        ]
