"""Searches the graph for a chain to the gold answers, where nobody has named one."""

from typing import NamedTuple

from kgqa.evaluation.simulation.gold import Gold
from kgqa.evaluation.simulation.terrain import Terrain
from kgqa.kg.dialect import is_foreign
from kgqa.kg.terms import Chain

QUERIES = 300
"""Queries that one search may take."""


class _Found(NamedTuple):
    """A chain, ordered by how well it will do: the least is the best."""

    missing: int
    """Gold answers that it does not lead to."""
    f1: float
    """How well its ends fit, negative."""
    chain: Chain


async def search(terrain: Terrain, gold: Gold, start: Chain, hops: int) -> Chain | None:
    """Extend a chain breadth-first by at most so many hops until its ends hold all gold answers.

    Of several such chains of the same length the one with the fewest other ends is given,
    then the first in order. Where there is none, the one that leads to most; None if no
    chain leads to any gold answer. Where gold answers have ids of this kind of graph, the last
    hop is one that leads to such an id. After `QUERIES` queries the best so far stands.
    """
    limit = terrain.queries + QUERIES
    ids = [id for id in gold.ids if not is_foreign(id, terrain.graph.dialect)]
    last = await terrain.hops_to(ids)
    if ids and not last:
        return None
    found: list[_Found] = []
    frontier = [start]
    for _ in range(hops):
        reached: list[Chain] = []
        for chain in frontier:
            for hop in await terrain.hops(chain) if terrain.queries < limit else ():
                reached.append(chain.then(hop))
                if terrain.queries < limit and (not ids or hop in last):
                    found += await _judged(terrain, gold, reached[-1])
        if any(not each.missing for each in found):
            break
        frontier = reached
    return min(found).chain if found else None


async def _judged(terrain: Terrain, gold: Gold, chain: Chain) -> list[_Found]:
    marks = gold.mark(await terrain.ends(chain))
    return [_Found(marks.missing, -marks.f1, chain)] if any(marks.right) else []
