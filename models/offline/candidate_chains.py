"""Candidate chains, what training questions say of them, and which of their nodes are mediators."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Hop, Term
from kgqa.priors.exemplars import HopScores, NearExemplar
from kgqa.priors.slots import Slot

QUESTION_VOTE_SHARPNESS = 30.0
"""How much more a nearer training question counts: e to the power of it times the similarity."""

MIN_LOG_LIKELIHOOD = -9.0
"""Logarithm of the likelihood of a hop that training does not have, or hardly ever."""


@dataclass(frozen=True, slots=True)
class CandidateChain:
    """A chain that leads to something with a name.

    Attributes:
        chain: from a topic entity.
        ends: what it leads to, as far as it has names.
        truncated: whether the row limit cut the ends.
        also: chains that are the same but for inverse relations.
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

    @property
    def terms(self) -> frozenset[Term]:
        """What it leads to."""
        return frozenset(end.term for end in self.ends)


@dataclass(frozen=True, slots=True)
class TrainingAdvice:
    """What training questions say of a question; empty where there are none.

    Attributes:
        nearest: those most similar, best first.
        hops: how likely each hop is at each position, and that the chain is over.
    """

    nearest: Sequence[NearExemplar]
    hops: HopScores

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


def log_likelihoods(steps: Iterable[Slot | None], hops: HopScores) -> list[float]:
    """Return the log-likelihood of each step by a hop model; of None, that the chain is complete."""
    lowest = MIN_LOG_LIKELIHOOD
    return [max(lowest, logs.get(step, lowest)) for step, logs in zip(steps, hops, strict=False)]


class MediatorDetector:
    """Knows of hops whether they lead to things with names; asks the graph once for each hop."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self._named: dict[Hop, bool] = {}

    async def count_named(self, candidates: Sequence[CandidateChain]) -> list[CandidateChain]:
        """Return the chains with the number of named nodes between their ends: at most a query per new hop.

        Raises:
            KGError: if the graph cannot be reached.
        """
        return [replace(each, named_between=len(await self.moves(each.chain)) - 1) for each in candidates]

    async def moves(self, chain: Chain) -> list[tuple[Hop, ...]]:
        """Cut a chain at its nodes with names: a hop, or some that meet at nodes without one.

        Raises:
            KGError: if the graph cannot be reached.
        """
        named = [depth for depth in range(1, chain.depth) if await self._is_named(chain.upto(depth))]
        return [chain.hops[begin:end] for begin, end in pairwise((0, *named, chain.depth))]

    async def _is_named(self, chain: Chain) -> bool:
        hop = chain.hops[-1]
        if hop not in self._named:
            try:
                page = await self._graph.follow_chain(chain)
            except (KGTimeout, KGRejected):
                return True
            self._named[hop] = 2 * sum(end.term.name is not None for end in page) >= len(page)
        return self._named[hop]
