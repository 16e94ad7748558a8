"""Brings what files state in several ways into one form, once a store holds it.

| what a file states | what the store holds |
|---|---|
| ``rdf:reifies`` of a triple (RDF 1.2, RDF-star) | an ``rdf:Statement`` with subject, predicate and object |
| a Wikibase statement of deprecated rank | nothing |
| two ids with facts that are ``owl:sameAs`` | one entity: that of the first id; the link stays |
"""

from itertools import chain
from typing import Any

import pyoxigraph as ox

from kgqa.kg.dialects import OWL, RDF
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.sparql.text_search import WIKIBASE

_RDF = {
    name: ox.NamedNode(RDF + name)
    for name in ("reifies", "type", "Statement", "subject", "predicate", "object")
}
_SAME = ox.NamedNode(f"{OWL}sameAs")
_RANK, _DEPRECATED = ox.NamedNode(f"{WIKIBASE}rank"), ox.NamedNode(f"{WIKIBASE}DeprecatedRank")


def unify(store: ox.Store) -> None:
    """Bring the facts of a store into one form."""
    _state_reified(store)
    _remove_deprecated(store)
    _merge_same(store)


def _state_reified(store: ox.Store) -> None:
    for quad in list(store.quads_for_pattern(None, _RDF["reifies"], None)):
        if isinstance(triple := quad.object, ox.Triple):
            store.remove(quad)
            store.add(ox.Quad(quad.subject, _RDF["type"], _RDF["Statement"], quad.graph_name))
            for role in ("subject", "predicate", "object"):
                store.add(ox.Quad(quad.subject, _RDF[role], getattr(triple, role), quad.graph_name))


def _remove_deprecated(store: ox.Store) -> None:
    for ranked in list(store.quads_for_pattern(None, _RANK, _DEPRECATED)):
        for quad in list(_facts_of(store, ranked.subject)):
            store.remove(quad)


def _merge_same(store: ox.Store) -> None:
    """Give the facts of all ids of an entity to the first; ids that only links name stay what they are."""
    same: dict[Any, set[Any]] = {}
    for quad in store.quads_for_pattern(None, _SAME, None):
        pair = (quad.subject, quad.object)
        if pair[0] != pair[1] and all(_has_facts(store, node) for node in pair):
            group = set().union(*(same.get(node, {node}) for node in pair))
            same |= dict.fromkeys(group, group)
    first = {node: min(group, key=_order) for node, group in same.items()}
    for node in (each for each in first if first[each] != each):
        for quad in list(_facts_of(store, node)):
            if quad.predicate != _SAME:
                subject, object_ = first.get(quad.subject, quad.subject), first.get(quad.object, quad.object)
                store.remove(quad)
                store.add(ox.Quad(subject, quad.predicate, object_, quad.graph_name))


def _has_facts(store: ox.Store, node: Any) -> bool:
    return isinstance(node, ox.NamedNode) and any(
        quad.predicate != _SAME for quad in store.quads_for_pattern(node, None, None)
    )


def _facts_of(store: ox.Store, node: Any) -> Any:
    return chain(store.quads_for_pattern(node, None, None), store.quads_for_pattern(None, None, node))


def _order(node: Any) -> tuple[bool, str]:
    return node.value.startswith(BLANK_NAMESPACE), node.value
