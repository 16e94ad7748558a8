"""Where names are looked up: in an index of all of a graph's, or by asking the graph for those at hand."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import product
from threading import Lock
from typing import Protocol

from kgqa.kg.dialects import Dialect
from kgqa.kg.graph import Executor, Row
from kgqa.kg.linking.name_index import EntityNames, NameIndex
from kgqa.kg.meter import unmetered
from kgqa.kg.naming import Naming
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.decoding import read_integer
from kgqa.kg.terms import Entity, Literal
from kgqa.kg.text import EVERYDAY_WORDS, split_words

MAX_QUESTION_WORDS = 60
MAX_MENTION_WORDS = 8  # words of a name, as long as nobody has listed them all
NAMES_PER_QUERY = 500
MAX_BEARERS_PER_QUERY = 200

MAX_DEGREE_COUNTED = 1_000
"""Triples of a node that are counted in either direction, to tell the better known of one name."""


class NameLookup(Protocol):
    """Makes an index that knows what a text may name."""

    async def index(self, text: str) -> NameIndex:
        """Return the index; ``text`` is a name or a question; raise KGError if the graph fails."""


class StoreNames:
    """The names and triples that an embedded graph has, asked for as they are needed; see `NamedGraph`."""

    def __init__(
        self, executor: Executor, dialect: Dialect, naming: Naming, relations: Collection[str]
    ) -> None:
        self._executor, self._dialect, self._naming = executor, dialect, naming
        self._relations = relations

    def degrees(self, ids: Sequence[str]) -> dict[str, int]:
        """Return how many triples some have, up to `MAX_DEGREE_COUNTED` in either direction."""
        nodes = [id for id in ids if is_node(id, self._relations, self._dialect)]
        counts: list[Row] = []
        for first in range(0, len(nodes), MAX_BEARERS_PER_QUERY):
            text = queries.degrees_of(nodes[first : first + MAX_BEARERS_PER_QUERY], MAX_DEGREE_COUNTED)
            counts += self._executor.query_now(text).rows
        return _add_counts(nodes, counts)

    def preferred(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return what some are called."""
        rows = self._executor.query_now(queries.names(ids, self._naming.labels)).rows
        named = self._naming.apply((end, label, rank) for end, label, rank in rows)
        return {end.id: end.name for end in named.values()}


def is_node(id: str, relations: Collection[str], dialect: Dialect) -> bool:
    """Return whether an id is an entity: relations are none, nor what they have their names from."""
    return id not in relations and not dialect.is_relation_entity(id)


class IndexLookup:
    """An index of all names, made when the first is looked up."""

    def __init__(self, make: Callable[[], NameIndex]) -> None:
        self._make = make
        self._made: NameIndex | None = None
        self._making = Lock()

    async def index(self, text: str) -> NameIndex:
        """Return the index, whatever the text; see `NameLookup`."""
        return await asyncio.to_thread(self._index)

    def _index(self) -> NameIndex:
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made


class QueryLookup:
    """An index of what the graph calls by one of the spans of a text, as it is written or capitalised.

    A graph that cannot be listed has no misspelt names looked up, and none of like meaning.
    """

    def __init__(
        self, executor: Executor, dialect: Dialect, naming: Naming, relations: Collection[str]
    ) -> None:
        self._executor, self._dialect, self._naming = executor, dialect, naming
        self._relations = relations

    async def index(self, text: str) -> NameIndex:
        """Ask the graph; see `NameLookup`."""
        names = [
            Literal(name, language=tag)
            for name, tag in product(spellings(text), dict.fromkeys(("", *self._dialect.languages)))
        ]
        with unmetered():
            rows = await self._called(names)
            named = self._naming.apply((end, label, rank) for end, _, label, rank in rows)
            entities = [end for end in named.values() if isinstance(end, Entity)]
            ends = [end for end in entities if is_node(end.id, self._relations, self._dialect)]
            degrees = await self._degrees(ends)
        others: dict[str, list[str]] = defaultdict(list)
        for end, name, _, _ in rows:
            if end is not None and end.id in degrees and str(name) not in others[end.id]:
                others[end.id].append(str(name))
        preferred = {end.id: end.name for end in ends if end.name}
        return await asyncio.to_thread(EntityNames(degrees, preferred, others).index)

    async def _called(self, names: Sequence[Literal]) -> list[Row]:
        predicates, labels = (*self._naming.labels, *self._naming.aliases), self._naming.labels
        if not predicates:
            return []
        texts = [
            queries.called(names[first : first + NAMES_PER_QUERY], predicates, labels, MAX_BEARERS_PER_QUERY)
            for first in range(0, len(names), NAMES_PER_QUERY)
        ]
        answers = await asyncio.gather(*map(self._executor.query, texts))
        return [row for answer in answers for row in answer.rows]

    async def _degrees(self, ends: Sequence[Entity]) -> dict[str, int]:
        """Count the triples around each, up to `MAX_DEGREE_COUNTED` in either direction."""
        if not ends:
            return {}
        ids = [end.id for end in ends]
        answer = await self._executor.query(queries.degrees_of(ids, MAX_DEGREE_COUNTED))
        return _add_counts(ids, answer.rows)


def _add_counts(ids: Sequence[str], rows: Iterable[Row]) -> dict[str, int]:
    """Add the counts of each id (`queries.degrees_of`)."""
    degrees = dict.fromkeys(ids, 0)
    for end, n in rows:
        if end is not None and end.id in degrees:
            degrees[end.id] += read_integer(n)
    return degrees


def spellings(text: str) -> list[str]:
    """Return each span of a text as names are written: as it is, capitalised, each word so, in capitals.

    >>> spellings("malta")
    ['malta', 'Malta', 'MALTA']
    """
    found: dict[str, None] = {text.strip(): None}
    listed = split_words(text, MAX_QUESTION_WORDS)
    for first in range(len(listed)):
        for last in range(first, min(first + MAX_MENTION_WORDS, len(listed))):
            span = text[listed[first].start : listed[last].end]
            if first == last and span.lower() in EVERYDAY_WORDS and span != text.strip():
                continue
            found |= dict.fromkeys(_capitalisations(span))
    return [spelling for spelling in found if spelling]


def _capitalisations(span: str) -> list[str]:
    first = span[:1].upper() + span[1:]
    each = " ".join(
        part if part in EVERYDAY_WORDS else part[:1].upper() + part[1:] for part in span.split(" ")
    )
    return [span, first, each, *([span.upper()] if len(span) <= MAX_MENTION_WORDS else [])]
