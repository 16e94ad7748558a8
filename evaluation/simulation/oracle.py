"""What is right: which relations lead from a topic to the gold answers, which hop, which chain.

The gold relations of a topic are those of a gold path: those that the question's file names,
else those of its SPARQL (`kg.algebra`), else what a search on the graph finds. A gold path that
was drawn on another graph may not lead anywhere on this one. Where it does not lead to all gold
answers, its relations are tried in the other direction too, and the best is taken. Of several
topics those whose relations lead to most count; the others, and those without any, have none.
Where no topic has any, they are searched.

A chain is right if it begins the gold relations. It is right as well if what is left of them
after its length, put after it, leads to what they lead to, or to less of that but all gold
answers: a reverse property, a parallel relation. Less is not enough where the question asks more
than its paths say. A chain with entities held fixed is right if it leads from these to a gold
answer. Only that takes queries.

What a question asks beside its paths, conditions and an aggregate, is known by its answer query.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from operator import itemgetter
from typing import NamedTuple, TypeVar

from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.scoring.matching import is_same
from kgqa.evaluation.simulation.error_rates import Draws, ErrorRates
from kgqa.evaluation.simulation.gold_answers import GoldAnswers
from kgqa.evaluation.simulation.graph_cache import (
    GoldRelations,
    GraphCache,
    is_hop_named,
    resolve_hops,
    resolve_iri,
)
from kgqa.kg.dialects import is_foreign
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Aggregate, Condition
from kgqa.kg.sparql.path_extraction import UnreadableQuery, read_chains
from kgqa.kg.terms import Chain, Entity, Hop, Path, Term
from kgqa.models.decisive import ShownCandidates, stated_conditions
from kgqa.priors.candidate_ranking import relation_words
from kgqa.prompts.apply_conditions import StatedCondition
from kgqa.prompts.progress import MAX_SUBGOALS
from kgqa.prompts.score_entities import BEST_SCORE
from kgqa.prompts.target import Target
from kgqa.tools.arguments import write_hop

T = TypeVar("T")

LEAST_SCORE = 0.5  # what is recalled beside a wrong choice; an entity that leads to little of the gold
MAX_SEARCH_QUERIES = 300  # queries that one search may take
MAX_SEARCH_HOPS = 3  # hops of a gold path that is searched on the graph at most
MAX_CANDIDATES_TRIED = 20  # candidates that are looked at for one that leads astray
MAX_DIRECTIONS_TRIED = 16  # choices of directions for the relations of a gold path that are tried at most
_Rating = tuple[int, float]
"""The gold answers that a chain misses, and minus how well its ends fit: the least rating is the best."""


async def _rate_chain(cache: GraphCache, gold: GoldAnswers, chain: Chain) -> _Rating | None:
    """Rate a chain; None if it leads to no gold answer."""
    marks = gold.mark(await cache.ends(chain))
    return (marks.missing, -marks.f1) if any(marks.right) else None


async def search_chain(cache: GraphCache, gold: GoldAnswers, start: Chain, hops: int) -> Chain | None:
    """Extend a chain breadth-first by at most so many hops until its ends hold all gold answers.

    Of several such chains of the same length the one with the fewest other ends is given,
    then the first in order. Where there is none, the one that leads to most; None if no
    chain leads to any gold answer. Where gold answers have ids of this kind of graph, the last
    hop is one that leads to such an id. After `MAX_SEARCH_QUERIES` queries the best so far stands.
    """
    limit = cache.queries + MAX_SEARCH_QUERIES
    ids = [id for id in gold.ids if not is_foreign(id, cache.graph.dialect)]
    last = await cache.hops_to(ids)
    if ids and not last:
        return None
    found: list[tuple[_Rating, Chain]] = []
    frontier = [start]
    for _ in range(hops):
        reached: list[Chain] = []
        for chain in frontier:
            for hop in await cache.hops(chain) if cache.queries < limit else ():
                reached.append(chain.then(hop))
                asked = cache.queries < limit and (not ids or hop in last)
                if asked and (rating := await _rate_chain(cache, gold, reached[-1])):
                    found.append((rating, reached[-1]))
        if any(not missing for (missing, _), _ in found):
            break
        frontier = reached
    return min(found)[1] if found else None


class GoldRelationFinder:
    """Knows the gold paths of one question; one query for each topic where the file is right."""

    def __init__(self, question: Question, cache: GraphCache, gold: GoldAnswers) -> None:
        self._question, self._cache, self._gold = question, cache, gold
        self._paths: Sequence[GoldPath] | None = question.paths or None
        self._passable: dict[str, list[tuple[_Rating, GoldRelations]]] = {}
        self._gold_paths: dict[str, list[GoldRelations]] = {}

    async def of(self, topic: Entity) -> list[GoldRelations]:
        """Return the gold paths from a topic, the best first."""
        if topic.id not in self._gold_paths:
            ids = [resolve_iri(named.id) for named in self._question.topics if not _is_topic(topic, named)]
            mine = await self._named(topic)
            others = [each for id in ids if id for each in await self._named(Entity(id))]
            least = min((missing for (missing, _), _ in (*mine, *others)), default=0)
            gold_paths = [gold_path for (missing, _), gold_path in mine if missing == least]
            if not gold_paths and not others:
                chain = await search_chain(self._cache, self._gold, Chain(topic), MAX_SEARCH_HOPS)
                gold_paths = [tuple(map(write_hop, chain.hops))] if chain else []
            self._gold_paths[topic.id] = gold_paths
        return self._gold_paths[topic.id]

    async def after(self, topic: Entity) -> bool:
        """Return whether a path begins at a topic that comes after this one."""
        names = self._question.topics
        mine = [at for at, named in enumerate(names, 1) if _is_topic(topic, named)]
        later = names[mine[0] :] if mine else ()
        return any(self._begins(path, named) for path in await self._known() for named in later)

    async def _named(self, topic: Entity) -> list[tuple[_Rating, GoldRelations]]:
        """Return the gold paths that are named and lead to gold answers on this graph, the best first."""
        if topic.id not in self._passable:
            mine = EntityRef(topic.id, topic.name)
            known = dict.fromkeys(p.relations for p in await self._known() if self._begins(p, mine))
            led = [best for gold_path in known if (best := await self._best(topic, gold_path))]
            self._passable[topic.id] = sorted(led, key=itemgetter(0))
        return self._passable[topic.id]

    async def _best(self, topic: Entity, gold_path: GoldRelations) -> tuple[_Rating, GoldRelations] | None:
        """Return a gold path, its relations turned around where that is better; None if it leads nowhere.

        A gold path to a number, or to what says yes or no, stands as it is, and so does a branch of the
        answer query: of many ends a page may lack the gold.
        """
        hops = resolve_hops(gold_path, self._cache.graph) or ()
        branches = self._question.query.branches if self._question.query else ()
        if hops and (self._gold.is_number or Chain(topic, hops) in [each.chain for each in branches]):
            return (0, -1.0), gold_path
        tried = []
        for turned in islice(_turn_hops(hops), MAX_DIRECTIONS_TRIED):
            if rating := await _rate_chain(self._cache, self._gold, Chain(topic, turned)):
                tried.append((rating, tuple(map(write_hop, turned))))
                if not rating[0]:
                    break
        unseen = ((0, -1.0), gold_path) if hops and self._gold.verdict else None
        return min(tried, key=itemgetter(0), default=unseen)

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
        aliases = {alias for named in mine for alias in named.aliases}
        return path.topic in aliases or is_same(topic, EntityRef(path.topic, None))


def _read_gold_paths(sparql: str | None) -> Sequence[GoldPath]:
    try:
        paths = read_chains(sparql).paths if sparql else ()
    except UnreadableQuery:
        return ()
    return [GoldPath(p.start.id, tuple(map(write_hop, p.hops))) for p in paths if isinstance(p.start, Entity)]


def _turn_hops(hops: Sequence[Hop]) -> Iterator[tuple[Hop, ...]]:
    """Return hops as they are, then with some of them in the other direction, few first."""
    choices = product(*((hop, hop.inverse) for hop in hops)) if hops else ()
    yield from sorted(choices, key=lambda chosen: sum(a != b for a, b in zip(chosen, hops, strict=True)))


def _is_topic(entity: Entity, named: EntityRef) -> bool:
    return is_same(EntityRef(entity.id, entity.name), named)


class TopicPlan(NamedTuple):
    """The best gold path from a topic of the question, its hops with the names that the graph shows."""

    topic: Entity
    hops: tuple[Hop, ...]


class Oracle:
    """Knows one question's gold, and remembers what it has found out."""

    def __init__(self, question: Question, graph: KnowledgeGraph) -> None:
        self.question, self._topics, self._query = question, question.topics, question.query
        self.gold = GoldAnswers(question)
        self.cache = GraphCache(graph)  # what was looked up
        self.finder = GoldRelationFinder(question, self.cache, self.gold)
        self._detours: dict[Chain, GoldRelations | None] = {}

    def conditions(self, chain: Chain) -> tuple[Condition, ...]:
        """Return what the question asks of the nodes of a gold path; a place counts hops from its topic."""
        places = self._places(chain)
        asked = self._query.conditions if self._query else ()
        return tuple(replace(c, place=places.index(c.place) + 1) for c in asked if c.place in places)

    def aggregate(self, chain: Chain) -> Aggregate | None:
        """Return what the question asks to be computed of the ends of a gold path; places as above."""
        places, asked = self._places(chain), self._query.aggregate if self._query else None
        if not asked or asked.place is None:
            return asked
        return replace(asked, place=places.index(asked.place) + 1) if asked.place in places else None

    @property
    def asks_more(self) -> bool:
        """Whether the question is known to ask more than its paths say: another chain is right by chance."""
        return self._query is not None and bool(self._query.conditions or self._query.aggregate)

    def is_discriminative(self, chain: Chain) -> bool:
        """Return whether the question asks more of the ends of a gold path than to compute them."""
        computed = self.aggregate(chain)
        return bool(self.conditions(chain)) or (computed is not None and computed.function.startswith("arg"))

    def asks_of_nodes(self, chain: Chain) -> bool:
        """Return whether the question asks anything of the nodes of a gold path, or of their values."""
        computed = self.aggregate(chain)
        return bool(self.conditions(chain)) or (computed is not None and computed.function != "count")

    def hidden_attribute(self, chain: Chain, shown: Collection[Sequence[Hop]]) -> Sequence[Hop]:
        """Return the first attribute that the question asks by its answer query, and that is not shown."""
        computed = self.aggregate(chain)
        used = [*(each.attribute for each in self.conditions(chain)), computed.attribute if computed else ()]
        return next((hops for hops in used if hops and hops not in shown), ())

    async def counted(self) -> tuple[Term, ...]:
        """Return what the answer counts; nothing where it is no count under conditions."""
        if not self._query or not self._query.conditions or self._query.aggregate != Aggregate("count"):
            return ()
        return await self.cache.answers(replace(self._query, aggregate=None))

    def _places(self, chain: Chain) -> tuple[int, ...]:
        """Return the places that the answer query gives to the nodes of a chain, which may be a detour."""
        branches = self._query.branches if self._query else ()
        alike = [b for b in branches if (b.chain.topic, b.chain.depth) == (chain.topic, chain.depth)]
        return min(alike, key=lambda branch: branch.chain.hops != chain.hops).places if alike else ()

    async def rests(self, chain: Chain) -> list[GoldRelations]:
        """Return the gold relations left after a chain, for all that it begins; none if it leads astray."""
        rests = await self._rests(Chain(chain.topic, chain.hops))
        return [rest for rest in rests if not chain.constraints or await self._still_leads(chain, rest)]

    async def topics(self) -> list[Entity]:
        """Return the topics of the question that the graph has, in their order."""
        found = [await self.cache.find(resolve_iri(named.id) or named.name or "") for named in self._topics]
        return list(filter(None, found))

    async def plans(self) -> list[TopicPlan]:
        """Return the best gold path from each topic of the question that has one, in their order."""
        label = self.cache.graph.relation_label
        found = []
        for topic in await self.topics():
            if gold_paths := await self.finder.of(topic):
                hops = resolve_hops(gold_paths[0], self.cache.graph) or ()
                found.append(TopicPlan(topic, tuple(replace(hop, name=label(hop.relation)) for hop in hops)))
        return found

    async def paths(self) -> list[tuple[Path, ...]]:
        """Return some paths along each of the plans, to gold answers where it leads to any."""
        found = []
        for topic, hops in await self.plans():
            ends = await self.cache.ends(chain := Chain(topic, hops))
            found.append(await self.cache.traced(chain, self.gold.among(ends) or ends))
        return found

    async def _rests(self, chain: Chain) -> list[GoldRelations]:
        gold_paths = await self.finder.of(chain.topic)
        begun = [
            gold_path[chain.depth :]
            for gold_path in gold_paths
            if chain.depth <= len(gold_path) and all(map(is_hop_named, chain.hops, gold_path))
        ]
        if begun or not gold_paths or not chain.hops:
            return begun
        if chain not in self._detours:
            self._detours[chain] = await self._detour(chain, gold_paths)
        rest = self._detours[chain]
        return [] if rest is None else [rest]

    async def right_way(self, chain: Chain, offered: Sequence[Sequence[Hop]]) -> int | None:
        """Return the place of the hop, or of the hops, that lead on to the answers; None if none do."""
        places = (
            place
            for rest in await self.rests(chain)
            for place, hops in enumerate(offered)
            if len(hops) <= len(rest) and all(map(is_hop_named, hops, rest))
        )
        return next(places, None)

    def complete(self, chain: Chain, rest: GoldRelations) -> Chain:
        """Return a chain with the gold relations that are left after it."""
        return replace(chain, hops=(*chain.hops, *(resolve_hops(rest, self.cache.graph) or ())))

    async def _still_leads(self, chain: Chain, rest: GoldRelations) -> bool:
        """Return whether a chain, held as it is, leads to gold, or to all that it is computed from."""
        whole = self.complete(chain, rest)
        ends = await self.cache.ends(whole)
        if any(self.gold.mark(ends).right):
            return True
        computed = self.gold.is_number or self.gold.verdict is not None
        return computed and {*ends} == {*await self.cache.ends(replace(whole, constraints=()))}

    async def _detour(self, chain: Chain, gold_paths: Sequence[GoldRelations]) -> GoldRelations | None:
        """Return what is left of a gold path after a chain that takes its place so far; see above."""
        if not await self._rests(Chain(chain.topic, chain.hops[:-1])):
            return None
        for gold_path in gold_paths:
            rest = gold_path[chain.depth :]
            hops = resolve_hops(gold_path, self.cache.graph)
            if len(gold_path) >= chain.depth and hops is not None:
                usual = set(await self.cache.ends(Chain(chain.topic, hops)))
                ends = await self.cache.ends(Chain(chain.topic, (*chain.hops, *hops[chain.depth :])))
                fewer = usual > set(ends) and not (self.asks_more or self.gold.mark(ends).missing)
                if ends and (usual == set(ends) or fewer):
                    return rest
        return None


