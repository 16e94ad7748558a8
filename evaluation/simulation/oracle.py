"""What is right: which relations lead from a topic to the gold answers, which hop, which chain.

The gold relations of a topic are those of a gold path: those that the question's file names,
else those of its SPARQL (`kg.algebra`), else what a search on the graph finds. A gold path that
was drawn on another graph may not lead anywhere on this one. Where it does not lead to all gold
answers, its relations are tried in the other direction too, and the best is taken. Of several
topics those whose relations lead to most count; the others, and those without any, have none.
Where no topic has any, they are searched.

A chain is right if it begins the gold relations. It is right as well if what is left of them
after its length, put after it, leads to what they lead to, or to less of that but all gold
answers: a reverse property, a parallel relation. A chain with entities held fixed is right if it
leads from these to a gold answer. Only that takes queries.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import NamedTuple

from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.scoring.matching import is_same
from kgqa.evaluation.simulation.error_rates import Draws, ErrorRates
from kgqa.evaluation.simulation.gold_answers import GoldAnswers
from kgqa.evaluation.simulation.graph_cache import (
    GoldRelations,
    GraphCache,
    is_hop_named,
    name_hop,
    resolve_hops,
    resolve_iri,
)
from kgqa.kg.dialects import is_foreign
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.sparql.algebra import UnreadableQuery, read_chains
from kgqa.kg.terms import Chain, Entity, Hop, Path

MAX_SEARCH_QUERIES = 300
"""Queries that one search may take."""


class _SearchedChain(NamedTuple):
    """A chain, ordered by how well it will do: the least is the best."""

    missing: int
    """Gold answers that it does not lead to."""
    f1: float
    """How well its ends fit, negative."""
    chain: Chain


async def search_chain(cache: GraphCache, gold: GoldAnswers, start: Chain, hops: int) -> Chain | None:
    """Extend a chain breadth-first by at most so many hops until its ends hold all gold answers.

    Of several such chains of the same length the one with the fewest other ends is given,
    then the first in order. Where there is none, the one that leads to most; None if no
    chain leads to any gold answer. Where gold answers have ids of this kind of graph, the last
    hop is one that leads to such an id. After `QUERIES` queries the best so far stands.
    """
    limit = cache.queries + MAX_SEARCH_QUERIES
    ids = [id for id in gold.ids if not is_foreign(id, cache.graph.dialect)]
    last = await cache.hops_to(ids)
    if ids and not last:
        return None
    found: list[_SearchedChain] = []
    frontier = [start]
    for _ in range(hops):
        reached: list[Chain] = []
        for chain in frontier:
            for hop in await cache.hops(chain) if cache.queries < limit else ():
                reached.append(chain.then(hop))
                if cache.queries < limit and (not ids or hop in last):
                    found += await _rate_chain(cache, gold, reached[-1])
        if any(not each.missing for each in found):
            break
        frontier = reached
    return min(found).chain if found else None


async def _rate_chain(cache: GraphCache, gold: GoldAnswers, chain: Chain) -> list[_SearchedChain]:
    marks = gold.mark(await cache.ends(chain))
    return [_SearchedChain(marks.missing, -marks.f1, chain)] if any(marks.right) else []


MAX_SEARCH_HOPS = 3
"""Hops of a way that is searched on the graph at most."""

MAX_DIRECTIONS_TRIED = 16
"""Ways to turn the relations of a path around that are tried at most."""


class _RatedRelations(NamedTuple):
    """A way and how well it leads to the gold answers."""

    missing: int
    f1: float
    way: GoldRelations


class GoldRelationFinder:
    """Knows the ways of one question; one query for each topic where the file is right."""

    def __init__(self, question: Question, cache: GraphCache, gold: GoldAnswers) -> None:
        self._question = question
        self._cache = cache
        self._gold = gold
        self._paths: Sequence[GoldPath] | None = question.paths or None
        self._passable: dict[str, list[_RatedRelations]] = {}
        self._ways: dict[str, list[GoldRelations]] = {}

    async def of(self, topic: Entity) -> list[GoldRelations]:
        """Return the ways from a topic, the best first."""
        if topic.id not in self._ways:
            mine = await self._named(topic)
            others = [each for other in self._others(topic) for each in await self._named(other)]
            least = min((each.missing for each in (*mine, *others)), default=0)
            ways = [each.way for each in mine if each.missing == least]
            self._ways[topic.id] = ways if ways or others else await self._found(topic)
        return self._ways[topic.id]

    def _others(self, topic: Entity) -> list[Entity]:
        ids = [resolve_iri(named.id) for named in self._question.topics if not _is_topic(topic, named)]
        return [Entity(id) for id in ids if id]

    async def after(self, topic: Entity) -> bool:
        """Return whether a path begins at a topic that comes after this one."""
        names = self._question.topics
        mine = [at for at, named in enumerate(names, 1) if _is_topic(topic, named)]
        later = names[mine[0] :] if mine else ()
        return any(self._begins(path, named) for path in await self._known() for named in later)

    async def _named(self, topic: Entity) -> list[_RatedRelations]:
        """Return the ways that are named and lead to gold answers on this graph, the best first."""
        if topic.id not in self._passable:
            mine = EntityRef(topic.id, topic.name)
            known = dict.fromkeys(p.relations for p in await self._known() if self._begins(p, mine))
            led = [best for way in known if (best := await self._best(topic, way))]
            self._passable[topic.id] = sorted(led, key=_rating)
        return self._passable[topic.id]

    async def _best(self, topic: Entity, way: GoldRelations) -> _RatedRelations | None:
        """Return a way, its relations turned around where that is better; None if it leads nowhere.

        A way to a number, or to what says yes or no, stands as it is.
        """
        hops = resolve_hops(way, self._cache.graph) or ()
        if hops and self._gold.is_number:
            return _RatedRelations(0, 1.0, way)
        tried = []
        for turned in islice(_turn_hops(hops), MAX_DIRECTIONS_TRIED):
            marks = self._gold.mark(await self._cache.ends(Chain(topic, turned)))
            if any(marks.right):
                tried.append(_RatedRelations(marks.missing, marks.f1, tuple(map(name_hop, turned))))
            if tried and not tried[-1].missing:
                break
        unseen = _RatedRelations(0, 1.0, way) if hops and self._gold.verdict else None
        return min(tried, key=_rating, default=unseen)

    async def _found(self, topic: Entity) -> list[GoldRelations]:
        chain = await search_chain(self._cache, self._gold, Chain(topic), MAX_SEARCH_HOPS)
        return [tuple(map(name_hop, chain.hops))] if chain else []

    async def _known(self) -> Sequence[GoldPath]:
        """Return the paths that the file names, else those of its SPARQL."""
        if self._paths is None:
            self._paths = await asyncio.to_thread(_read_gold_paths, self._question.sparql)
        return self._paths

    def _begins(self, path: GoldPath, topic: EntityRef) -> bool:
        """Return whether a path begins at a topic; one without a topic begins at the first."""
        names = self._question.topics
        if path.topic is None:
            return not names or is_same(topic, names[0])
        mine = [named for named in names if is_same(topic, named)]
        return is_same(topic, EntityRef(path.topic, None)) or any(
            path.topic in named.aliases for named in mine
        )


def _rating(led: _RatedRelations) -> tuple[int, float]:
    return led.missing, -led.f1


def _read_gold_paths(sparql: str | None) -> Sequence[GoldPath]:
    try:
        paths = read_chains(sparql).paths if sparql else ()
    except UnreadableQuery:
        return ()
    return [GoldPath(p.start.id, tuple(map(name_hop, p.hops))) for p in paths if isinstance(p.start, Entity)]


def _turn_hops(hops: Sequence[Hop]) -> Iterator[tuple[Hop, ...]]:
    """Return hops as they are, then with some of them in the other direction, few first."""
    choices = product(*((hop, hop.inverse) for hop in hops)) if hops else ()
    yield from sorted(choices, key=lambda chosen: sum(a != b for a, b in zip(chosen, hops, strict=True)))


def _is_topic(entity: Entity, named: EntityRef) -> bool:
    return is_same(EntityRef(entity.id, entity.name), named)


class TopicPlan(NamedTuple):
    """The best way from a topic of the question, its hops with the names that the graph shows."""

    topic: Entity
    hops: tuple[Hop, ...]


class Oracle:
    """Knows one question's gold, and remembers what it has found out."""

    def __init__(self, question: Question, graph: KnowledgeGraph) -> None:
        self.gold = GoldAnswers(question)
        self._named = question.topics
        self.cache = GraphCache(graph)
        """What was looked up."""
        self._ways = GoldRelationFinder(question, self.cache, self.gold)
        self._detours: dict[Chain, GoldRelations | None] = {}

    async def rests(self, chain: Chain) -> list[GoldRelations]:
        """Return the gold relations left after a chain, for all that it begins; none if it leads astray."""
        rests = await self._rests(Chain(chain.topic, chain.hops))
        return [rest for rest in rests if not chain.constraints or await self._still_leads(chain, rest)]

    async def topics(self) -> list[Entity]:
        """Return the topics of the question that the graph has, in their order."""
        found = [await self.cache.find(resolve_iri(named.id) or named.name or "") for named in self._named]
        return list(filter(None, found))

    async def plans(self) -> list[TopicPlan]:
        """Return the best way from each topic of the question that has one, in their order."""
        found = []
        for topic in await self.topics():
            if ways := await self._ways.of(topic):
                found.append(TopicPlan(topic, self._labelled(ways[0])))
        return found

    async def paths(self) -> list[tuple[Path, ...]]:
        """Return some paths along each of the plans, to gold answers where it leads to any."""
        found = []
        for topic, hops in await self.plans():
            ends = await self.cache.ends(chain := Chain(topic, hops))
            gold = [end for end, right in zip(ends, self.gold.mark(ends).right, strict=True) if right]
            found.append(await self.cache.traced(chain, gold or ends))
        return found

    async def is_named(self, chain: Chain) -> bool:
        """Return whether a chain leads to anything that has a name."""
        return any(term.name for term in await self.cache.ends(chain))

    def _labelled(self, way: GoldRelations) -> tuple[Hop, ...]:
        label = self.cache.graph.relation_label
        hops = resolve_hops(way, self.cache.graph) or ()
        return tuple(replace(hop, name=label(hop.relation)) for hop in hops)

    async def _rests(self, chain: Chain) -> list[GoldRelations]:
        ways = await self._ways.of(chain.topic)
        begun = [way[chain.depth :] for way in ways if _begins_relations(chain, way)]
        if begun or not ways or not chain.hops:
            return begun
        if chain not in self._detours:
            self._detours[chain] = await self._detour(chain, ways)
        rest = self._detours[chain]
        return [] if rest is None else [rest]

    async def right_hop(self, chain: Chain, offered: Sequence[Hop]) -> int | None:
        """Return the place of the hop that leads on to the answers; None if none does."""
        steps = [rest[0] for rest in await self.rests(chain) if rest]
        places = (place for step in steps for place, hop in enumerate(offered) if is_hop_named(hop, step))
        return next(places, None)

    async def awaits_others(self, chain: Chain) -> bool:
        """Return whether a topic that comes after this chain's has a path to the answers."""
        return await self._ways.after(chain.topic)

    async def _still_leads(self, chain: Chain, rest: GoldRelations) -> bool:
        """Return whether a chain, held as it is, leads to gold, or to all that it is computed from."""
        whole = replace(chain, hops=(*chain.hops, *(resolve_hops(rest, self.cache.graph) or ())))
        ends = await self.cache.ends(whole)
        if any(self.gold.mark(ends).right):
            return True
        computed = self.gold.is_number or self.gold.verdict is not None
        return computed and {*ends} == {*await self.cache.ends(replace(whole, constraints=()))}

    async def _detour(self, chain: Chain, ways: Sequence[GoldRelations]) -> GoldRelations | None:
        """Return what is left of a way after a chain that takes its place so far; see above."""
        if not await self._rests(Chain(chain.topic, chain.hops[:-1])):
            return None
        for way in ways:
            rest = way[chain.depth :]
            hops, after = resolve_hops(way, self.cache.graph), resolve_hops(rest, self.cache.graph)
            if len(way) >= chain.depth and hops is not None and after is not None:
                usual = set(await self.cache.ends(Chain(chain.topic, hops)))
                ends = await self.cache.ends(Chain(chain.topic, (*chain.hops, *after)))
                if ends and (usual == set(ends) or (usual > set(ends) and not self.gold.mark(ends).missing)):
                    return rest
        return None


def _begins_relations(chain: Chain, way: GoldRelations) -> bool:
    return chain.depth <= len(way) and all(map(is_hop_named, chain.hops, way))


class Case(NamedTuple):
    """One step of a question."""

    oracle: Oracle
    errors: ErrorRates
    draws: Draws

    def happens(self, kind: str, where: str = "") -> bool:
        """Return whether what `Errors` gives a probability of happens at this step.

        A step that has several choices to make names the place of each. ``memory`` is no
        matter of the step, but of the question.
        """
        rate: float | None = getattr(self.errors, kind)
        draw = self.draws.throughout if kind == "memory" else self.draws.uniform
        drawn = draw(f"{kind} {where}".rstrip())
        return drawn < (self.errors.accuracy if rate is None else rate)


def wrong_choice(right: Sequence[int], offered: int, draws: Draws) -> list[int]:
    """Choose wrongly from so many numbered things: as many others, or a part where there are no others.

    Nothing can be chosen, and the list is empty, where the only thing is the right one.
    """
    others = [number for number in range(1, offered + 1) if number not in set(right)]
    size = min(len(others), max(1, len(right))) if others else len(right) // 2
    drawn = draws.shuffled("wrong entities", others or list(right))
    return sorted(next(drawn) for _ in range(size))
