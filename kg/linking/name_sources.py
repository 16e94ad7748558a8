"""Where names are looked up: in an index of all of a graph's, or by asking the graph for those at hand."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from kgqa.kg.dialects import Dialect
from kgqa.kg.graph import Executor, Row
from kgqa.kg.languages import preferred_languages
from kgqa.kg.linking.name_index import EntityNames, NameIndex
from kgqa.kg.linking.name_table import NameTable
from kgqa.kg.linking.search import TextSearch
from kgqa.kg.linking.short_names import full_names
from kgqa.kg.meter import unmetered
from kgqa.kg.naming import Naming
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.decoding import is_true, read_integer
from kgqa.kg.sparql.derived import some_values
from kgqa.kg.terms import Entity, Hop, Literal, is_iri, node_id
from kgqa.kg.text import EVERYDAY_WORDS, fold, split_words
from kgqa.locks import ProcessLock

MAX_QUESTION_WORDS = 60
MAX_MENTION_WORDS = 8  # words of a name, as long as nobody has listed them all
NAMES_PER_QUERY = 500
MAX_BEARERS_PER_QUERY = 200

MAX_FACTS_COUNTED = 1_000
"""Triples of a node that are counted in either direction, to tell the better known of one name."""

NODES_PER_QUERY = 50  # whose facts are counted by one query


class NameLookup(Protocol):
    """Makes an index that knows what a text may name."""

    async def index(self, text: str) -> NameIndex:
        """Return the index; ``text`` is a name or a question; raise KGError if the graph fails."""

    async def values(self) -> NameIndex | None:
        """Return an index of the values that a question may name; None where they are not listed."""


def list_all_names(
    executor: Executor, dialect: Dialect, naming: Naming, relations: Collection[str]
) -> NameIndex:
    """List the names of a graph at an endpoint, which are few; blocks meanwhile."""
    named: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    pairs: list[tuple[str, str]] = []
    for rank, predicate in enumerate((*naming.labels, *naming.aliases)):
        for name, end in _names_by(executor, predicate):
            if isinstance(end, Entity) and isinstance(name, Literal) and is_node(end.id, relations, dialect):
                pairs.append((end.id, name.value))
                if rank < len(naming.labels):
                    named[end.id].append((rank, name.language, name.value))
    graph = ListedNames(executor, dialect, naming, relations, named)
    return NameIndex(NameTable.build(pairs, graph.facts), graph)


def _names_by(executor: Executor, predicate: str) -> list[Row]:
    """Ask for all names by one predicate, and for parts of them where the server cuts the answer."""
    whole = executor.query_now(queries.all_names(predicate))
    rows, prefixes = whole.rows, list("0123456789abcdef") if whole.cut else []
    if whole.cut:
        rows = []
    while prefixes:
        prefix = prefixes.pop()
        part = executor.query_now(queries.names_hashed(predicate, prefix))
        if part.cut:
            prefixes += [prefix + digit for digit in "0123456789abcdef"]
        else:
            rows += part.rows
    return rows


@dataclass(eq=False)
class StoreNames:
    """The names and triples that an embedded graph has, asked for as they are needed; see `NamedGraph`."""

    executor: Executor
    dialect: Dialect
    naming: Naming
    relations: Collection[str]

    def facts(self, ids: Sequence[str]) -> dict[str, dict[Hop, int]]:
        """Count the facts of some by their relations; see `NamedGraph`."""
        nodes = [id for id in ids if is_node(id, self.relations, self.dialect)]
        rows = [row for text in _count_facts(nodes) for row in self.executor.query_now(text).rows]
        return read_facts(nodes, rows, self.dialect)

    def preferred(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return what some are called."""
        rows = self.executor.query_now(queries.names(ids, self.naming.labels)).rows
        named = self.naming.apply((end, label, rank) for end, label, rank in rows)
        return {node_id(end): end.name for end in named.values()}


def _count_facts(ids: Sequence[str]) -> list[str]:
    parts = (ids[first : first + NODES_PER_QUERY] for first in range(0, len(ids), NODES_PER_QUERY))
    return [queries.count_relations(part, MAX_FACTS_COUNTED) for part in parts]


