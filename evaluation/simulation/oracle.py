"""What is right: which hop, which chain.

A chain is right if it begins a way to the answers (`ways`). It is right as well if what is left
of a way of its length, put after it, leads to what the way leads to, or to less of that but
all gold answers: a reverse property, a parallel relation. A chain that is held to some entities is
right if it leads from these to a gold answer. Only that takes queries.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kgqa.evaluation.question import Question
from kgqa.evaluation.simulation.gold import Gold
from kgqa.evaluation.simulation.steps import Way, hops_of, iri_of, is_step
from kgqa.evaluation.simulation.terrain import Terrain
from kgqa.evaluation.simulation.ways import Ways
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop, Path


class Plan(NamedTuple):
    """The best way from a topic of the question, its hops with the names that the graph shows."""

    topic: Entity
    hops: tuple[Hop, ...]


class Oracle:
    """Knows one question's gold, and remembers what it has found out."""

    def __init__(self, question: Question, graph: KnowledgeGraph) -> None:
        self.gold = Gold(question)
        self._named = question.topics
        self.terrain = Terrain(graph)
        """What was looked up."""
        self._ways = Ways(question, self.terrain, self.gold)
        self._detours: dict[Chain, Way | None] = {}

    async def rests(self, chain: Chain) -> list[Way]:
        """Give what is left to go after a chain, for each way that it begins; nothing if it leads astray."""
        rests = await self._rests(Chain(chain.topic, chain.hops))
        return [rest for rest in rests if not chain.held or await self._still_leads(chain, rest)]

    async def topics(self) -> list[Entity]:
        """Give the topics of the question that the graph has, in their order."""
        found = [await self.terrain.find(iri_of(named.id) or named.name or "") for named in self._named]
        return list(filter(None, found))

    async def plans(self) -> list[Plan]:
        """Give the best way from each topic of the question that has one, in their order."""
        found = []
        for topic in await self.topics():
            if ways := await self._ways.of(topic):
                found.append(Plan(topic, self._labelled(ways[0])))
        return found

    async def paths(self) -> list[tuple[Path, ...]]:
        """Give some paths along each of the plans, to gold answers where it leads to any."""
        found = []
        for topic, hops in await self.plans():
            ends = await self.terrain.ends(chain := Chain(topic, hops))
            gold = [end for end, right in zip(ends, self.gold.mark(ends).right, strict=True) if right]
            found.append(await self.terrain.traced(chain, gold or ends))
        return found

    async def is_named(self, chain: Chain) -> bool:
        """Tell whether a chain leads to anything that has a name."""
        return any(term.name for term in await self.terrain.ends(chain))

    def _labelled(self, way: Way) -> tuple[Hop, ...]:
        label = self.terrain.graph.relation_label
        hops = hops_of(way, self.terrain.graph) or ()
        return tuple(replace(hop, name=label(hop.relation)) for hop in hops)

    async def _rests(self, chain: Chain) -> list[Way]:
        ways = await self._ways.of(chain.topic)
        begun = [way[chain.depth :] for way in ways if _begins(chain, way)]
        if begun or not ways or not chain.hops:
            return begun
        if chain not in self._detours:
            self._detours[chain] = await self._detour(chain, ways)
        rest = self._detours[chain]
        return [] if rest is None else [rest]

    async def right_hop(self, chain: Chain, offered: Sequence[Hop]) -> int | None:
        """Give the place of the hop that leads on to the answers; None if none does."""
        steps = [rest[0] for rest in await self.rests(chain) if rest]
        places = (place for step in steps for place, hop in enumerate(offered) if is_step(hop, step))
        return next(places, None)

    async def awaits_others(self, chain: Chain) -> bool:
        """Tell whether a topic that comes after this chain's has a path to the answers."""
        return await self._ways.after(chain.topic)

    async def _still_leads(self, chain: Chain, rest: Way) -> bool:
        """Tell whether a chain, held as it is, leads to gold, or to all that it is computed from."""
        whole = replace(chain, hops=(*chain.hops, *(hops_of(rest, self.terrain.graph) or ())))
        ends = await self.terrain.ends(whole)
        if any(self.gold.mark(ends).right):
            return True
        computed = self.gold.is_number or self.gold.verdict is not None
        return computed and {*ends} == {*await self.terrain.ends(replace(whole, held=()))}

    async def _detour(self, chain: Chain, ways: Sequence[Way]) -> Way | None:
        """Give what is left of a way after a chain that takes its place so far; see above."""
        if not await self._rests(Chain(chain.topic, chain.hops[:-1])):
            return None
        for way in ways:
            rest = way[chain.depth :]
            hops, after = hops_of(way, self.terrain.graph), hops_of(rest, self.terrain.graph)
            if len(way) >= chain.depth and hops is not None and after is not None:
                usual = set(await self.terrain.ends(Chain(chain.topic, hops)))
                ends = await self.terrain.ends(Chain(chain.topic, (*chain.hops, *after)))
                if ends and (usual == set(ends) or (usual > set(ends) and not self.gold.mark(ends).missing)):
                    return rest
        return None


def _begins(chain: Chain, way: Way) -> bool:
    return chain.depth <= len(way) and all(map(is_step, chain.hops, way))
