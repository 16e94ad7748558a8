"""Chooses a way from each topic entity, so that they lead to answers in common."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from kgqa.kg.terms import Chain, Entity, Term
from kgqa.models.offline.ways import Way

NO_PART = -6.0
"""Logarithm of how likely it is that a topic entity plays no part in the answer."""

HOP = -1.0
"""What each hop counts where there are several topics: what one chain says, another need not say again."""

TOPICS = 8
"""Topic entities that may play a part, at most: the first ones."""

COMBINED = 1_000
"""Combinations that are looked at, at most; of each topic as many of the best ways as that allows."""


@dataclass(frozen=True)
class Rated:
    """A way and the logarithm of its share among those from its topic."""

    way: Way
    share: float

    @cached_property
    def ends(self) -> frozenset[Term]:
        """What the way leads to."""
        return frozenset(end.term for end in self.way.ends)


class Combined(NamedTuple):
    """The ways that were chosen, and the share of this choice among all that are possible."""

    ways: Mapping[Entity, Way]
    confidence: float


def combine(rated: Mapping[Entity, Sequence[Rated]], *, apart: bool) -> Combined | None:
    """Choose the likeliest ways whose ends have something in common.

    A topic may play no part, though not every one. ``apart``, for comparisons: the ways go the same
    from every topic where they can, and their ends need not meet. None where there is no way at all.
    """
    rated = dict(islice(rated.items(), TOPICS))
    choices = list(_choices(rated, apart))
    if apart:
        choices = [chosen for chosen in choices if _alike(chosen)] or choices
    possible = [(sum(map(_weight if len(rated) > 1 else _share, chosen)), chosen) for chosen in choices]
    if not possible:
        return None
    shares = np.exp(np.array([total for total, _ in possible]) - max(total for total, _ in possible))
    best = int(np.argmax(shares))
    ways = {each.way.chain.topic: each.way for each in possible[best][1] if each.way.chain.hops}
    return Combined(ways, float(shares[best] / shares.sum()))


def _choices(rated: Mapping[Entity, Sequence[Rated]], apart: bool) -> Iterator[tuple[Rated, ...]]:
    several = len(rated) > 1
    most = max(1, int(COMBINED ** (1 / max(1, len(rated)))) - several)
    offered = [sorted(ways, key=lambda each: -each.share)[:most] for ways in rated.values()]
    none = [[_no_part(topic)] if several or not ways else [] for topic, ways in rated.items()]
    for chosen in product(*(ways + left for ways, left in zip(offered, none, strict=True))):
        taken = [each for each in chosen if each.way.chain.hops]
        if taken and (apart or _meet(taken)):
            yield chosen


def _no_part(topic: Entity) -> Rated:
    return Rated(Way(Chain(topic), (), False), NO_PART)


def _share(rated: Rated) -> float:
    return rated.share


def _weight(rated: Rated) -> float:
    return rated.share + HOP * rated.way.chain.depth


def _alike(chosen: Sequence[Rated]) -> bool:
    return len({each.way.chain.hops for each in chosen}) == 1


def _meet(taken: Sequence[Rated]) -> bool:
    """Tell whether ways have an end in common, as far as their ends are known."""
    known = [each.ends for each in taken if not each.way.truncated]
    return len(known) < 2 or bool(frozenset.intersection(*known))
