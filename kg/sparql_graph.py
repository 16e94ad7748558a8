"""The knowledge graph over whatever answers SPARQL: executor, dialect and name index together."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import TypeVar

from kgqa.kg import sparql
from kgqa.kg.describing import describe
from kgqa.kg.dialect import Dialect
from kgqa.kg.executor import Executor, Facts, Row
from kgqa.kg.guard import guard
from kgqa.kg.linking import Linker
from kgqa.kg.meaning import Encode
from kgqa.kg.meter import count_query
from kgqa.kg.names import NameIndex
from kgqa.kg.naming import Naming
from kgqa.kg.pages import Candidate, Description, GraphInfo, Match, Mention, Page, Table, Visit
from kgqa.kg.reading import cut_steps, integer, order, parted, path, true
from kgqa.kg.scan import Names
from kgqa.kg.terms import Chain, Entity, Hop, Term, Triple, is_id, local_name

T = TypeVar("T")

MANY = 1_000
"""From this number of rows on, naming and sorting them leaves the event loop."""


class SparqlGraph:
    """A `KnowledgeGraph` over an executor of SPARQL.

    ``names`` lists the entities' names when they are first looked up.
    """

    def __init__(
        self,
        executor: Executor,
        facts: Facts,
        dialect: Dialect,
        names: Callable[[], Names],
        *,
        rows: int,
        encode: Encode | None = None,
    ) -> None:
        self._executor = executor
        self._facts = facts
        self._dialect = dialect
        self._list_names = names
        self._rows = rows
        self._encode = encode
        self._naming = Naming(dialect, facts.predicates)
        self._relation_labels = _relation_labels(dialect, facts.predicates)
        self._index: tuple[NameIndex, Linker] | None = None
        self._indexing = Lock()
        self._info: GraphInfo | None = None

    @property
    def fingerprint(self) -> str:
        """A short hash of the graph's content."""
        return self._facts.fingerprint

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of the graph that a search may follow, sorted."""
        return tuple(r for r in sorted(self._facts.predicates) if not self._dialect.ignores(r))

    def relation_label(self, relation: str) -> str:
        """Give the relation without its namespace, or all of it where that is ambiguous."""
        return self._relation_labels.get(relation) or self._dialect.relation_label(relation)

    async def extend_chain(self, chain: Chain) -> Page[Hop]:
        """Give the hops that lead on from the end of a chain; see `KnowledgeGraph`."""
        answer = await self._executor.query(sparql.extend_chain(chain, self._rows + 1))
        return self._hops(answer.rows)

    async def follow_chain(self, chain: Chain) -> Page[Candidate]:
        """Give the terms at the end of a chain; see `KnowledgeGraph`."""
        if not chain.hops:
            name = (await self.names([chain.topic.id]))[chain.topic.id]
            return Page((Candidate(Entity(chain.topic.id, name or chain.topic.name)),))
        labels = self._naming.labels
        answer = await self._executor.query(sparql.follow_chain(chain, labels, self._rows + 1))
        if len(answer.rows) > MANY:
            return await asyncio.to_thread(self._candidates, answer.rows)
        return self._candidates(answer.rows)

    async def visit_chains(
        self, chains: Sequence[Chain], *, ends: bool = True, hops: bool = True
    ) -> list[Visit]:
        """Give the ends of several chains and what leads on from there; see `KnowledgeGraph`."""
        places = {chain: place for place, chain in enumerate(dict.fromkeys(chains))}
        if not places or not (ends or hops):
            return [Visit(Page(()), Page(())) for _ in chains]
        text = sparql.visit_chains(list(places), self._naming.labels, self._rows + 1, ends=ends, hops=hops)
        answer = await self._executor.query(text)
        parts = parted(answer, len(places))
        visits = (
            await asyncio.to_thread(self._visits, parts) if len(answer.rows) > MANY else self._visits(parts)
        )
        return [visits[places[chain]] for chain in chains]

    async def trace_chain(self, chain: Chain, ends: Sequence[Term]) -> list[tuple[Triple, ...]]:
        """Give one path to each end; see `KnowledgeGraph`."""
        if not chain.hops or not ends:
            return [() for _ in ends]
        answer = await self._executor.query(sparql.trace_chain(chain, ends, self._naming.labels))
        named = self._naming.apply((node, label, rank) for _, _, _, node, label, rank in answer.rows)
        nodes: dict[Term, dict[int, Term]] = {}
        for end, _, place, node, _, _ in answer.rows:
            if end is not None and node is not None:
                nodes.setdefault(end, {})[integer(place)] = named[node]
        return [path(chain, nodes.get(end, {})) for end in ends]

    async def list_relations(self, ids: Sequence[str]) -> dict[str, Page[Hop]]:
        """Give the hops that leave each of the entities; see `KnowledgeGraph`."""
        groups: dict[str, list[Row]] = {id: [] for id in ids}
        if not groups:
            return {}
        limit = self._rows * len(groups) + 1
        answer = await self._executor.query(sparql.list_relations(map(_checked, groups), limit))
        for end, relation, forward in answer.rows:
            if isinstance(end, Entity):
                groups[end.id].append((relation, forward))
        cut = len(answer.rows) == limit
        return {id: self._hops(rows, cut) for id, rows in groups.items()}

    async def follow_relation(self, steps: Sequence[tuple[str, Hop]]) -> list[Page[Term]]:
        """Give what each (entity id, hop) pair leads to; see `KnowledgeGraph`."""
        if not steps:
            return []
        checked = [(_checked(id), hop) for id, hop in steps]
        limit = self._rows + 1
        answer = await self._executor.query(sparql.follow_relation(checked, self._naming.labels, limit))
        named = self._naming.apply((end, label, rank) for _, end, label, rank in answer.rows)
        ends: list[dict[Term, None]] = [{} for _ in steps]
        for step, end, _, _ in answer.rows:
            if end is not None:
                ends[integer(step)][named[end]] = None
        cut = cut_steps([hop for _, hop in steps], [len(found) for found in ends], limit)
        pages = [(sorted(found, key=order), step in cut) for step, found in enumerate(ends)]
        return [Page(tuple(found[: self._rows]), cut or len(found) > self._rows) for found, cut in pages]

    async def names(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Give the preferred name of each id; see `KnowledgeGraph`."""
        if not ids:
            return {}
        answer = await self._executor.query(
            sparql.names(map(_checked, dict.fromkeys(ids)), self._naming.labels)
        )
        named = self._naming.apply((end, label, rank) for end, label, rank in answer.rows)
        return {id: _name(named.get(Entity(id))) for id in ids}

    async def find_entities(self, text: str, limit: int = 10) -> list[Match]:
        """Find entities by id or name; see `KnowledgeGraph`. An id needs no index of names."""
        text = text.strip().strip("<>")
        if is_id(text) and (found := await self._by_id(text)):
            return [found]
        if is_id(text) and "://" in text:  # no name: `Re:Zero` may be one
            return []
        return await self._look_up(lambda index, _: index.find(text, limit))

    async def _by_id(self, id: str) -> Match | None:
        answer = await self._executor.query(sparql.entity(id, self._naming.labels))
        named = self._naming.apply((end, label, rank) for end, _, label, rank in answer.rows)
        entities = [term for term in named.values() if isinstance(term, Entity)]
        return Match(entities[0], 1.0, "id") if entities else None

    async def link(self, question: str) -> list[Mention]:
        """Find the entities that a question mentions; see `KnowledgeGraph`."""
        return await self._look_up(lambda _, linker: linker.link(question))

    async def describe(self, id: str, limit: int = 50) -> Description:
        """Give aliases, types and facts of one entity: two queries; see `KnowledgeGraph`."""
        labels, dialect = self._naming.labels, self._dialect
        around = await self._executor.query(sparql.facts(_checked(id), dialect, labels, limit + 1))
        wanted = (*labels, *self._naming.aliases, *dialect.types)
        about = await self._executor.query(sparql.objects(id, wanted, labels))
        return describe(id, around.rows, about.rows, self._naming, dialect, limit, self._hop)

    async def select(self, query: str) -> Table:
        """Run a read-only SELECT or ASK; see `KnowledgeGraph`."""
        text = await asyncio.to_thread(guard, query, self._rows + 1)
        answer = await self._executor.query(text, limit=self._rows + 1, foreign=True)
        return Table(answer.columns, tuple(answer.rows[: self._rows]), len(answer.rows) > self._rows)

    async def info(self) -> GraphInfo:
        """Count triples, entities, relations and named entities: two queries, the first time."""
        if self._info is None:
            self._info = await self._counted()
        return self._info

    async def _counted(self) -> GraphInfo:
        entities, named = self._facts.entities, self._facts.named
        if entities is None or named is None:
            entities = integer((await self._executor.query(sparql.count_nodes())).rows[0][0])
            named = await self._count_named()
        counts = Counter({r: n for r, n in self._facts.predicates.items() if not self._dialect.ignores(r)})
        listed = tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        facts = self._facts
        return GraphInfo(
            facts.source, self._dialect.name, facts.triples, entities, len(listed), named, listed
        )

    async def _count_named(self) -> int:
        if not self._naming.labels:
            return 0
        return integer((await self._executor.query(sparql.count_named(self._naming.labels))).rows[0][0])

    async def _look_up(self, ask: Callable[[NameIndex, Linker], T]) -> T:
        start = time.monotonic()
        try:
            return await asyncio.to_thread(lambda: ask(*self._indexed()))
        finally:
            count_query(time.monotonic() - start)

    def _indexed(self) -> tuple[NameIndex, Linker]:
        with self._indexing:
            if self._index is None:
                index = NameIndex(self._list_names(), self._encode)
                self._index = index, Linker(index, list(map(self.relation_label, self.relations)))
            return self._index

    def _hop(self, relation: str, forward: bool) -> Hop:
        label = self.relation_label(relation)
        return Hop(relation, forward, label if label != local_name(relation) else None)

    def _visits(self, parts: Sequence[tuple[list[Row], list[Row]]]) -> list[Visit]:
        return [Visit(self._candidates(ends), self._hops(hops)) for ends, hops in parts]

    def _candidates(self, rows: Sequence[Row]) -> Page[Candidate]:
        fresh = {end: true(flag) for end, flag, _, _ in rows}
        named = self._naming.apply((end, label, rank) for end, _, label, rank in rows)
        kept = list(named.items())[: self._rows]
        found = [Candidate(term, returning=not fresh[end]) for end, term in kept]
        return Page(
            tuple(sorted(found, key=lambda candidate: order(candidate.term))), len(named) > self._rows
        )

    def _hops(self, rows: Sequence[Row], cut: bool = False) -> Page[Hop]:
        hops = {
            self._hop(relation.id, true(forward))
            for relation, forward in rows
            if isinstance(relation, Entity) and not self._dialect.ignores(relation.id)
        }
        ordered = sorted(hops, key=lambda hop: (hop.relation, not hop.forward))
        return Page(tuple(ordered[: self._rows]), cut or len(rows) > self._rows)


def _relation_labels(dialect: Dialect, relations: Iterable[str]) -> dict[str, str]:
    labels = {relation: dialect.relation_label(relation) for relation in relations}
    uses = Counter(label for relation, label in labels.items() if not dialect.ignores(relation))
    return {relation: label if uses[label] <= 1 else relation for relation, label in labels.items()}


def _checked(id: str) -> str:
    return Entity(id).id


def _name(term: Term | None) -> str | None:
    return term.name if term is not None else None
