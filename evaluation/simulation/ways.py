"""The ways from a question's topics to its gold answers.

A way is the steps of a gold path: those that the question's file names, else those of its
SPARQL (`kg.algebra`), else what a search on the graph finds. A gold path that was drawn on
another graph may not lead anywhere on this one. Where it does not lead to all gold answers,
its relations are tried in the other direction too, and the best is taken. Of several topics
those whose ways lead to most count; the others, and those without any, have no way. Where no
topic has one, a way is searched.
"""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

from kgqa.evaluation.matching import same
from kgqa.evaluation.question import GoldPath, Named, Question
from kgqa.evaluation.simulation.gold import Gold
from kgqa.evaluation.simulation.search import search
from kgqa.evaluation.simulation.steps import Way, hops_of, iri_of, step_of
from kgqa.evaluation.simulation.terrain import Terrain
from kgqa.kg.algebra import Unreadable, read
from kgqa.kg.terms import Chain, Entity, Hop

DEPTH = 3
"""Hops of a way that is searched on the graph at most."""

TURNS = 16
"""Ways to turn the relations of a path around that are tried at most."""


class _Led(NamedTuple):
    """A way and how well it leads to the gold answers."""

    missing: int
    f1: float
    way: Way


class Ways:
    """Knows the ways of one question; one query for each topic where the file is right."""

    def __init__(self, question: Question, terrain: Terrain, gold: Gold) -> None:
        self._question = question
        self._terrain = terrain
        self._gold = gold
        self._paths: Sequence[GoldPath] | None = question.paths or None
        self._passable: dict[str, list[_Led]] = {}
        self._ways: dict[str, list[Way]] = {}

    async def of(self, topic: Entity) -> list[Way]:
        """Give the ways from a topic, the best first."""
        if topic.id not in self._ways:
            mine = await self._named(topic)
            others = [each for other in self._others(topic) for each in await self._named(other)]
            least = min((each.missing for each in (*mine, *others)), default=0)
            ways = [each.way for each in mine if each.missing == least]
            self._ways[topic.id] = ways if ways or others else await self._found(topic)
        return self._ways[topic.id]

    def _others(self, topic: Entity) -> list[Entity]:
        ids = [iri_of(named.id) for named in self._question.topics if not _is(topic, named)]
        return [Entity(id) for id in ids if id]

    async def after(self, topic: Entity) -> bool:
        """Tell whether a path begins at a topic that comes after this one."""
        names = self._question.topics
        mine = [at for at, named in enumerate(names, 1) if _is(topic, named)]
        later = names[mine[0] :] if mine else ()
        return any(self._begins(path, named) for path in await self._known() for named in later)

    async def _named(self, topic: Entity) -> list[_Led]:
        """Give the ways that are named and lead to gold answers on this graph, the best first."""
        if topic.id not in self._passable:
            mine = Named(topic.id, topic.name)
            known = dict.fromkeys(p.relations for p in await self._known() if self._begins(p, mine))
            led = [best for way in known if (best := await self._best(topic, way))]
            self._passable[topic.id] = sorted(led, key=_rank)
        return self._passable[topic.id]

    async def _best(self, topic: Entity, way: Way) -> _Led | None:
        """Give a way, its relations turned around where that is better; None if it leads nowhere.

        A way to a number, or to what says yes or no, stands as it is.
        """
        hops = hops_of(way, self._terrain.graph) or ()
        if hops and self._gold.is_number:
            return _Led(0, 1.0, way)
        tried = []
        for turned in islice(_turned(hops), TURNS):
            marks = self._gold.mark(await self._terrain.ends(Chain(topic, turned)))
            if any(marks.right):
                tried.append(_Led(marks.missing, marks.f1, tuple(map(step_of, turned))))
            if tried and not tried[-1].missing:
                break
        unseen = _Led(0, 1.0, way) if hops and self._gold.verdict else None
        return min(tried, key=_rank, default=unseen)

    async def _found(self, topic: Entity) -> list[Way]:
        chain = await search(self._terrain, self._gold, Chain(topic), DEPTH)
        return [tuple(map(step_of, chain.hops))] if chain else []

    async def _known(self) -> Sequence[GoldPath]:
        """Give the paths that the file names, else those of its SPARQL."""
        if self._paths is None:
            self._paths = await asyncio.to_thread(_read, self._question.sparql)
        return self._paths

    def _begins(self, path: GoldPath, topic: Named) -> bool:
        """Tell whether a path begins at a topic; one without a topic begins at the first."""
        names = self._question.topics
        if path.topic is None:
            return not names or same(topic, names[0])
        mine = [named for named in names if same(topic, named)]
        return same(topic, Named(path.topic, None)) or any(path.topic in named.aliases for named in mine)


def _rank(led: _Led) -> tuple[int, float]:
    return led.missing, -led.f1


def _read(sparql: str | None) -> Sequence[GoldPath]:
    try:
        paths = read(sparql).paths if sparql else ()
    except Unreadable:
        return ()
    return [GoldPath(p.start.id, tuple(map(step_of, p.hops))) for p in paths if isinstance(p.start, Entity)]


def _turned(hops: Sequence[Hop]) -> Iterator[tuple[Hop, ...]]:
    """Give hops as they are, then with some of them in the other direction, few first."""
    choices = product(*((hop, hop.inverse) for hop in hops)) if hops else ()
    yield from sorted(choices, key=lambda chosen: sum(a != b for a, b in zip(chosen, hops, strict=True)))


def _is(entity: Entity, named: Named) -> bool:
    return same(Named(entity.id, entity.name), named)
