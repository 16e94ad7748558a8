"""Where chains from several topic entities meet; for the nodes that judge what a frontier has found."""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

from kgqa.kg.terms import Entity, Term
from kgqa.prompts.found import GROUPS, Found

COMBINED = 8
"""Combinations of chains from other topics that one chain is brought together with at most."""


class _Ends(NamedTuple):
    found: Found
    terms: frozenset[Term]


def groups_of(found: Sequence[Found], explored: Sequence[Found], topics: Sequence[Entity]) -> list[Found]:
    """Give what was found; before it what of it chains from other topics lead to as well.

    Only ends with a name count. A chain all of whose ends are met is not given again alone.
    What is met leaves room for the rest where a prompt cannot show all.
    """
    named = [_ends(Found(each.chain, each.named, each.truncated)) for each in found if each.named]
    earlier = [_ends(each) for each in explored] if len(topics) > 1 else []
    met: list[_Ends] = []
    for place, each in enumerate(named if len(topics) > 1 else ()):
        # of two that were found together, the later is brought together with the earlier
        met += _met(each, [*named[:place], *earlier], topics)
    met = met[: max(GROUPS // 2, GROUPS - len(named))]
    whole = {(each.found.chain, each.terms) for each in met}
    alone = (each for each in named if (each.found.chain, each.terms) not in whole)
    return [each.found for each in (*met, *alone)]


def _ends(found: Found) -> _Ends:
    return _Ends(found, frozenset(end.term for end in found.ends))


def _met(each: _Ends, others: Sequence[_Ends], topics: Sequence[Entity]) -> Iterator[_Ends]:
    """Give the ends of a chain that it shares with chains from every other topic that it meets."""
    found = each.found
    meeting: dict[Entity, list[_Ends]] = {}
    for other in others:
        if other.found.chain.topic != found.chain.topic and not each.terms.isdisjoint(other.terms):
            meeting.setdefault(other.found.chain.topic, []).append(other)
    ordered = [meeting[topic] for topic in topics if topic in meeting]
    for met in islice(product(*ordered), COMBINED if ordered else 0):
        shared = each.terms.intersection(*(other.terms for other in met))
        if shared:
            kept = tuple(end for end in found.ends if end.term in shared)
            cut = found.truncated or any(other.found.truncated for other in met)
            yield _Ends(Found(found.chain, kept, cut, tuple(other.found.chain for other in met)), shared)
