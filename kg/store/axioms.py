"""Reads the axioms of an ontology or a thesaurus as facts, which searches walk (`kg/sparql/derived.py`)."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import pyoxigraph as ox

from kgqa.kg.dialects import LOCAL_NAME, OWL, PLAIN, RDF, RDFS, SKOS
from kgqa.kg.profile.terminology import CLASSES, is_terminology_only
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.derived import DERIVED_GRAPH, SUBCLASS, THESAURUS, some_values
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.store.loading import fill_store
from kgqa.kg.terms import Hop, is_iri, local_name
from kgqa.kg.text import in_words

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


def _solutions(store: ox.Store, query: str) -> Iterator[tuple[Any, ...]]:
    answer = store.query(query, use_default_graph_as_union=True)
    assert isinstance(answer, ox.QuerySolutions)  # noqa: S101
    yield from map(tuple, answer)
