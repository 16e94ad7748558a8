"""What is known of a graph as a whole, counted and listed once when it is loaded; what its axioms say.

The store answers without Python's lock, so that two of these functions may run beside each other.
"""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import IO, Any

import pyoxigraph as ox

from kgqa.kg.dialects import DIALECTS, LOCAL_NAME, OWL, PLAIN, RDF, RDFS, SKOS, Dialect
from kgqa.kg.graph import GraphFacts
from kgqa.kg.linking.lookup import is_node
from kgqa.kg.linking.name_index import NamedGraph
from kgqa.kg.linking.spoken_values import spoken_texts
from kgqa.kg.naming import Naming
from kgqa.kg.profile.profile import CLASSES, is_terminology_only
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.derived import DERIVED_GRAPH, SUBCLASS, THESAURUS, in_words, some_values
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.store.loading import fill_store
from kgqa.kg.terms import Hop, Literal, is_iri, local_name, value_node

VALUES_SAMPLED = 1_000  # of a relation, by which it is told whether it has texts

MAX_VALUES_OF_RELATION, MAX_VALUES = 1_000_000, 2_000_000
"""Values that are indexed, of a relation and in all: of relations that have more, none."""

MAX_TRIPLES_SURVEYED = 500_000  # up to which entities are counted: it takes a third of the time to load

FACTS_SAMPLED = 100  # of a relation, by which it is seen which others state the same the other way round
MIN_SHARE_SAMPLED = 0.05  # of these, that another relation states, to count how many it states of all

csv.field_size_limit((1 << 31) - 1)

NAME_PREDICATES = tuple(
    dict.fromkeys(each for dialect in DIALECTS.values() for each in (*dialect.labels, *dialect.aliases))
)
"""All by which a dialect names things."""

PREDICATE_MARK = "predicate"  # which is no IRI


def count_predicates(store: ox.Store) -> dict[str, int]:
    """Count the triples of each predicate; one in two named graphs counts twice."""
    return dict(sorted((each.value, int(n.value)) for each, n in _solutions(store, queries.predicates())))


def write_names(store: ox.Store, file: IO[bytes], predicates: Iterable[str] = NAME_PREDICATES) -> None:
    """Write all that may be a name, as CSV: for each predicate a line that says so, a head, names and ids."""
    for predicate in predicates:
        file.write(f"{predicate},{PREDICATE_MARK}\r\n".encode())
        _ask(store, queries.all_names(predicate)).serialize(file, ox.QueryResultsFormat.CSV)


def read_names(
    written: IO[bytes], store: ox.Store, facts: GraphFacts, dialect: Dialect, terms: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Return the (id, name) pairs of a graph, of which `write_names` has written those that it states.

    Relations are no entities, nor are the entities that they have their names from, nor ``terms``. Of a large
    graph with labels, nodes without one are not looked for: it takes longer than all else.
    """
    naming = Naming(dialect, facts.predicates)
    for id, name in _stated_names(written, naming):
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


def _stated_names(written: IO[bytes], naming: Naming) -> Iterator[tuple[str, str]]:
    """Read names; those that stand in two parts are put together."""
    written.seek(0)
    predicate, given = "", dict[str, str]()
    with io.TextIOWrapper(written, encoding="utf-8", newline="") as lines:
        for name, *parts in csv.reader(lines):
            iri = ",".join(parts)  # pyoxigraph puts no quotes around IRIs
            if iri == PREDICATE_MARK:
                predicate = name
            elif ":" not in iri:  # a head
                continue
            elif predicate in naming.family:
                given[_term_id(iri)] = name
            elif predicate in naming.family.values():
                id = _term_id(iri)
                yield id, f"{given.pop(id)} {name}" if id in given else name
            elif predicate in (*naming.labels, *naming.aliases):
                yield _term_id(iri), name
    yield from given.items()


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


MAX_CLOSURE_PAIRS = 1_000_000
"""Pairs up to which a closure is stored: those of 40,000 classes are some 600,000."""

_HIERARCHIES = {
    (SUBCLASS,): (f"{RDFS}subClassOf", f"{OWL}equivalentClass"),
    THESAURUS: (f"{SKOS}broader", f"{SKOS}narrower"),
}
"""Relations that are derived, and those that state them."""


def derive_facts(store: ox.Store) -> None:
    """Add to a store what axioms say of classes and concepts, where it holds little else."""
    stated = [each for each, by in _HIERARCHIES.items() if any(_is_used(store, relation) for relation in by)]
    closures = [*chain(*stated)]
    if not closures:
        return
    counted = {kind.value: int(n.value) for kind, n in _solutions(store, queries.count_types())}
    if not is_terminology_only(counted):
        return
    restricted = [each.value for (each,) in _solutions(store, queries.restricted_properties())]
    relations = [*closures, *(some_values(iri) for iri in restricted if _is_named(iri))]
    facts = [list(_read(store, relation)) for relation in relations]
    fill_store(store, chain(*facts, list(_local_names(store))))


def _read(store: ox.Store, relation: str) -> Iterator[ox.Quad]:
    """Yield what a relation derives; nothing where that is more than is stored."""
    pairs = _solutions(store, queries.facts_stated(Hop(relation)))
    kept = list(islice(pairs, MAX_CLOSURE_PAIRS + 1))
    for start, end in kept if len(kept) <= MAX_CLOSURE_PAIRS else ():
        yield _derived(start, relation, end)


def _local_names(store: ox.Store) -> Iterator[ox.Quad]:
    """Yield the names that IRIs give to classes and concepts without one in English."""
    for node in {quad.subject for kind in CLASSES for quad in _quads(store, None, f"{RDF}type", kind)}:
        labels = (quad.object for label in PLAIN.labels for quad in _quads(store, node, label))
        if isinstance(node, ox.NamedNode) and _is_named(node.value) and not any(map(_is_english, labels)):
            name = in_words(local_name(node.value))
            if not any(map(str.isdigit, name)):
                yield _derived(node, LOCAL_NAME, ox.Literal(name))


def _is_english(label: Any) -> bool:
    return isinstance(label, ox.Literal) and (label.language or "en").lower().split("-")[0] == "en"


def _is_named(iri: str) -> bool:
    return is_iri(iri) and not iri.startswith(BLANK_NAMESPACE)


def _is_used(store: ox.Store, relation: str) -> bool:
    return next(_quads(store, None, relation), None) is not None


def _quads(store: ox.Store, subject: Any, predicate: str, object_: str | None = None) -> Iterator[ox.Quad]:
    value = None if object_ is None else ox.NamedNode(object_)
    return iter(store.quads_for_pattern(subject, ox.NamedNode(predicate), value))


def _derived(subject: Any, relation: str, value: Any) -> ox.Quad:
    return ox.Quad(subject, ox.NamedNode(relation), value, ox.NamedNode(DERIVED_GRAPH))
