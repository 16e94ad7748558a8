"""Candidate chains, what training questions say of them, and what the graph says of their hops.

A hop may lead to mediators, nodes without a name. And Freebase says that Ann wrote a book either by
``author.works_written`` or, the other way, by ``written_work.author``: training questions name one of
the two, and a graph may hold some facts under the one and some under the other.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.meter import unmetered
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Hop, Term, local_name
from kgqa.locks import cached_property
from kgqa.priors.exemplars import HopScores, NearExemplar
from kgqa.priors.slots import Slot

QUESTION_VOTE_SHARPNESS = 30.0
"""How much more a nearer training question counts: e to the power of it times the similarity."""

MIN_LOG_LIKELIHOOD = -9.0
"""Logarithm of the likelihood of a hop that training does not have, or hardly ever."""

_MIN_COMMON_FACTS = 2  # that two relations state in both directions, to be each other's inverse
_MIN_COMMON_SHARE = 0.1  # of the facts of the commoner of the two: a capital is located in its country, too


@dataclass(frozen=True)
class CandidateChain:
    """A chain that leads to something with a name."""

    chain: Chain  # from a topic entity
    ends: tuple[Candidate, ...] = ()  # those that have names
    truncated: bool = False  # whether the row limit cut the ends
    also: tuple[Chain, ...] = ()  # that are the same but for inverse relations
    beside: tuple[Candidate, ...] = ()  # what these lead to beside the ends
    moves: tuple[tuple[Hop, ...], ...] = ()  # its hops, cut at its nodes with names, unlike mediators
    taught: Chain | None = None  # of the chain and those that are the same, as training questions have it
    logit: float = 0.0  # how well it answers the question, whatever the others from its topic do
    share: float = 0.0  # the logarithm of its share among the candidates from its topic

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chain and those that are the same."""
        return self.chain, *self.also

    @property
    def named_between(self) -> int:
        """How many nodes between topic and ends have names."""
        return max(0, len(self.moves) - 1)

    def as_taught(self, visited: Mapping[Chain, Page[Candidate]]) -> "CandidateChain":
        """Return the same with the chain that training questions have, if it was visited."""
        page = visited.get(self.taught) if self.taught not in {None, self.chain} else None
        if self.taught is None or page is None:
            return self
        ends = tuple(end for end in page if end.term.name)
        known = {end.term for end in ends}
        return replace(
            self,
            chain=self.taught,
            ends=ends,
            truncated=page.truncated,
            also=tuple(chain for chain in self.chains if chain != self.taught),
            beside=tuple(end for end in (*self.ends, *self.beside) if end.term not in known),
        )

    @cached_property
    def terms(self) -> frozenset[Term]:
        """What it leads to."""
        return frozenset(end.term for end in self.ends)

    @cached_property
    def fresh_terms(self) -> frozenset[Term]:
        """What it leads to, without what is reached by way of the topic, unless that is all."""
        return frozenset(end.term for end in fresh_ends(self.ends))


def fresh_ends(ends: Iterable[Candidate]) -> list[Candidate]:
    """Leave out what is reached by way of the topic, unless that is all."""
    every = list(ends)
    return [end for end in every if not end.returning] or every


@dataclass(frozen=True, slots=True)
class TrainingAdvice:
    """What training questions say of a question; empty where there are none."""

    nearest: Sequence[NearExemplar] = ()  # those most similar, best first
    hops: HopScores = ()  # how likely each hop is at each position, and that the chain is over

    @property
    def best(self) -> float:
        """How similar the nearest training question is, 0 without any."""
        return max((near.similarity for near in self.nearest), default=0.0)

    @property
    def votes(self) -> list[float]:
        """What each of the nearest counts: those of more questions and nearer ones more."""
        best, sharpness = self.best, QUESTION_VOTE_SHARPNESS
        return [
            near.exemplar.weight * math.exp(sharpness * (near.similarity - best)) for near in self.nearest
        ]


def to_slot(hop: Hop) -> Slot:
    """Return a hop as training questions name it."""
    return Slot(local_name(hop.relation), hop.forward)


def log_likelihood(steps: Iterable[Slot | None], hops: HopScores) -> float:
    """Return the log-likelihood of steps by a hop model; of None, that the chain is complete."""
    lowest = MIN_LOG_LIKELIHOOD
    return sum(max(lowest, logs.get(step, lowest)) for step, logs in zip(steps, hops, strict=False))


class InverseRelations:
    """Pairs of relations of which each is the other's inverse: IRI to IRI, each pair in both directions."""

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self._local = {local_name(one): local_name(other) for one, other in pairs.items()}

    def slot(self, hop: Hop) -> Slot:
        """Return a hop as a slot: the same for a relation and for its inverse followed the other way."""
        return self._normalise(to_slot(hop))

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


def _merge_equivalent(group: Sequence[CandidateChain], hops: HopScores) -> CandidateChain:
    known = max(group, key=lambda each: log_likelihood(map(to_slot, each.chain.hops), hops))
    most = max(group, key=lambda each: (known.terms <= each.terms, len(each.ends)))
    others = [each for each in group if each is not most]
    beside = {end.term: end for each in others for end in each.ends if end.term not in most.terms}
    also, taught = tuple(each.chain for each in others), known.chain if hops else None
    return replace(most, also=also, beside=tuple(beside.values()), taught=taught)


async def find_inverse_relations(graph: KnowledgeGraph) -> InverseRelations | None:
    """Find the inverse relations of a graph: one query, if its pairs are not known from loading.

    They are no look-up of a question, and not counted as one. Each of a pair has most facts in common
    with the other; ties break by IRI. None where the query takes too long.
    """
    try:
        with unmetered():
            both = await graph.both_ways()
    except (KGTimeout, KGRejected):
        return None
    best: dict[str, tuple[int, str]] = {}
    for (one, other), (count, share) in both.items():
        if count >= _MIN_COMMON_FACTS and share >= _MIN_COMMON_SHARE:
            best[one] = max(best.get(one, (0, "")), (count, other))
    pairs = {one: other for one, (_, other) in best.items() if best.get(other, (0, ""))[1] == one}
    return InverseRelations(pairs)
