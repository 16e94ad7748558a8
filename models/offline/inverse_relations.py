"""Relations that are each other's inverse, as the facts of a graph show.

Freebase says that Ann wrote a book either by ``author.works_written`` or, the other way, by
``written_work.author``. Training questions name one of the two; a graph may hold some facts
under the one and some under the other.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Hop, local_name
from kgqa.models.offline.candidate_chains import CandidateChain, TrainingAdvice, log_likelihoods
from kgqa.priors.exemplars import HopScores
from kgqa.priors.slots import Slot

_MIN_COMMON_FACTS = 2  # that two relations state in both directions, to be each other's inverse
_MIN_COMMON_SHARE = 0.1  # of the facts of the commoner of the two: a capital is located in its country, too
_MAX_TRIPLES = 1_000_000  # a larger graph is not counted through: that would take too long


class InverseRelations:
    """Pairs of relations of which each is the other's inverse.

    Args:
        pairs: IRI to IRI, each pair in both directions.
    """

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self._local = {local_name(one): local_name(other) for one, other in pairs.items()}

    def slot(self, hop: Hop) -> Slot:
        """Return a hop as a slot: the same for a relation and for its inverse followed the other way."""
        return self._normalise(Slot(local_name(hop.relation), hop.forward))

    def normalise_advice(self, advice: TrainingAdvice) -> TrainingAdvice:
        """Return advice in the slots that `slot` gives: what it says of two that are one adds up."""
        nearest = []
        for near in advice.nearest:
            chain = tuple(map(self._normalise, near.exemplar.chain))
            nearest.append(near._replace(exemplar=replace(near.exemplar, chain=chain)))
        return TrainingAdvice(nearest, tuple(map(self._join_scores, advice.hops)))

    def merge_chains(self, candidates: Sequence[CandidateChain], hops: HopScores) -> list[CandidateChain]:
        """Make one chain of those that are the same but for inverse relations, in order of appearance.

        It is the likeliest by ``hops``, in which training questions name relations as they are,
        or one that leads to all that this one leads to, and to more.
        """
        same: dict[tuple[Slot, ...], list[CandidateChain]] = defaultdict(list)
        for each in candidates:
            same[tuple(map(self.slot, each.chain.hops))].append(each)
        return [_merge_equivalent(group, hops) for group in same.values()]

    def _normalise(self, slot: Slot) -> Slot:
        other = self._local.get(slot.relation)
        return Slot(other, not slot.forward) if other is not None and other < slot.relation else slot

    def _join_scores(self, hops: Mapping[Slot | None, float]) -> Mapping[Slot | None, float]:
        joined: dict[Slot | None, float] = {}
        for slot, log in hops.items():
            usual = slot and self._normalise(slot)
            joined[usual] = float(np.logaddexp(joined.get(usual, -np.inf), log))
        return joined


async def find_inverse_relations(graph: KnowledgeGraph) -> InverseRelations | None:
    """Find the inverse relations of a graph: one query, none in a graph too large for it.

    None where the query takes too long, or the graph cannot tell.
    """
    info = await graph.info()
    if info.triples is None or info.triples > _MAX_TRIPLES:
        return InverseRelations({})
    count_pairs = getattr(graph, "both_ways", None)  # a graph of other people need not have it
    if count_pairs is None:
        return None
    try:
        both: dict[tuple[str, str], int] = await count_pairs()
    except (KGTimeout, KGRejected):
        return None
    return InverseRelations(_pair_relations(both, dict(info.relation_counts)))


def _pair_relations(both: Mapping[tuple[str, str], int], facts: Mapping[str, int]) -> dict[str, str]:
    """Pair relations that each have most facts in common with the other; ties break by IRI."""
    best: dict[str, tuple[int, str]] = {}
    for (one, other), count in both.items():
        if count >= max(_MIN_COMMON_FACTS, _MIN_COMMON_SHARE * max(facts.get(one, 0), facts.get(other, 0))):
            best[one] = max(best.get(one, (0, "")), (count, other))
    return {one: other for one, (_, other) in best.items() if best.get(other, (0, ""))[1] == one}


def _merge_equivalent(group: Sequence[CandidateChain], hops: HopScores) -> CandidateChain:
    def likelihood(candidate: CandidateChain) -> float:
        slots = (Slot(local_name(hop.relation), hop.forward) for hop in candidate.chain.hops)
        return sum(log_likelihoods(slots, hops))

    known = max(group, key=likelihood).terms
    most = max(group, key=lambda each: (known <= each.terms, len(each.ends)))
    others = [each for each in group if each is not most]
    beside = {end.term: end for each in others for end in each.ends if end.term not in most.terms}
    return replace(most, also=tuple(each.chain for each in others), beside=tuple(beside.values()))
