"""What the model is shown for a verdict on chains, and what its verdict makes of their ends."""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple, Protocol

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Term
from kgqa.prompts.candidates import (
    MAX_CANDIDATES_SHOWN,
    MAX_GROUPS_SHOWN,
    ChainFindings,
    Take,
    aggregate,
    taken_terms,
)
from kgqa.runtime.state import Decision, State, Update, VerifiedChain, next_topic

MAX_CHAIN_COMBINATIONS = 8
"""Combinations of chains from other topics that one chain is brought together with at most."""


class _NamedEnds(NamedTuple):
    found: ChainFindings
    terms: frozenset[Term]


def group_findings(
    found: Sequence[ChainFindings], explored: Sequence[ChainFindings], topics: Sequence[Entity]
) -> list[ChainFindings]:
    """Return what was found; before it what of it chains from other topics lead to as well.

    Only ends with a name count. A chain all of whose ends are met is not given again alone.
    What is met leaves room for the rest where a prompt cannot show all.
    """
    named = [
        _named_ends(ChainFindings(each.chain, each.named, each.truncated)) for each in found if each.named
    ]
    earlier = [_named_ends(each) for each in explored] if len(topics) > 1 else []
    met: list[_NamedEnds] = []
    for place, each in enumerate(named if len(topics) > 1 else ()):
        # of two that were found together, the later is brought together with the earlier
        met += _intersections(each, [*named[:place], *earlier], topics)
    met = met[: max(MAX_GROUPS_SHOWN // 2, MAX_GROUPS_SHOWN - len(named))]
    whole = {(each.found.chain, each.terms) for each in met}
    alone = (each for each in named if (each.found.chain, each.terms) not in whole)
    return [each.found for each in (*met, *alone)]


def _named_ends(found: ChainFindings) -> _NamedEnds:
    return _NamedEnds(found, frozenset(end.term for end in found.ends))


def _intersections(
    each: _NamedEnds, others: Sequence[_NamedEnds], topics: Sequence[Entity]
) -> Iterator[_NamedEnds]:
    """Return the ends of a chain that it shares with chains from every other topic that it meets."""
    found = each.found
    meeting: dict[Entity, list[_NamedEnds]] = {}
    for other in others:
        if other.found.chain.topic != found.chain.topic and not each.terms.isdisjoint(other.terms):
            meeting.setdefault(other.found.chain.topic, []).append(other)
    ordered = [meeting[topic] for topic in topics if topic in meeting]
    for met in islice(product(*ordered), MAX_CHAIN_COMBINATIONS if ordered else 0):
        shared = each.terms.intersection(*(other.terms for other in met))
        if shared:
            kept = tuple(end for end in found.ends if end.term in shared)
            cut = found.truncated or any(other.found.truncated for other in met)
            yield _NamedEnds(
                ChainFindings(found.chain, kept, cut, tuple(other.found.chain for other in met)), shared
            )


class AcceptingReply(Protocol):
    """A reply that accepts candidates: its decision is ``stop`` or ``filter``."""

    @property
    def decision(self) -> str:
        """Whether they are the answer, or a condition is left."""

    @property
    def take(self) -> Take:
        """What of them is the answer."""

    @property
    def chosen(self) -> Sequence[int]:
        """Their numbers, with take "some"; with ``filter``, of those that meet the condition."""


def accept_chain(state: State, verdict: AcceptingReply, named: list[Candidate]) -> Update:
    """Put the chain into working memory; other topics that wait refine it.

    Where all candidates were shown and those that meet the condition are named with the verdict,
    nothing is left to filter.
    """
    chain, cut = state["chain"], state["truncated"]
    if verdict.decision == "filter" and verdict.chosen and len(named) <= MAX_CANDIDATES_SHOWN and not cut:
        branch = VerifiedChain(chain, taken_terms("some", verdict.chosen, named), "stop")
    else:
        branch = verified_chain(chain, verdict, named, truncated=cut)
    decision: Decision = "refine" if next_topic(state) else branch.verdict
    return {"memory": [*state["memory"], branch], "decision": decision}


def verified_chain(
    chain: Chain, verdict: AcceptingReply, named: Sequence[Candidate], *, truncated: bool
) -> VerifiedChain:
    """Return what a verdict makes of a chain and those of its ends that have a name."""
    if verdict.decision == "filter":
        fresh = tuple(c.term for c in named if not c.returning)
        return VerifiedChain(chain, fresh or tuple(c.term for c in named), "filter", truncated=truncated)
    ends = taken_terms(verdict.take, verdict.chosen, named)
    return VerifiedChain(
        chain, ends, "stop", aggregate(verdict.take, ends), truncated and verdict.take != "some"
    )
