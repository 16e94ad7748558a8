"""Where chains from several topic entities meet; for the nodes that judge what a frontier has found."""

from collections.abc import Iterator, Sequence
from itertools import islice, product

from kgqa.kg.terms import Entity, Term
from kgqa.prompts.found import Found

COMBINED = 8
"""Combinations of chains from other topics that one chain is brought together with at most."""


def groups_of(found: Sequence[Found], explored: Sequence[Found], topics: Sequence[Entity]) -> list[Found]:
    """Give what was found; before it what of it chains from other topics lead to as well.

    Only ends with a name count. A chain all of whose ends are met is not given again alone.
    """
    named = [Found(each.chain, each.named, each.truncated) for each in found if each.named]
    met: list[Found] = []
    for place, each in enumerate(named):
        # of two that were found together, the later is brought together with the earlier
        met += _met(each, [*named[:place], *explored], topics)
    whole = {(each.chain, _terms(each)) for each in met}
    return [*met, *(each for each in named if (each.chain, _terms(each)) not in whole)]


def _met(found: Found, others: Sequence[Found], topics: Sequence[Entity]) -> Iterator[Found]:
    """Give the ends of a chain that it shares with chains from every other topic that it meets."""
    ends = _terms(found)
    meeting: dict[Entity, list[Found]] = {}
    for other in others:
        if other.chain.topic != found.chain.topic and ends & _terms(other):
            meeting.setdefault(other.chain.topic, []).append(other)
    ordered = [meeting[topic] for topic in topics if topic in meeting]
    for met in islice(product(*ordered), COMBINED if ordered else 0):
        shared = ends.intersection(*map(_terms, met))
        if shared:
            kept = tuple(end for end in found.ends if end.term in shared)
            cut = found.truncated or any(other.truncated for other in met)
            yield Found(found.chain, kept, cut, tuple(other.chain for other in met))


def _terms(found: Found) -> frozenset[Term]:
    return frozenset(end.term for end in found.ends)
