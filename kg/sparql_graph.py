"""The knowledge graph over whatever answers SPARQL: executor, dialect and name index together."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import TypeVar

from kgqa.kg.dialects import LOCAL_NAME, Dialect, entity_iri, is_foreign
from kgqa.kg.errors import KGRejected, KGSilent, KGTimeout
from kgqa.kg.graph import Executor, GraphFacts, Row, Rows
from kgqa.kg.languages import base_language, detect_language, name_shares, preferred_languages
from kgqa.kg.linking.class_names import (
    ClassNames,
    NamedWords,
    add_classes,
    first_apart,
    in_singular,
    named_words,
    without_chance,
)
from kgqa.kg.linking.linker import Linker
from kgqa.kg.linking.lookup import NameLookup
from kgqa.kg.linking.name_index import NameIndex
from kgqa.kg.linking.name_words import asked_kinds, blank_out, is_same_name, said_names
from kgqa.kg.linking.values import ValueFinder
from kgqa.kg.meter import QueryMemo, begin_query, end_query, unmetered
from kgqa.kg.naming import Naming, make_description
from kgqa.kg.pages import (
    MAX_RIVALS,
    Candidate,
    ChainAttributes,
    ChainResult,
    Description,
    Evidence,
    GraphInfo,
    Match,
    Mention,
    Page,
    Proof,
    Table,
)
from kgqa.kg.profile.building import profile_classes
from kgqa.kg.profile.profile import ClassProfile, Profile
from kgqa.kg.proof.prover import Prover
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.relations import RelationCatalog, without_inverses
from kgqa.kg.sparql import attribute_queries, attribute_rows, chain_queries, patterns, queries
from kgqa.kg.sparql.attribute_queries import Wanted
from kgqa.kg.sparql.attribute_rows import ReadAttributes
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
from kgqa.kg.sparql.derived import BROADER, INSTANCE_OF, SUBCLASS, split_language
from kgqa.kg.sparql.guard import guard_query
from kgqa.kg.terms import (
    ANY,
    KINDS_NAMESPACE,
    Chain,
    Entity,
    Hop,
    Literal,
    Term,
    Triple,
    is_id,
    is_value_id,
    node_id,
    plain_term,
    value_node,
)
from kgqa.locks import cached_property

S = TypeVar("S")
T = TypeVar("T")

NAMES_SAMPLED = 200  # by which it is told which languages names are in

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


class SparqlGraph:
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
        self._executor = executor
        self._read_profile = read_profile
        self._facts = facts
        self._dialect = dialect
        self._naming = naming
        self._lookup = lookup
        self._rows = rows
        self._relations = RelationCatalog(executor, dialect, naming, facts)
        self._prover = Prover(executor, dialect, naming, rows=rows)
        self._visits = QueryMemo[list[ChainResult]](
            MAX_REMEMBERED_ENDS, lambda visits: sum(1 + len(visit.ends) + len(visit.hops) for visit in visits)
        )
        self._linking: tuple[NameIndex, dict[str, Linker]] | None = None
        self._name_languages: dict[str, float] | None = None
        self._known_classes: ClassNames | None = None
        self._info: GraphInfo | None = None
        self._profiled: dict[str, ClassProfile] = {}

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

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of the graph that a search may follow, sorted; none where nobody has listed them."""
        return self._relations.listed

    def relation_label(self, relation: str) -> str:
        """Return the words that a relation is shown by; see `RelationCatalog.label`."""
        return self._relations.label(relation)

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
        visits = {Chain(ANY): replace(empty, hops=self._every_hop()) if hops else empty}
        unique = [chain for chain in dict.fromkeys(chains) if chain not in visits]
        if not (ends or hops):
            return [empty for _ in chains]

        def write(some: Sequence[Chain]) -> str:
            return chain_queries.visit_chains(some, self._naming.labels, limits, ends=ends, hops=hops)

        classes = await self._classes()
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
                on = Page((to_members,)) if to_members else self._hops(rows.hops, sampled)
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
        limits = Limits.of(self._rows, MEDIATORS_SAMPLED)

        def write(some: Sequence[Chain]) -> str:
            return chain_queries.relations_past(some, limits)

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
        """Return those of some terms that a chain reaches; see `KnowledgeGraph`."""
        entities = [end for end in ends if isinstance(end, Entity)]
        values = [end for end in ends if not isinstance(end, Entity)]
        reached = await self._reached(chain, entities)
        paths = await self.trace_chain(chain, values)
        return reached | {value for value, path in zip(values, paths, strict=True) if path}

    async def _reached(self, chain: Chain, ends: Sequence[Entity], *, fresh: bool = False) -> set[Term]:
        def write(some: Sequence[Entity]) -> str:
            return chain_queries.reached_ends(chain, some, fresh=fresh)

        answers = await self._ask_batches(list(dict.fromkeys(ends)), IDS_PER_QUERY, write)
        return {row[0] for _, answer in answers for row in answer.rows if row[0] is not None}

    async def trace_chain(self, chain: Chain, ends: Sequence[Term]) -> list[tuple[Triple, ...]]:
        """Return one path to each end; see `KnowledgeGraph`."""
        if not chain.hops or not ends:
            return [() for _ in ends]

        def write(some: Sequence[Term]) -> str:
            return chain_queries.trace_chain(chain, some, self._naming.labels)

        unique = list(dict.fromkeys(ends))
        if chain.topic == ANY:
            traced = await self._trace_back(chain, unique)
            return [path_triples(chain, traced.get(end, {})) for end in ends]
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

            def write(some: Sequence[Term], fresh: bool = fresh) -> str:
                return chain_queries.trace_back(chain, some, fresh=fresh)

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

        owned = (await self._classes()).owned

        def write(some: Sequence[tuple[Chain, Wanted]]) -> str:
            return attribute_queries.attribute_values(some, near, types, labels, limits, owned)

        read: dict[Chain, ReadAttributes] = {}
        for some, answer in await self._ask_batches(asked, CHAINS_READ_PER_QUERY, write):
            for (chain, _), rows in zip(some, attribute_rows.split_by_chain(answer, len(some)), strict=True):
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
        facts = attribute_rows.read_facts(kept, named, self._relations.hop, self._relations.ignores)
        types = {*map(Hop, self._dialect.types)}
        found = attribute_rows.read_values(kept, named, self._relations.hop)
        labels = [self._relations.hop(label, forward=True) for label in self._naming.labels]
        silent = {*types, *(h for each in found for h in each.hops if self._relations.ignores(h.relation))}
        return ReadAttributes(
            attribute_rows.past_unnamed([f for f in found if silent.isdisjoint(f.hops)], facts, owned),
            {(each.end, each.value) for each in found if each.hops and each.hops[0] in types},
            attribute_rows.read_names(kept, named, chain.depth, labels),
            cut or len(kept) < len(rows) or attribute_rows.largest_part(kept) > most,
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

        def write(some: Sequence[tuple[str, Hop]]) -> str:
            return queries.follow_relation(some, self._naming.labels, self._rows + 1)

        pages: list[Page[Term]] = []
        for some, answer in await self._ask_batches(checked, MAX_SEPARATE_PAGES, write):
            named = self._naming.apply((end, label, rank) for _, end, label, rank in answer.rows)
            ends: list[dict[Term, None]] = [{} for _ in some]
            for step, end, _, _ in answer.rows:
                if end is not None:
                    item_at(ends, step)[named[end]] = None
            for found in ends:
                cut = answer.cut or len(found) > self._rows
                pages.append(Page(tuple(sorted(found, key=sort_key)[: self._rows]), cut))
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

        def write(some: Sequence[str]) -> str:
            return queries.names(some, self._naming.labels)

        rows = [
            row for _, answer in await self._ask_batches(unique, IDS_PER_QUERY, write) for row in answer.rows
        ]
        named = self._naming.apply((end, label, rank) for end, label, rank in rows)
        found = {id: named.get(plain_term(Entity(_checked_id(id)))) for id in ids}
        return {id: None if term is None else term.name for id, term in found.items()}

    async def find_entities(self, text: str, limit: int = 10) -> list[Match]:
        """Find entities by id or name; see `KnowledgeGraph`. An id needs no index of names."""
        text = text.strip().strip("<>")
        if found := await self._by_id(text):
            return [found]
        if (is_id(text) and "://" in text) or is_foreign(text, self.dialect):  # `Re:Zero` may be a name
            return []
        matches = await self._look_up(text, lambda index: index.find(text, limit))
        if matches and matches[0].sure:
            return matches
        values, classes = await self._lookup.values(), await self._classes()
        kinds = (entity for each in classes.find(text) if each.covers(text) for entity in each.entities)
        named = await asyncio.to_thread(values.find_exact, text) if values else []
        return [*(Match(entity, 1.0, "class") for entity in kinds), *named, *matches][:limit]

    async def _by_id(self, text: str) -> Match | None:
        """Find the entity of an id: its IRI, or as its kind of graph writes it, or another kind's.

        Here an entity of another kind of graph is no more than what an entity of this one is said to be.
        """
        own = self._dialect.entity_iri(text) or (text if is_id(text) else None)
        known = self._facts.predicates
        twins = self._dialect.twins_of(entity_iri(text) or text)
        there = [twin for twin in twins if twin[0] in known or not known]
        lookups = [queries.twins(there, self._naming.labels)] if there else []
        if own:
            place = len(lookups) if is_foreign(text, self.dialect) else 0
            lookups.insert(place, queries.entity(own, self._naming.labels))
        for query in lookups:
            answer = await self._executor.query(query)
            named = self._naming.apply((end, label, rank) for end, label, rank in answer.rows)
            if entities := [Entity(node_id(term), term.name) for term in named.values()]:
                return Match(min(entities), 1.0, "id")
        return None

    async def link(self, question: str) -> list[Mention]:
        """Find the entities that a question mentions; see `KnowledgeGraph`."""
        values, classes = await self._lookup.values(), await self._classes()

        def link(index: NameIndex) -> tuple[list[Mention], dict[str, dict[Hop, int]]]:
            language, labels = detect_language(question), list(map(self.relation_label, self.relations))
            linking = self._linking  # another thread may put the index of its question there
            if linking is None or linking[0] is not index:
                linking = self._linking = index, {}
            if (linker := linking[1].get(language)) is None:
                linker = linking[1][language] = Linker(index, labels, language)
            names_class = any(classes.find(question, linker.foreign))
            mentions = linker.link(question, names_class=names_class)
            mentions = _without_terms(mentions, classes.profile.terms)
            mentions = add_classes(question, mentions, classes, labels, linker.foreign)
            if values:
                mentions = ValueFinder(values, index, linker).add(question, mentions)
            mentions = without_chance(mentions)
            rivals = [each.entity.id for mention in mentions for each in mention.rivals]
            return mentions, index.facts(rivals)

        mentions, facts = await self._look_up(question, link)
        await self._relations.learn(hop.relation for hops in facts.values() for hop in hops)
        known = {id: self._named_hops(hops) for id, hops in facts.items()}
        found = [each if each.is_class else each.with_hops(known) for each in mentions]
        return await self._by_names(question, await self._without_appositions(question, found))

    def name_hops(self, text: str) -> list[Hop]:
        """Return the hops to names, and from names, that a text says alone; see `KnowledgeGraph`."""
        relations = (self._naming.labels, [each for each in self._naming.aliases if each != LOCAL_NAME])
        labels, aliases = ([self._relations.hop(each, True) for each in some] for some in relations)
        return list(said_names(text, labels, aliases))

    async def _by_names(self, question: str, mentions: list[Mention]) -> list[Mention]:
        """Return a name for what it names, and what is asked for, where a question says no more of it.

        It is what has the name that is asked for where this is in the language that the question names, and
        without one where it asks for a kind of things, or says what the thing is not called first.
        """
        kinds = asked_kinds(question, mentions)
        for each in mentions:
            said = [] if each in kinds else self.name_hops(blank_out(question, [each, *kinds]))
            if said:
                known = [await self._as_named(kind) for kind in kinds]
                named, language = await self._named_by(each, said)
                first = is_same_name(each.matches[0].entity.name or "", each.text)
                if named and (language or kinds or not first):
                    each = replace(each, matches=(Match(value_node(named[0]), 1.0, "exact"),))
                kept = [each, *(kind for kind in known if kind.matches)]
                return sorted(kept, key=lambda one: one.start)
        return mentions

    async def _as_named(self, mention: Mention) -> Mention:
        """Return a mention that nobody has looked up with what is called so, of one thing or of several."""
        if mention.matches:
            return mention
        text = in_singular(mention.text)
        found = await self._look_up(text, lambda index: index.find_exact(text))
        return replace(mention, matches=tuple(found[:MAX_RIVALS]))

    async def _named_by(self, mention: Mention, hops: Sequence[Hop]) -> tuple[list[Literal], str]:
        """Return the names by some hops that a mention is, best first, and the language that is asked for."""
        relations = dict(split_language(hop.relation) for hop in hops)
        language = next(iter(relations.values()))
        ids = [each.entity.id for each in mention.matches[:MAX_RIVALS] if not is_value_id(each.entity.id)]
        rows = (await self._executor.query(queries.names(ids, [*relations]))).rows if ids else []
        names = {
            term: self._dialect.language_rank(term.language)
            for _, term, *_ in rows
            if isinstance(term, Literal)
            and is_same_name(term.value, mention.text)
            and language in ("", base_language(term.language))
        }
        return sorted(names, key=lambda name: (names[name], name)), language

    async def _without_appositions(self, question: str, mentions: Sequence[Mention]) -> list[Mention]:
        """Leave out classes beside the name of a member: "the Ulm office", "Count Dracula"."""
        apart = list(mentions)
        for one, two in pairwise(mentions):
            kind, named = (one, two) if one.is_class else (two, one)
            entity = named.matches[0].entity
            if question[one.end : two.start].strip() or not kind.is_class:
                continue
            hop = self._to_members(kind.matches[0].entity, await self._classes())
            if hop and await self._reached(Chain(kind.matches[0].entity, (hop,)), [entity]):
                apart = [each for each in apart if each is not kind]
        return apart

    async def name_languages(self) -> dict[str, float]:
        """Return the share of names in each language, the commonest first; see `KnowledgeGraph`."""
        if self._name_languages is None:
            if self._dialect.polyglot and not self._facts.predicates:
                return {}  # a public graph, with names in all languages
            tags, names = self._facts.summary.languages, list[Literal]()
            try:
                if not tags or "" in tags:
                    names = await self._sample_names()
            except (KGTimeout, KGSilent, KGRejected):
                return {}
            tags = tags or Counter(name.language for name in names)
            untagged = [name.value for name in names if not name.language]
            words = " ".join(map(self.relation_label, self.relations[:NAMES_SAMPLED]))
            self._name_languages = await asyncio.to_thread(name_shares, tags, untagged, words)
        return self._name_languages

    async def _sample_names(self) -> list[Literal]:
        """Return some names, spread over all of them where these are listed."""
        index, labels = await self._lookup.index(""), [*self._naming.labels]
        ids = await asyncio.to_thread(index.sample_ids, NAMES_SAMPLED)
        texts = [queries.some_names(label, NAMES_SAMPLED) for label in labels]
        with unmetered():
            answers = [
                await self._executor.query(text)
                for text in ([queries.names(ids, labels)] if ids and labels else texts)
            ]
        return [
            term for each in answers for row in each.rows for term in row[:2] if isinstance(term, Literal)
        ]

    def _named_hops(self, hops: Iterable[Hop]) -> tuple[Hop, ...]:
        return tuple(sorted(self._relations.hop(hop.relation, hop.forward) for hop in hops))

    async def find_classes(self, question: str) -> list[Chain]:
        """Return the chains to the members of the classes that a question names; see `KnowledgeGraph`.

        They are those of the profile; without one, what has members and is called so.
        """
        classes = await self._classes()
        if classes.profile.classes:
            language = await asyncio.to_thread(detect_language, question)
            found = classes.find(question, language)
            named = dict.fromkeys(entity for each in found for entity in each.entities)
            hops = ((entity, self._to_members(entity, classes)) for entity in named)
            return [Chain(entity, (hop,)) for entity, hop in hops if hop]
        known = self._facts.predicates
        types = [
            self._relations.hop(each, False) for each in self._dialect.types if each in known or not known
        ]
        if not types:
            return []

        def look_up(index: NameIndex) -> list[NamedWords]:
            return list(named_words(question, index))

        words = await self._look_up(f"{question} {in_singular(question)}", look_up)
        entities = dict.fromkeys(entity for each in words for entity in each.entities)
        chains = [Chain(entity, (hop,)) for entity in entities for hop in types][:CHAINS_PER_QUERY]
        visits = zip(chains, await self.visit_chains(chains, hops=False, sample=1), strict=True)
        members = {chain.topic: chain for chain, visit in reversed([*visits]) if len(visit.ends)}
        return [members[each] for each in first_apart(words, {*members})]

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

    def write_query(self, query: AnswerQuery) -> str:
        """Return the SPARQL of an answer query; see `KnowledgeGraph`."""
        return self._prover.write_query(query)

    async def prove(self, query: AnswerQuery) -> Proof:
        """Return what an answer query gives; see `KnowledgeGraph`."""
        return await self._prover.prove(query)

    async def trace_answers(
        self, query: AnswerQuery, answers: Sequence[Term], depths: Mapping[int, int] = MappingProxyType({})
    ) -> Evidence:
        """Return the facts behind some answers of a query; see `KnowledgeGraph`."""
        return await self._prover.trace_answers(query, answers, depths)

    async def both_ways(self) -> dict[tuple[str, str], tuple[int, float]]:
        """Return how many facts two relations state in both directions, and their share of the commoner's.

        They are known from loading, or counted now; none in a graph that is too large to go through.
        """
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

    async def profile(self, classes: Sequence[str] = ()) -> Profile:
        """Return what is known of the graph's classes; see `KnowledgeGraph`."""
        known = await asyncio.to_thread(lambda: self._profile)
        new = [id for id in classes if known.find(id) is None and id not in self._profiled]
        if new:
            facts, kind = self._facts, self._dialect
            found = await asyncio.to_thread(profile_classes, self._ask_now, new, facts.predicates, kind)
            self._profiled |= {each.id: each for each in found.classes}
        others = (self._profiled[id] for id in classes if id in self._profiled)
        return replace(known, classes=(*known.classes, *others)) if classes else known

    def _ask_now(self, query: str) -> Sequence[Row]:
        try:
            return self._executor.query_now(query).rows
        except (KGTimeout, KGSilent, KGRejected):  # it is not known
            return []

    @cached_property
    def _profile(self) -> Profile:
        return self._read_profile()

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

    async def _look_up(self, text: str, ask: Callable[[NameIndex], T]) -> T:
        begin_query()
        start = time.monotonic()
        try:
            index = await self._lookup.index(text)
            return await asyncio.to_thread(ask, index)
        finally:
            end_query(time.monotonic() - start)

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

    async def _classes(self) -> ClassNames:
        """Return the classes of the profile by their names."""
        if self._known_classes is None:
            self._known_classes = ClassNames(await self.profile())
        return self._known_classes

    def _to_members(self, node: Entity, classes: ClassNames) -> Hop | None:
        """Return the hop from a class to its members, those of its subclasses too; None for anything else."""
        if node.id not in classes:
            return None
        known = self._facts.predicates
        if node.id.startswith(KINDS_NAMESPACE):
            return self._relations.hop(SUBCLASS if SUBCLASS in known else BROADER, False)
        types = [each for each in self._dialect.types if each in known]
        relation = INSTANCE_OF if len(classes.below(node.id)) > 1 else next(iter(types), INSTANCE_OF)
        return self._relations.hop(relation, False)

    def _every_hop(self) -> Page[Hop]:
        """Return the hops that lead on from anything: all of them, where they are listed."""
        both = ((each, forward) for each in self.relations for forward in (True, False))
        hops = [self._relations.hop(*each) for each in both if self._relations.can_follow(*each)]
        return Page(tuple(hops[: self._rows]), len(hops) > self._rows)

    def _hops(self, rows: Sequence[Row], cut: bool = False) -> Page[Hop]:
        ordered = self._relations.read_hops(rows)
        cut = cut or len(ordered) > self._rows
        return Page(tuple(ordered[: self._rows]), cut)


def _checked_id(id: str) -> str:
    """Return the id that answers have for it; a blank node may be named by the IRI it is stored under."""
    blank = id.removeprefix(patterns.BLANK_NAMESPACE)
    return Entity(f"_:{blank}" if blank != id else id).id


def _without_terms(mentions: Iterable[Mention], terms: Collection[str]) -> list[Mention]:
    """Leave out what only describes the graph: its classes, relations and the like."""
    left = (replace(m, matches=tuple(x for x in m.matches if x.entity.id not in terms)) for m in mentions)
    return [mention for mention in left if mention.matches]


def _starts_by_hop(steps: Sequence[tuple[str, Hop]]) -> dict[Hop, list[str]]:
    """Return the entities that each hop is followed from."""
    starts: dict[Hop, list[str]] = {}
    for id, hop in steps:
        starts.setdefault(hop, []).append(id)
    return starts
