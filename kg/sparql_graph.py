"""The knowledge graph over whatever answers SPARQL: executor, dialect and name index together."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from kgqa.kg.dialects import PLAIN, Dialect
from kgqa.kg.errors import KGRejected, KGSilent, KGTimeout
from kgqa.kg.graph import Executor, GraphFacts, Row, Rows
from kgqa.kg.languages import preferred_languages
from kgqa.kg.linked_graph import LinkedGraph
from kgqa.kg.linking.name_sources import NameLookup
from kgqa.kg.meter import QueryMemo
from kgqa.kg.naming import Naming, make_description
from kgqa.kg.pages import Candidate, ChainAttributes, ChainResult, Description, GraphInfo, Page, Table
from kgqa.kg.profile.profile import Profile
from kgqa.kg.proof.prover import Prover
from kgqa.kg.relations import without_inverses
from kgqa.kg.sparql import attributes, chain_queries, patterns, queries
from kgqa.kg.sparql.attributes import ReadAttributes, Wanted
from kgqa.kg.sparql.chain_queries import Limits
from kgqa.kg.sparql.decoding import (
    ChainRows,
    is_true,
    item_at,
    path_triples,
    read_integer,
    single_value,
    sort_key,
    split_by_chain,
)
from kgqa.kg.sparql.guard import guard_query
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Term, Triple, is_value_id, node_id, plain_term
from kgqa.locks import cached_property

S = TypeVar("S")

IDS_PER_QUERY, PAIRS_PER_QUERY, CHAINS_PER_QUERY, CHAINS_READ_PER_QUERY = 1_000, 5_000, 12, 6
"""Entities, steps and chains in one query: Virtuoso takes longer and longer to read long ones, or refuses."""

CHAINS_CROSSED_PER_QUERY = 24
"""Chains to mediators in one query, which asks for the relations that lead on and for nothing else."""

MEDIATORS_SAMPLED = 200  # nodes without a name, at the end of one chain, that are looked past

MAX_SEPARATE_PAGES = 8
"""Pairs of entity and hop up to which each has a page of its own; of more, those of one hop share one."""

MAX_REMEMBERED_ENDS = 50_000
"""Ends of chains that are remembered: a method and its model often ask for the same, one after the other."""

MIN_ROWS_OFF_LOOP = 1_000  # from this number of rows on, naming and sorting them leaves the event loop


class SparqlGraph(LinkedGraph, Prover):
    """A `KnowledgeGraph` over an executor of SPARQL; its pages hold at most so many ``rows``."""

    def __init__(
        self,
        executor: Executor,
        facts: GraphFacts,
        dialect: Dialect,
        naming: Naming,
        lookup: NameLookup,
        read_profile: Callable[[], Profile],
        *,
        rows: int,
    ) -> None:
        LinkedGraph.__init__(self, executor, facts, dialect, naming, lookup, read_profile)
        Prover.__init__(self, executor, dialect, naming, rows=rows)
        self._visits = QueryMemo[list[ChainResult]](
            MAX_REMEMBERED_ENDS, lambda visits: sum(1 + len(visit.ends) + len(visit.hops) for visit in visits)
        )
        self._info: GraphInfo | None = None

    @property
    def fingerprint(self) -> str:
        """A short hash of the graph's content."""
        return self._facts.fingerprint

    @property
    def naming(self) -> Naming:
        """How its nodes are named."""
        return self._naming

    @property
    def dialect(self) -> str:
        """The name of the dialect: ``freebase``, ``wikidata`` or ``plain``."""
        return self._dialect.name

    @property
    def inferred(self) -> Mapping[str, str]:
        """Which relations were inferred between tables, and why."""
        return self._facts.inferred

    async def extend_chain(self, chain: Chain) -> Page[Hop]:
        """Return the hops that lead on from the end of a chain; see `KnowledgeGraph`."""
        return (await self.visit_chains([chain], ends=False))[0].hops

    async def follow_chain(self, chain: Chain) -> Page[Candidate]:
        """Return the terms at the end of a chain; see `KnowledgeGraph`."""
        if not chain.hops:
            name = (await self.names([chain.topic.id]))[chain.topic.id]
            return Page((Candidate(Entity(chain.topic.id, name or chain.topic.name)),))
        return (await self.visit_chains([chain], hops=False))[0].ends

    async def visit_chains(
        self, chains: Sequence[Chain], *, ends: bool = True, hops: bool = True, sample: int | None = None
    ) -> list[ChainResult]:
        """Return the ends of several chains and what leads on from there; see `KnowledgeGraph`."""

        def visit() -> Awaitable[list[ChainResult]]:
            return self._visit_chains(chains, ends=ends, hops=hops, sample=sample)

        if self._executor.remote:  # it remembers its answers for as long as they may hold
            return await visit()
        shown = preferred_languages(())  # in which the ends are named
        return [*await self._visits.recall((*chains, ends, hops, sample, shown), visit)]

    async def _visit_chains(
        self, chains: Sequence[Chain], *, ends: bool, hops: bool, sample: int | None
    ) -> list[ChainResult]:
        limits = Limits.of(self._rows, sample, relations=0 if self._executor.remote else len(self.relations))
        empty = ChainResult(Page(()), Page(()))
        visits = {Chain(ANY): replace(empty, hops=self._every_hop) if hops else empty}
        unique = [chain for chain in dict.fromkeys(chains) if chain not in visits]
        if not (ends or hops):
            return [empty for _ in chains]

        labels, classes = self._naming.labels, await self._classes()
        write = partial(chain_queries.visit_chains, labels=labels, limits=limits, ends=ends, hops=hops)
        for some, answer in await self._ask_batches(unique, CHAINS_PER_QUERY, write):
            parts = dict(zip(some, split_by_chain(answer, len(some)), strict=True))
            looked_up = await self._look_up_relations(parts, limits)
            for chain, rows in parts.items():
                found = await self._candidates(chain, rows, limits, answer.cut)
                entities = sum(isinstance(end.term, Entity) for end in found)
                sampled = answer.cut or chain_queries.CUT_ENDS in rows.cuts or entities > limits.scanned
                sampled |= limits.sampled and bool(chain.hops)
                if chain_queries.CUT_TRIPLES in rows.cuts:
                    sampled |= entities > looked_up or bool(chain.hops and not entities)
                to_members = None if chain.hops else self._to_members(chain.topic, classes)
                of_term = () if chain.hops else self._of_term(chain.topic, classes, rows.hops)
                own = (to_members,) if to_members else of_term
                on = Page(own) if own else self._hops(rows.hops, sampled)
                if not (on.items or chain.hops) and is_value_id(chain.topic.id):
                    on = Page(self._relations.read_named(rows.hops))
                visits[chain] = ChainResult(found, on)
        return [visits[chain] for chain in chains]

    async def cross_mediators(
        self, extended: Sequence[tuple[Chain, Sequence[Hop]]], *, pair_inverses: bool = False
    ) -> list[tuple[tuple[Hop, ...], ...]]:
        """Return how each chain can go on by some hops, mediators crossed; see `KnowledgeGraph`."""
        inverses = await self._relations.whole_inverses() if pair_inverses else {}
        extended = [(chain, without_inverses(hops, inverses)) for chain, hops in extended]
        mediated = await self._relations.lead_to_mediators(hop for _, hops in extended for hop in hops)
        crossed = [chain.then(hop) for chain, hops in extended for hop in hops if hop in mediated]
        turned = [chain for chain, hops in extended if chain.hops and chain.hops[-1].inverse in hops]
        write = partial(chain_queries.relations_past, limits=Limits.of(self._rows, MEDIATORS_SAMPLED))
        found: dict[Chain, list[Row]] = {}
        wanted = list(dict.fromkeys([*crossed, *turned]))
        for some, answer in await self._ask_batches(wanted, CHAINS_CROSSED_PER_QUERY, write):
            for visit, *hop in answer.rows:
                found.setdefault(item_at(some, visit), []).append(tuple(hop))
        read = self._relations.read_hops
        on = {chain: without_inverses(read(found.get(chain, ())), inverses) for chain in wanted}

        def ways(chain: Chain, hop: Hop) -> list[tuple[Hop, ...]]:
            if chain.hops and hop == chain.hops[-1].inverse and hop not in on[chain]:
                return []
            first = self._relations.hop(hop.relation, hop.forward)
            return [(first, after) for after in on.get(chain.then(hop), ())] or [(first,)]

        return [tuple(way for hop in hops for way in ways(chain, hop)) for chain, hops in extended]

    async def reached_ends(self, chain: Chain, ends: Sequence[Term]) -> set[Term]:
        """Return those of some terms that a chain reaches; see `KnowledgeGraph`.

        By one hop each entity is looked up; by several, back from there all facts of a hub would be read.
        """
        if not chain.hops:
            return {end for end in ends if chain.topic in (end, ANY)}
        looked_up = [end for end in ends if isinstance(end, Entity)] if chain.depth == 1 else []
        reached = await self._reached(chain, looked_up)
        others = list(dict.fromkeys(end for end in ends if chain.depth > 1 or not isinstance(end, Entity)))
        paths = await self.trace_chain(chain, others)
        return reached | {end for end, path in zip(others, paths, strict=True) if path}

    async def _reached(self, chain: Chain, ends: Sequence[Entity], *, fresh: bool = False) -> set[Term]:
        write = partial(chain_queries.reached_ends, chain, fresh=fresh)
        answers = await self._ask_batches(list(dict.fromkeys(ends)), IDS_PER_QUERY, write)
        return {row[0] for _, answer in answers for row in answer.rows if row[0] is not None}

    async def trace_chain(self, chain: Chain, ends: Sequence[Term]) -> list[tuple[Triple, ...]]:
        """Return one path to each end; see `KnowledgeGraph`."""
        if not chain.hops or not ends:
            return [() for _ in ends]
        unique = list(dict.fromkeys(ends))
        if chain.topic == ANY:
            traced = await self._trace_back(chain, unique)
            return [path_triples(chain, traced.get(end, {})) for end in ends]
        write = partial(chain_queries.trace_chain, chain, labels=self._naming.labels)
        answers = await self._ask_batches(unique, IDS_PER_QUERY, write)
        rows = [row for _, answer in answers for row in answer.rows]
        named = self._naming.apply((node, label, rank) for _, _, _, node, label, rank, _ in rows)
        nodes: dict[Term, dict[int, Term]] = {}
        for end, _, place, node, *_ in rows:
            if end is not None and node is not None:
                nodes.setdefault(end, {})[read_integer(place)] = named[node]
        if any(row[-1] is not None for row in rows):  # what is lacking may be beyond the limit
            nodes |= await self._trace_back(chain, [end for end in unique if end not in nodes])
        return [path_triples(chain, nodes.get(end, {})) for end in ends]

    async def _trace_back(self, chain: Chain, ends: Sequence[Term]) -> dict[Term, dict[int, Term]]:
        """Return the nodes of some path to each end, found from there; none where there is no path."""
        found: dict[Term, dict[int, Term]] = {}
        allowed = chain.steps[-1][1]
        ends = [end for end in ends if not allowed or end in allowed]
        for fresh in (True, False):
            lacking = [end for end in ends if end not in found]
            write = partial(chain_queries.trace_back, chain, fresh=fresh)
            for some, answer in await self._ask_batches(lacking, MAX_SEPARATE_PAGES, write):
                for place, *between in answer.rows:
                    end = item_at(some, place)
                    nodes = [node for node in between if node is not None]
                    topic = [chain.topic] if chain.topic != ANY else []
                    found[end] = dict(enumerate([*topic, *nodes, end]))
        entities = {
            node.id for nodes in found.values() for node in nodes.values() if isinstance(node, Entity)
        }
        names = await self.names(sorted(entities)) if found else {}
        return {
            end: {
                place: Entity(node.id, names[node.id]) if isinstance(node, Entity) else node
                for place, node in nodes.items()
            }
            for end, nodes in found.items()
        }

    async def chain_attributes(
        self, wanted: Mapping[Chain, Mapping[int, Sequence[Hop]]], near: Sequence[Term] = ()
    ) -> dict[Chain, ChainAttributes]:
        """Return what the nodes at places of chains have; see `KnowledgeGraph`."""
        types = self._dialect.types
        asked = [
            (chain, {**places, chain.depth: places.get(chain.depth, ())})
            for chain, places in wanted.items()
            if chain.hops
        ]
        # several share a page: of each place its nodes, values in both directions and past them, what is near
        parts = 6 * sum(len(places) for _, places in asked) if len(asked) > 1 else 1
        labels, limits = self._naming.labels, Limits.of(self._rows // parts)
        # what mediators are is known of other kinds of graphs
        owned = (await self._classes()).owned if self.dialect == PLAIN.name else frozenset()

        def write(some: Sequence[tuple[Chain, Wanted]]) -> str:
            return attributes.attribute_values(some, near, types, labels, limits, owned)

        read: dict[Chain, ReadAttributes] = {}
        for some, answer in await self._ask_batches(asked, CHAINS_READ_PER_QUERY, write):
            for (chain, _), rows in zip(some, attributes.split_by_chain(answer, len(some)), strict=True):
                read[chain] = self._read_attributes(chain, rows, owned, answer.cut, limits.rows)
        found = {chain: each.page(chain, self._rows) for chain, each in read.items()}
        empty = ChainAttributes(Page(()), Page(()))
        return {chain: found.get(chain, empty) for chain in wanted}

    def _read_attributes(
        self, chain: Chain, rows: Sequence[Row], owned: Collection[str], cut: bool, most: int
    ) -> ReadAttributes:
        """Read the rows of one chain, of each part of which there are ``most`` at most."""
        kept = [row[:-1] for row in rows if row[-1] is None]
        named = self._naming.apply((value, label, rank) for *_, value, label, rank in kept)
        facts = attributes.read_facts(kept, named, self._relations.hop, self._relations.ignores)
        types = {*map(Hop, self._dialect.types)}
        found = attributes.read_values(kept, named, self._relations.hop)
        labels = [self._relations.hop(label, forward=True) for label in self._naming.labels]
        silent = {*types, *(h for each in found for h in each.hops if self._relations.ignores(h.relation))}
        return ReadAttributes(
            attributes.past_unnamed([f for f in found if silent.isdisjoint(f.hops)], facts, owned),
            {(each.end, each.value) for each in found if each.hops and each.hops[0] in types},
            attributes.read_names(kept, named, chain.depth, labels),
            cut or len(kept) < len(rows) or attributes.largest_part(kept) > most,
        )

    async def list_relations(self, ids: Sequence[str]) -> dict[str, Page[Hop]]:
        """Return the hops that leave each of the entities; see `KnowledgeGraph`."""
        groups: dict[str, list[Row]] = {_checked_id(id): [] for id in ids}
        hubs: list[str] = []
        for some, answer in await self._ask_batches(
            list(groups), IDS_PER_QUERY, chain_queries.list_relations
        ):
            if answer.cut or any(row[-1] is not None for row in answer.rows):
                hubs += some
            for end, relation, forward, _ in answer.rows:
                if end is not None and (id := node_id(end)) in groups:
                    groups[id].append((relation, forward))
        classes = await self._classes()
        visits = await self.visit_chains([Chain(Entity(id)) for id in hubs], ends=False)
        pages = {id: self._hops(rows) for id, rows in groups.items()}
        pages |= {id: visit.hops for id, visit in zip(hubs, visits, strict=True)}
        pages |= {id: Page((hop,)) for id in groups if (hop := self._to_members(Entity(id), classes))}
        return {id: pages[_checked_id(id)] for id in ids}

    async def follow_relation(self, steps: Sequence[tuple[str, Hop]]) -> list[Page[Term]]:
        """Return what each (entity id, hop) pair leads to; see `KnowledgeGraph`."""
        checked = [(_checked_id(id), hop) for id, hop in steps]
        if len(checked) > MAX_SEPARATE_PAGES:
            return await self._follow_many(checked)
        write = partial(queries.follow_relation, labels=self._naming.labels, limit=self._rows + 1)
        pages: list[Page[Term]] = []
        for some, answer in await self._ask_batches(checked, MAX_SEPARATE_PAGES, write):
            named = self._naming.apply((end, label, rank) for _, end, label, rank in answer.rows)
            ends: list[dict[Term, None]] = [{} for _ in some]
            for step, end, _, _ in answer.rows:
                if end is not None:
                    item_at(ends, step)[named[end]] = None
            for found in ends:
                pages.append(self._page(sorted(found, key=sort_key), answer.cut))
        return pages

    async def _follow_many(self, steps: Sequence[tuple[str, Hop]]) -> list[Page[Term]]:
        """Follow many pairs, those of one hop together."""
        pairs = sorted(dict.fromkeys(steps), key=lambda step: (step[1], step[0]))
        ends: dict[tuple[str, Hop], dict[Term, None]] = {step: {} for step in pairs}
        full: set[tuple[str, Hop]] = set()

        def write(some: Sequence[tuple[str, Hop]]) -> str:
            return queries.follow_relations(_starts_by_hop(some), self._naming.labels, self._rows + 1)

        for some, answer in await self._ask_batches(pairs, PAIRS_PER_QUERY, write):
            named = self._naming.apply((end, label, rank) for _, _, end, label, rank in answer.rows)
            hops, sizes = list(_starts_by_hop(some)), Counter[Hop]()
            for place, start, end, _, _ in answer.rows:
                step = (node_id(start) if start else "", item_at(hops, place))
                if step in ends and end is not None:
                    ends[step][named[end]] = None
            for step in some:
                sizes[step[1]] += len(ends[step])
            full |= {step for step in some if answer.cut or sizes[step[1]] > self._rows}
        return [Page(tuple(sorted(ends[step], key=sort_key)[: self._rows]), step in full) for step in steps]

    async def names(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return the preferred name of each id; see `KnowledgeGraph`."""
        unique = list(dict.fromkeys(map(_checked_id, ids)))
        write = partial(queries.names, labels=self._naming.labels)
        answers = await self._ask_batches(unique, IDS_PER_QUERY, write)
        rows = [row for _, answer in answers for row in answer.rows]
        named = self._naming.apply((end, label, rank) for end, label, rank in rows)
        found = {id: named.get(plain_term(Entity(_checked_id(id)))) for id in ids}
        return {id: None if term is None else term.name for id, term in found.items()}

    async def describe(self, id: str, limit: int = 50) -> Description:
        """Return aliases, types and facts of one entity: two queries; see `KnowledgeGraph`."""
        labels, dialect = self._naming.labels, self._dialect
        around = await self._ask(queries.facts(_checked_id(id), dialect, labels, limit + 1))
        wanted = (*labels, *self._naming.aliases, *dialect.types)
        about = Rows((), [])  # a value has nothing
        if not is_value_id(id):
            about = await self._executor.query(queries.objects(id, wanted, labels))
        return make_description(
            id, around.rows, about.rows, self._naming, dialect, limit, self._relations.hop
        )

    async def select(self, query: str) -> Table:
        """Run a read-only SELECT or ASK; see `KnowledgeGraph`."""
        text = await asyncio.to_thread(guard_query, query, self._rows + 1)
        answer = await self._executor.query(text, limit=self._rows + 1, foreign=True)
        cut = answer.cut or len(answer.rows) > self._rows
        return Table(answer.columns, tuple(answer.rows[: self._rows]), cut)

    async def both_ways(self) -> dict[tuple[str, str], tuple[int, float]]:
        """Return how many facts two relations state in both directions; see `KnowledgeGraph`."""
        return await self._relations.both_ways()

    async def info(self) -> GraphInfo:
        """Count triples, entities, relations and named entities; what a folder tells is not counted again."""
        if self._info is None:
            facts, labels = self._facts, self._naming.labels
            entities, named = facts.entities, facts.named
            if named is None:
                entities = await self._count(queries.count_nodes())
                named = await self._count(queries.count_named(labels)) if labels else 0
            counts = [(r, n) for r, n in facts.predicates.items() if not self._relations.ignores(r)]
            listed = tuple(sorted(counts, key=lambda item: (-item[1], item[0])))
            sizes = (facts.triples, entities, len(listed), named)
            inferred = tuple(dict.fromkeys(facts.inferred.values()))
            self._info = GraphInfo(facts.source, self._dialect.name, *sizes, listed, inferred)
        return self._info

    async def _count(self, query: str) -> int | None:
        """Count, where that does not take too long: an endpoint may hold thousands of millions."""
        try:
            return read_integer(single_value(await self._executor.query(query)))
        except (KGTimeout, KGSilent, KGRejected):
            return None

    async def _ask_batches(
        self, items: Sequence[S], size: int, write: Callable[[Sequence[S]], str]
    ) -> list[tuple[Sequence[S], Rows]]:
        """Ask about some items at a time, all at once; servers refuse queries that are too long.

        Where a server cuts an answer about several, it is asked about half of them at a time.
        """
        parts = [items[first : first + size] for first in range(0, len(items), size)]
        answers = await asyncio.gather(*(self._ask(write(part)) for part in parts))
        found: list[tuple[Sequence[S], Rows]] = []
        for part, answer in zip(parts, answers, strict=True):
            whole = not answer.cut or len(part) == 1
            found += [(part, answer)] if whole else await self._ask_batches(part, (len(part) + 1) // 2, write)
        return found

    async def _ask(self, query: str) -> Rows:
        """Run a query, and learn what the relations in its answer are called."""
        answer = await self._executor.query(query)
        if "relation" in answer.columns:
            at = answer.columns.index("relation")
            await self._relations.learn(term.id for row in answer.rows if (term := row[at]) is not None)
        return answer

    async def _candidates(self, chain: Chain, given: ChainRows, limits: Limits, cut: bool) -> Page[Candidate]:
        """Name and sort the ends of a chain; those of a page that is cut are the first that came."""
        rows, name = given.ends, self._naming.apply
        found = ((end, label, rank) for end, _, label, rank in rows)
        named = await asyncio.to_thread(name, found) if len(rows) > MIN_ROWS_OFF_LOOP else name(found)
        full = cut or chain_queries.CUT_NODES in given.cuts or len(named) > limits.rows
        kept = list(named.values())[: limits.rows]
        flags = [(end, is_true(fresh)) for end, fresh, _, _ in rows if fresh is not None]
        passing = {end for end, fresh in flags if not fresh} - {end for end, fresh in flags if fresh}
        unsure = [end for end in kept if isinstance(end, Entity) and end in passing] if passing else []
        if full and unsure and not limits.sampled:
            # a way that does not pass the topic may be among what is cut
            passing -= await self._reached(chain, unsure, fresh=True)
        returning = passing | ({plain_term(chain.topic)} if chain.hops else set())
        kept.sort(key=sort_key)
        return Page(tuple(Candidate(term, returning=term in returning) for term in kept), full)

    async def _look_up_relations(self, parts: Mapping[Chain, ChainRows], limits: Limits) -> int:
        """Look up the relations of hubs, whose triples are too many to read; return at how many ends."""
        hubs = {chain: rows for chain, rows in parts.items() if chain_queries.CUT_TRIPLES in rows.cuts}
        for chain in [each for each in hubs if each.hops and not self.relations]:
            hubs.pop(chain).cuts.add(chain_queries.CUT_ENDS)
        if not self.relations:
            for chain, rows in hubs.items():
                rows.hops += (await self._ask(chain_queries.relations_of(chain.topic.id))).rows
        if not hubs or not self.relations:
            return 1
        known = set.intersection(
            *({(r.id, is_true(forward)) for r, forward in rows.hops if r} for rows in hubs.values())
        )
        unseen = {
            forward: [each for each in self.relations if (each, forward) not in known]
            for forward in (True, False)
        }
        answer = await self._ask(chain_queries.relations_held(list(hubs), unseen, limits))
        places = list(hubs.values())
        for visit, *hop in answer.rows:
            item_at(places, visit).hops.append(tuple(hop))
        return limits.ends_looked_up(unseen)

    @cached_property
    def _every_hop(self) -> Page[Hop]:
        """Return the hops that lead on from anything: all of them, where they are listed."""
        both = ((each, forward) for each in self.relations for forward in (True, False))
        return self._page([self._relations.hop(*each) for each in both if self._relations.can_follow(*each)])

    def _hops(self, rows: Sequence[Row], cut: bool = False) -> Page[Hop]:
        return self._page(self._relations.read_hops(rows), cut)

    def _page(self, items: Sequence[S], cut: bool = False) -> Page[S]:
        return Page(tuple(items[: self._rows]), cut or len(items) > self._rows)


def _checked_id(id: str) -> str:
    """Return the id that answers have for it; a blank node may be named by the IRI it is stored under."""
    blank = id.removeprefix(patterns.BLANK_NAMESPACE)
    return Entity(f"_:{blank}" if blank != id else id).id


def _starts_by_hop(steps: Sequence[tuple[str, Hop]]) -> dict[Hop, list[str]]:
    """Return the entities that each hop is followed from."""
    starts: dict[Hop, list[str]] = {}
    for id, hop in steps:
        starts.setdefault(hop, []).append(id)
    return starts
