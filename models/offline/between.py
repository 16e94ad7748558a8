"""Nodes between: is the way through things with names, or through mediators?"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Hop
from kgqa.models.offline.ways import Way


class Between:
    """Knows of hops whether they lead to things with names; asks the graph once for each hop."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self._named: dict[Hop, bool] = {}

    async def seen(self, ways: Sequence[Way]) -> list[Way]:
        """Give the ways with the number of named nodes between their ends: at most a query per new hop.

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
