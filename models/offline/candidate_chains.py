"""Candidate chains, what training questions say of them, and which of their nodes are mediators."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Hop
from kgqa.priors.exemplars import HopScores, NearExemplar

QUESTION_VOTE_SHARPNESS = 30.0
"""How much more a nearer training question counts: e to the power of it times the likeness."""

MIN_LOG_LIKELIHOOD = -9.0
"""Logarithm of the likelihood of a hop that training does not have, or hardly ever."""


@dataclass(frozen=True, slots=True)
class CandidateChain:
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
class TrainingAdvice:
    """What training questions say of a question; empty where there are none.

    Attributes:
        nearest: those most alike, best first.
        hops: how likely each hop is at each position, and that the chain is over.
    """

    nearest: Sequence[NearExemplar]
    hops: HopScores

    @property
    def best(self) -> float:
        """How like the nearest training question is, 0 without any."""
        return max((near.similarity for near in self.nearest), default=0.0)

    @property
    def votes(self) -> list[float]:
        """What each of the nearest counts: those of more questions and nearer ones more."""
        return [
            near.exemplar.weight * math.exp(QUESTION_VOTE_SHARPNESS * (near.similarity - self.best))
            for near in self.nearest
        ]


class MediatorDetector:
    """Knows of hops whether they lead to things with names; asks the graph once for each hop."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self._named: dict[Hop, bool] = {}

    async def seen(self, ways: Sequence[CandidateChain]) -> list[CandidateChain]:
        """Return the ways with the number of named nodes between their ends: at most a query per new hop.

        Raises:
            KGError: if the graph cannot be reached.
        """
        return [replace(way, named_between=len(await self.moves(way.chain)) - 1) for way in ways]

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