class Case(Target):
    """One step of a question: what is right by its gold, and the errors that are drawn for it."""

    def __init__(self, oracle: Oracle, errors: ErrorRates, draws: Draws) -> None:
        self.oracle, self.errors, self.draws = oracle, errors, draws
        self.gold, self.cache, self.rests = oracle.gold, oracle.cache, oracle.rests

    async def plans(self) -> list[TopicPlan]:
        """Return the best gold path from each topic that has one."""
        return await self.oracle.plans()

    async def is_end(self, chain: Chain) -> bool:
        """Return whether a chain is at the end of a gold path."""
        return () in await self.rests(chain)

    async def leads_on(self, chain: Chain) -> bool:
        """Return whether something of a gold path is left after a chain."""
        return any(await self.rests(chain))

    async def worth(self, chain: Chain, ends: Sequence[Term]) -> dict[Term, float]:
        """Score ends by how well they lead to the gold answers: 0, or from `LEAST_SCORE` to `BEST_SCORE`.

        What a number is computed from, all of it is as good.
        """
        return {end: await self._worth(chain, end) for end in ends}

    async def _worth(self, chain: Chain, term: Term) -> float:
        rests = await self.rests(chain)
        if rests and (self.gold.is_number or self.gold.verdict):
            return BEST_SCORE
        fits = [self.gold.mark([term]).f1] if () in rests else []
        for rest in filter(None, rests) if isinstance(term, Entity) else ():
            whole = self.oracle.complete(chain.constrained_to([term]), rest)  # type: ignore[list-item]
            fits.append(self.gold.mark(await self.cache.ends(whole)).f1)
        best = max(fits, default=0.0)
        return round(LEAST_SCORE + (BEST_SCORE - LEAST_SCORE) * best, 2) if best else 0.0

    async def answers_among(self, chain: Chain, ends: Sequence[Candidate]) -> list[int]:
        """Number the gold answers, or what they count."""
        sought = {*await self.sought([each.term for each in ends])}
        return [number for number, each in enumerate(ends, 1) if each.term in sought]

    async def sought(self, terms: Sequence[Term]) -> list[Term]:
        """Return the terms that are gold answers, or that the answer counts."""
        counted = await self.oracle.counted()
        return [term for term in terms if term in counted] if counted else self.gold.among(terms)

    async def counts(self, ends: Sequence[Candidate]) -> bool:
        """Return whether the answer is a count under conditions."""
        return bool(await self.oracle.counted())

    async def unfinished(self, chains: Sequence[Chain]) -> list[int]:
        """Number, of each topic, the chains furthest on a gold path, unless one is at its end."""
        furthest: dict[Entity, tuple[int, list[int]]] = {}
        for number, chain in enumerate(chains, 1):
            depth, numbers = furthest.get(chain.topic, (-1, []))
            if chain.depth >= depth and (rests := await self.rests(chain)):
                alike = [*(numbers if chain.depth == depth else ()), number]
                furthest[chain.topic] = chain.depth, alike if any(rests) else []
        return [number for _, numbers in furthest.values() for number in numbers]

    async def subgoals(self) -> list[str]:
        """Return one subgoal for each named node on the gold paths, in words of the relations to it."""
        goals: list[str] = []
        for topic, hops in await self.plans():
            begin = 0
            for end in range(1, len(hops) + 1):
                part = Chain(topic, hops[:end])
                if end == len(hops) or any(term.name for term in await self.cache.ends(part)):
                    words = (relation_words(hop.words) for hop in reversed(hops[begin:end]))
                    goals.append(f"find the {' of the '.join(words)}")
                    begin = end
        return goals[:MAX_SUBGOALS]

    def plans_well(self) -> bool:
        """Return whether no bad plan is drawn."""
        return self.happens("accuracy")

    def judge(self, kind: str, options: Sequence[T], right: T) -> T:
        """Choose the right one, or another where a draw says so."""
        return self.draw_other(kind, options, right) if self.happens("judge") else right

    def choose(self, right: Sequence[int], offered: int) -> list[int]:
        """Choose the right ones of so many numbered entities, or others where a draw says so."""
        return wrong_choice(right, offered, self.draws) if self.happens("entity") else list(right)

    async def narrow(self, chain: Chain, ends: Mapping[int, Term]) -> list[int]:
        """Draw an end that leads astray, or else half of all, where entities are chosen wrongly."""
        entities = {number: end for number, end in ends.items() if isinstance(end, Entity)}
        drawn = list(self.draws.shuffled("wrong entities", list(entities))) if self.happens("entity") else []
        for number in drawn[:MAX_CANDIDATES_TRIED]:
            if not await self.rests(chain.constrained_to([entities[number]])):
                return [number]
        return sorted(drawn[: len(drawn) // 2])

    def come_back(self, right: Sequence[int], offered: int) -> list[int]:
        """Choose the right ones, as often as relations are chosen rightly."""
        return self.draw_wrongly("wrong recall", right, range(1, offered + 1)) or list(right)

    def misstated(self, stated: Sequence[StatedCondition], shown: ShownCandidates) -> StatedCondition | None:
        """Return another condition than what is stated, if anything is, of those that what is shown has."""
        others = [each for each in stated_conditions(shown) if each not in stated]
        return next(self.draws.shuffled("wrong condition", others), None) if stated else None

    def draw_other(self, kind: str, options: Iterable[T], right: T) -> T:
        """Draw one of some options that is not the right one, if there is any."""
        return next(self.draws.shuffled(kind, [option for option in options if option != right]), right)

    def draw_wrongly(self, kind: str, right: Sequence[int], offered: Iterable[int]) -> list[int]:
        """Draw as many others as are right, at least one, where relations are chosen wrongly; else none."""
        others = [] if self.happens("accuracy") else [number for number in offered if number not in right]
        return list(islice(self.draws.shuffled(kind, others), max(1, len(right))))

    def happens(self, kind: str, where: str = "") -> bool:
        """Return whether what `ErrorRates` gives a probability of happens at this step.

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
