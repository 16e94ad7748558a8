"""What is known of a graph as a whole: counted and listed once, when it is loaded.

The store answers without Python's lock, so that two of these functions may run beside each other.
"""

import csv
import os
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyoxigraph as ox

from kgqa.kg.dialects import Dialect
from kgqa.kg.graph import GraphFacts
from kgqa.kg.linking.name_index import NamedGraph
from kgqa.kg.linking.name_sources import is_node
from kgqa.kg.linking.values import spoken_texts
from kgqa.kg.naming import Naming
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.terms import Literal, value_node

VALUES_SAMPLED = 1_000  # of a relation, by which it is told whether it has texts

MAX_VALUES_OF_RELATION, MAX_VALUES = 1_000_000, 2_000_000
"""Values that are indexed, of a relation and in all: of relations that have more, none."""

MAX_TRIPLES_SURVEYED = 500_000  # up to which entities are counted: it takes a third of the time to load

FACTS_SAMPLED = 100  # of a relation, by which it is seen which others state the same the other way round
MIN_SHARE_SAMPLED = 0.05  # of these, that another relation states, to count how many it states of all

csv.field_size_limit((1 << 31) - 1)

PREDICATE_MARK = "predicate"  # which is no IRI


def count_predicates(store: ox.Store) -> dict[str, int]:
    """Count the triples of each predicate; one in two named graphs counts twice."""
    return dict(sorted((each.value, int(n.value)) for each, n in _solutions(store, queries.predicates())))


def read_names(
    store: ox.Store, facts: GraphFacts, dialect: Dialect, terms: Collection[str]
) -> Generator[tuple[str, str], None, None]:
    """Return the (id, name) pairs of a graph; close it, as the store goes on writing till then.

    Relations are no entities, nor are the entities that they have their names from, nor ``terms``. Of a large
    graph with labels, nodes without one are not looked for: it takes longer than all else.
    """
    naming = Naming(dialect, facts.predicates)
    for id, name in _stated_names(store, naming):
        if id not in terms and is_node(id, facts.predicates, dialect):
            yield id, name
    if naming.local or (facts.summary.by_iri and (facts.triples or 0) <= MAX_TRIPLES_SURVEYED):
        for (node,) in _solutions(store, queries.unlabelled_nodes(naming.labels)):
            id = _term_id(node.value)
            if id not in terms and is_node(id, facts.predicates, dialect) and (made := naming.name(id, ())):
                yield id, made


def read_values(store: ox.Store, facts: GraphFacts, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Return the ids and texts of the values by which nodes can be found, of the rarer relations first.

    Neither names nor what is no text or code. Relations with too many values are left out, and those by which
    there are more than `MAX_VALUES` in all.
    """
    silent = {*dialect.labels, *dialect.aliases, *dialect.types}
    seen: set[int] = set()
    for relation, _ in sorted(facts.predicates.items(), key=lambda each: (each[1], each[0])):
        if relation in silent or dialect.ignores(relation):
            continue
        if not any(_solutions(store, queries.texts(relation, 1, among=VALUES_SAMPLED))):
            continue
        found = [value for (value,) in _solutions(store, queries.texts(relation, MAX_VALUES_OF_RELATION + 1))]
        new = [each for each in found if hash(each) not in seen]
        if len(found) > MAX_VALUES_OF_RELATION or len(seen) + len(new) > MAX_VALUES:
            continue
        seen.update(map(hash, new))
        for each in new:
            value = Literal(each.value, each.datatype.value, each.language or "")
            for text in (each.value, *spoken_texts(value)):
                yield value_node(value).id, text


def _stated_names(store: ox.Store, naming: Naming) -> Iterator[tuple[str, str]]:
    """Read names; those that stand in two parts are put together."""
    predicate, given = "", dict[str, str]()
    predicates = dict.fromkeys((*naming.family, *naming.labels, *naming.aliases))  # given names come first
    with _written_names(store, predicates) as lines:
        for name, *parts in csv.reader(lines):
            iri = ",".join(parts)  # pyoxigraph puts no quotes around IRIs
            if iri == PREDICATE_MARK and not name:
                break
            if iri == PREDICATE_MARK:
                predicate = name
            elif ":" not in iri:  # a head
                continue
            elif predicate in naming.family:
                given[_term_id(iri)] = name
            elif predicate in naming.family.values():
                id = _term_id(iri)
                yield id, f"{given.pop(id)} {name}" if id in given else name
            else:
                yield _term_id(iri), name
    yield from given.items()


@contextmanager
def _written_names(store: ox.Store, predicates: Iterable[str]) -> Iterator[Iterable[str]]:
    """Yield names and ids as CSV, for each predicate a line that says so and a head, while they are written.

    What the store looks up for them takes as long as what Python makes of them.
    """
    read_end, write_end = os.pipe()

    def write() -> None:
        with open(write_end, "wb") as file:
            for predicate in predicates:
                file.write(f"{predicate},{PREDICATE_MARK}\r\n".encode())
                _ask(store, queries.all_names(predicate)).serialize(file, ox.QueryResultsFormat.CSV)
            file.write(f",{PREDICATE_MARK}\r\n".encode())  # a child forked meanwhile holds the pipe open

    with ThreadPoolExecutor(1) as aside:
        writing = aside.submit(write)
        with open(read_end, encoding="utf-8", newline="") as lines:
            yield lines
        writing.result()


def survey(store: ox.Store, facts: GraphFacts, naming: Naming, names: NamedGraph) -> GraphFacts:
    """Count what is left to count: named entities, pairs of relations, and entities if they are few."""
    named = _count(store, queries.count_labelled(naming.labels)) if naming.labels else 0
    if named:
        named -= sum(name is not None for name in names.preferred(list(facts.predicates)).values())
    facts = replace(facts, named=named, both_ways=_pair_relations(store, facts.predicates))
    if (facts.triples or 0) > MAX_TRIPLES_SURVEYED:
        return facts
    nodes = _solutions(store, queries.nodes())
    return replace(facts, entities=sum(_term_id(node.value) not in facts.predicates for (node,) in nodes))


def _pair_relations(store: ox.Store, counts: Mapping[str, int]) -> tuple[tuple[str, str, int], ...]:
    """Count the facts that two relations state in both directions, where a sample shows it."""
    pairs = set[tuple[str, str]]()
    for relation, facts in counts.items():
        least = MIN_SHARE_SAMPLED * min(facts, FACTS_SAMPLED)
        for other, n in _solutions(store, queries.relations_back(relation, FACTS_SAMPLED)):
            if int(n.value) >= least:
                fewer, more = sorted((relation, other.value), key=lambda each: (counts[each], each))
                pairs.add((fewer, more))
    counted = [(one, other, _count(store, queries.count_both_ways(one, other))) for one, other in pairs]
    return tuple(sorted([*counted, *((other, one, n) for one, other, n in counted)]))


def _count(store: ox.Store, query: str) -> int:
    return next(int(n.value) for (n,) in _solutions(store, query))


def _solutions(store: ox.Store, query: str) -> Iterator[tuple[Any, ...]]:
    yield from map(tuple, _ask(store, query))


def _ask(store: ox.Store, query: str) -> ox.QuerySolutions:
    answer = store.query(query, use_default_graph_as_union=True)
    assert isinstance(answer, ox.QuerySolutions)  # noqa: S101
    return answer


def _term_id(iri: str) -> str:
    blank = iri.removeprefix(BLANK_NAMESPACE)
    return iri if blank == iri else f"_:{blank}"
