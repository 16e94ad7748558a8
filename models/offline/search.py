"""Finds ways: chains from a topic entity that lead somewhere, the likeliest first."""

import asyncio
import heapq
from itertools import count
from typing import NamedTuple

import numpy as np

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.offline.policy import Policy
from kgqa.models.offline.ways import Way

DEPTH = 3
"""Hops of a way at most."""

EXTENDED = 10
"""Chains that are extended at most: one query each."""

FOLLOWED = 15
"""Chains that are followed to their ends at most: one query each."""

BRANCHES = 12
"""Hops of one chain that are considered, the likeliest."""

SLIM = 1e-3
"""A chain is left alone whose share is this part of the likeliest's."""


class _Found(NamedTuple):
    """A chain and how likely it is the whole way."""

    likelihood: float
    chain: Chain


async def ways(topic: Entity, policy: Policy, graph: KnowledgeGraph) -> list[Way]:
    """Search from a topic entity: best first, in both directions of relations.

    A chain whose ends have no names is no way by itself, but may lead on to one; one that takes too
    long leads nowhere.

    Raises:
        KGError: if the graph cannot be reached, or everything takes too long.
    """
    tried = _Tried(graph)
    found = await _chains(topic, policy, tried)
    best = max((each.likelihood for each in found), default=0.0)
    likely = sorted((each for each in found if each.likelihood >= best * SLIM), key=_rank)[:FOLLOWED]
    followed = [await tried.follow(each.chain) for each in likely]
    leading = [way for way in followed if way and way.ends]
    if tried.failed and not leading:
        raise tried.failed
    return leading


class _Tried:
    """A graph of which a query may fail; the last failure is kept."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self.failed: KGTimeout | KGRejected | None = None

    async def extend(self, chain: Chain) -> tuple[Hop, ...]:
        """Give the hops that lead on; none where the query fails."""
        try:
            return (await self._graph.extend_chain(chain)).items
        except (KGTimeout, KGRejected) as error:
            self.failed = error
            return ()

    async def follow(self, chain: Chain) -> Way | None:
        """Follow a chain to its named ends; None where the query fails."""
        try:
            page = await self._graph.follow_chain(chain)
        except (KGTimeout, KGRejected) as error:
            self.failed = error
            return None
        return Way(chain, tuple(end for end in page if end.term.name), page.truncated)


def _rank(found: _Found) -> tuple[float, Chain]:
    return -found.likelihood, found.chain


async def _chains(topic: Entity, policy: Policy, graph: _Tried) -> list[_Found]:
    """Extend the likeliest chain again and again, until what is left is a slim chance."""
    order = count()
    waiting: list[tuple[float, int, Chain, float]] = [(-1.0, next(order), Chain(topic), 1.0)]
    found: list[_Found] = []
    best = 0.0
    for _ in range(EXTENDED):
        if not waiting or -waiting[0][0] < best * SLIM:
            break
        _, _, chain, share = heapq.heappop(waiting)
        offered = await graph.extend(chain)
        if not offered:
            continue
        for hop, chance in await asyncio.to_thread(_likeliest, policy, chain, offered):
            longer, likelihood = chain.then(hop), share * chance
            over = policy.over(longer.hops)
            found.append(_Found(likelihood * over, longer))
            best = max(best, likelihood * over)
            if longer.depth < DEPTH:
                onwards = likelihood * (1 - over)
                heapq.heappush(waiting, (-onwards, next(order), longer, onwards))
    return found


def _likeliest(policy: Policy, chain: Chain, offered: tuple[Hop, ...]) -> list[tuple[Hop, float]]:
    shares = policy.follow(chain.hops, offered)
    return [(offered[at], float(shares[at])) for at in np.argsort(-shares, kind="stable")[:BRANCHES]]
