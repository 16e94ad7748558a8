"""Relations that are each other's reverse, as the facts of a graph show.

Freebase says that Ann wrote a book either by ``author.works_written`` or, the other way, by
``written_work.author``. Training questions name one of the two; a graph may hold some facts
under the one and some under the other.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Hop, local_name
from kgqa.models.offline.candidate_chains import MIN_LOG_LIKELIHOOD, CandidateChain, TrainingAdvice
from kgqa.priors.blueprints import Slot
from kgqa.priors.exemplars import HopScores

MIN_COMMON_FACTS = 2
"""Facts that two relations state in both directions, at least, to be each other's reverse."""

MIN_COMMON_SHARE = 0.1
"""The same as a share of the facts of the commoner of the two: a capital is located in its country, too."""

MAX_TRIPLES = 1_000_000
"""A graph with more is not counted through: that would take too long."""


@runtime_checkable
class InversePairCounter(Protocol):
    """A graph that can tell which relations state the same facts; one of other people need not."""

    async def both_ways(self) -> dict[tuple[str, str], int]:
        """Count the facts that two different relations state, the one against the other's arrow: one query.

        It goes through the whole graph.
        """


class InverseRelations:
    """Pairs of relations of which each is the other's reverse.

    Args:
        pairs: IRI to IRI, each pair in both directions.
    """

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self._local = {local_name(one): local_name(other) for one, other in pairs.items()}

    def slot(self, hop: Hop) -> Slot:
        """Return a hop as a slot: the same for a relation and for its reverse followed the other way."""
        return self._usual(Slot(local_name(hop.relation), hop.forward))

    def advice(self, advice: TrainingAdvice) -> TrainingAdvice:
        """Return advice in the slots that `slot` gives: what it says of two that are one adds up."""
        nearest = [
            near._replace(exemplar=replace(near.exemplar, chain=tuple(map(self._usual, near.exemplar.chain))))
            for near in advice.nearest
        ]
        return TrainingAdvice(nearest, tuple(map(self._joined, advice.hops)))

    def merged(self, ways: Sequence[CandidateChain], hops: HopScores) -> list[CandidateChain]:
        """Make one way of those that are the same but for mirrored relations, in order of appearance.

        Its chain is the likeliest by ``hops``, in which training questions name
        relations as they are, or one that leads to all that this one leads to, and to more.
        """
        same: dict[tuple[Slot, ...], list[CandidateChain]] = defaultdict(list)
        for way in ways:
            same[tuple(map(self.slot, way.chain.hops))].append(way)
        return [_merge_equivalent(group, hops) for group in same.values()]

    def _usual(self, slot: Slot) -> Slot:
        other = self._local.get(slot.relation)
        return Slot(other, not slot.forward) if other is not None and other < slot.relation else slot

    def _joined(self, hops: Mapping[Slot | None, float]) -> Mapping[Slot | None, float]:
        joined: dict[Slot | None, float] = {}
        for slot, log in hops.items():
            usual = slot and self._usual(slot)
            joined[usual] = float(np.logaddexp(joined.get(usual, -np.inf), log))
        return joined


def _log_likelihood(way: CandidateChain, hops: HopScores) -> float:
    """Return the log-likelihood of a way's own relations; 0 without a hop model."""
    steps = [Slot(local_name(hop.relation), hop.forward) for hop in way.chain.hops]
    return sum(
        max(MIN_LOG_LIKELIHOOD, logs.get(step, MIN_LOG_LIKELIHOOD))
        for step, logs in zip(steps, hops, strict=False)
    )


async def find_inverse_relations(graph: KnowledgeGraph) -> InverseRelations | None:
    """Find the mirrored relations of a graph: one query, none in a graph too large for it.

    None where the query takes too long, or the graph cannot tell.
    """
    info = await graph.info()
    if info.triples is None or info.triples > MAX_TRIPLES:
        return InverseRelations({})
    if not isinstance(graph, InversePairCounter):
        return None
    try:
        both = await graph.both_ways()
    except (KGTimeout, KGRejected):
        return None
    return InverseRelations(_pair_relations(both, dict(info.relation_counts)))


def _pair_relations(both: Mapping[tuple[str, str], int], facts: Mapping[str, int]) -> dict[str, str]:
    """Pair relations that each have most facts in common with the other; ties break by IRI."""
    best: dict[str, tuple[int, str]] = {}
    for (one, other), count in both.items():
        if count >= max(MIN_COMMON_FACTS, MIN_COMMON_SHARE * max(facts.get(one, 0), facts.get(other, 0))):
            best[one] = max(best.get(one, (0, "")), (count, other))
    return {one: other for one, (_, other) in best.items() if best.get(other, (0, ""))[1] == one}


def _merge_equivalent(group: Sequence[CandidateChain], hops: HopScores) -> CandidateChain:
    usual = max(group, key=lambda way: _log_likelihood(way, hops))
    known = {end.term for end in usual.ends}
    most = max(group, key=lambda way: (known <= {end.term for end in way.ends}, len(way.ends)))
    others = [way for way in group if way is not most]
    led_to = {end.term for end in most.ends}
    beside = {end.term: end for way in others for end in way.ends if end.term not in led_to}
    return replace(most, also=tuple(way.chain for way in others), beside=tuple(beside.values()))