@dataclass(eq=False)
class ListedNames(StoreNames):
    """The same of an endpoint whose names were listed: what entities are called is at hand."""

    names: Mapping[str, Sequence[tuple[int, str, str]]]

    def preferred(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return what some are called."""
        return {id: self.naming.name(id, self.names.get(id, ())) for id in ids}


def is_node(id: str, relations: Collection[str], dialect: Dialect) -> bool:
    """Return whether an id is an entity: relations are none, nor what they have their names from."""
    is_relation = id in relations or some_values(id) in relations
    return not is_relation and not dialect.is_relation_entity(id)


def read_facts(ids: Iterable[str], rows: Iterable[Row], dialect: Dialect) -> dict[str, dict[Hop, int]]:
    """Read the facts of the world of those ids that have triples (`queries.count_relations`).

    A class has none: names and types say nothing of it, nor that others are of it.
    """
    wanted = set(ids)
    facts: dict[str, dict[Hop, int]] = defaultdict(dict)
    for end, relation, forward, n in rows:
        if end is not None and relation is not None and node_id(end) in wanted and is_iri(relation.id):
            hop, _ = Hop(relation.id, is_true(forward)), facts[node_id(end)]
            if not (
                relation.id in dialect.types or dialect.ignores(relation.id) or dialect.describes_data(hop)
            ):
                facts[node_id(end)][hop] = read_integer(n)
    return dict(facts)


class IndexLookup:
    """An index of all names, and one of values if there is any, made when the first is looked up."""

    def __init__(self, make: Callable[[], NameIndex], make_values: Callable[[], NameIndex | None]) -> None:
        self._make, self._make_values = make, make_values
        self._made: tuple[NameIndex, NameIndex | None] | None = None
        self._making = ProcessLock()

    async def index(self, text: str) -> NameIndex:
        """Return the index, whatever the text; see `NameLookup`."""
        return (await self._indexes())[0]

    async def values(self) -> NameIndex | None:
        """Return the index of values; see `NameLookup`."""
        return (await self._indexes())[1]

    async def _indexes(self) -> tuple[NameIndex, NameIndex | None]:
        made = self._made
        return await asyncio.to_thread(self._make_once) if made is None else made

    def _make_once(self) -> tuple[NameIndex, NameIndex | None]:
        with self._making:
            if self._made is None:
                self._made = self._make(), self._make_values()
            return self._made


@dataclass(eq=False)
class QueryLookup(StoreNames):
    """An index of what the graph calls by one of the spans of a text, as it is written or capitalised.

    Where the endpoint has a full-text index, so are longer names that hold words of the text; else a graph
    that cannot be listed has none of these looked up, and no misspelt ones.
    """

    search: TextSearch | None = None

    async def index(self, text: str) -> NameIndex:
        """Ask the graph; see `NameLookup`."""
        tags = preferred_languages(self.dialect.languages)
        names = [
            Literal(name, language=tag) for name, tag in product(spellings(text), dict.fromkeys(("", *tags)))
        ]
        with unmetered():
            rows = await self._called(names)
            rows += await self.search.names(text) if self.search else []
            named = self.naming.apply((end, label, rank) for end, _, label, rank in rows)
            entities = [end for end in named.values() if isinstance(end, Entity)]
            ends = [end for end in entities if is_node(end.id, self.relations, self.dialect)]
            ids = [end.id for end in ends]
            counted = await self._ask(_count_facts(ids))
        facts = read_facts(ids, counted, self.dialect)
        others: dict[str, list[str]] = defaultdict(list)
        for end, name, _, _ in rows:
            if end is not None and end.id in facts and str(name) not in others[end.id]:
                others[end.id].append(str(name))
        preferred = {end.id: end.name for end in ends if end.name}
        return await asyncio.to_thread(EntityNames(facts, preferred, others).index)

    async def values(self) -> None:
        """Return nothing: to look for all texts of a question by any relation takes too long."""

    async def _called(self, names: Sequence[Literal]) -> list[Row]:
        predicates, labels = (*self.naming.labels, *self.naming.aliases), self.naming.labels
        if not predicates:
            return []
        texts = [
            queries.called(names[first : first + NAMES_PER_QUERY], predicates, labels, MAX_BEARERS_PER_QUERY)
            for first in range(0, len(names), NAMES_PER_QUERY)
        ]
        return await self._ask(texts)

    async def _ask(self, texts: Sequence[str]) -> list[Row]:
        answers = await asyncio.gather(*map(self.executor.query, texts))
        return [row for answer in answers for row in answer.rows]


def spellings(text: str) -> list[str]:
    """Return each span of a text as names are written: as it is, capitalised, each word so, in capitals.

    >>> spellings("malta")
    ['malta', 'Malta', 'MALTA']
    >>> "United States Senate" in spellings("us senate")
    True
    """
    found: dict[str, None] = {text.strip(): None}
    listed = split_words(text, MAX_QUESTION_WORDS)
    for first in range(len(listed)):
        for last in range(first, min(first + MAX_MENTION_WORDS, len(listed))):
            span = text[listed[first].start : listed[last].end]
            if first == last and span.lower() in EVERYDAY_WORDS and span != text.strip():
                continue
            for name in (span, *full_names(fold(span))):
                found |= dict.fromkeys(_capitalisations(name))
    return [spelling for spelling in found if spelling]


def _capitalisations(span: str) -> list[str]:
    first = span[:1].upper() + span[1:]
    each = " ".join(
        part if part in EVERYDAY_WORDS else part[:1].upper() + part[1:] for part in span.split(" ")
    )
    return [span, first, each, *([span.upper()] if len(span) <= MAX_MENTION_WORDS else [])]
