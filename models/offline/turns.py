"""What the turns of a chain cost, and which of its hops may be said as one."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from kgqa.kg.terms import Hop
from kgqa.models.offline.aligning import Values

INVERSE = 0.05
"""What a hop against its arrow must be better by."""

RETURN = 0.3
"""What going straight back must be better by."""

COMPANY = 0.3
"""What going straight back is better by where a question asks for company: "the same director"."""

PAIR = 0.2
"""Cost of saying two hops as one, as those that meet at an unnamed node are said."""

UNLIKE = 0.5
"""What that costs more for two hops whose words are nothing alike."""


def costs(chains: Sequence[Sequence[Hop]], *, company: bool) -> Values:
    """Give what the directions of hops cost: shape (chains,).

    Args:
        chains: of one length.
        company: the question asks for others of the same kind, which are reached by going back.
    """
    against = [sum(not hop.forward for hop in chain) for chain in chains]
    back = [sum(one == two.inverse for one, two in pairwise(chain)) for chain in chains]
    return INVERSE * np.array(against) + (-COMPANY if company else RETURN) * np.array(back)


def by_length(chains: Sequence[Sequence[Hop]]) -> list[list[int]]:
    """Give the places of the chains of each length, those without hops left out."""
    places: dict[int, list[int]] = defaultdict(list)
    for place, chain in enumerate(chains):
        places[len(chain)].append(place)
    return [places[length] for length in sorted(places) if length]


def groupings(hops: int, begin: int = 0) -> Iterator[list[tuple[int, ...]]]:
    """Give all ways to take hops alone or two together."""
    if begin == hops:
        yield []
    for size in (1, 2):
        if begin + size <= hops:
            yield from ([(*range(begin, begin + size),), *rest] for rest in groupings(hops, begin + size))


def pairing(two: Values) -> Values:
    """Give what it costs to say two hops as one: shape (chains,)."""
    return np.asarray(PAIR + UNLIKE * (1 - (two[:, 0] * two[:, 1]).sum(axis=1)))


def twice(chains: Sequence[Sequence[Hop]]) -> Values:
    """Forbid to say the same hop twice as one: infinite there, shape (chains, hops - 1)."""
    same = [[one == two for one, two in pairwise(chain)] for chain in chains]
    return np.where(np.array(same, bool).reshape(len(chains), -1), np.inf, 0.0)


def unit(rows: Values) -> Values:
    """Give rows their length of 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))
