"""Brings what files state in several ways into one form, once a store holds it.

| what a file states | what the store holds |
|---|---|
| ``rdf:reifies`` of a triple (RDF 1.2, RDF-star) | an ``rdf:Statement`` with subject, predicate and object |
| a Wikibase statement of deprecated rank | nothing |
| a name as a node of its own (SKOS-XL) | the name, as SKOS states it, too |
| two ids with facts that are ``owl:sameAs`` | one entity: that of the first id; the link stays |
| a list or container without a name | its members, as objects of the relation |
"""

from itertools import chain
from typing import Any

import pyoxigraph as ox

from kgqa.kg.dialects import OWL, RDF, SKOS, WIKIBASE
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.store.lists import unfold_lists

_ROLES = ("subject", "predicate", "object")
_RDF = {name: ox.NamedNode(RDF + name) for name in ("reifies", "type", "Statement", *_ROLES)}
SKOS_XL = "http://www.w3.org/2008/05/skos-xl#"
_FORM = ox.NamedNode(f"{SKOS_XL}literalForm")
_SAME = ox.NamedNode(f"{OWL}sameAs")
_RANK, _DEPRECATED = ox.NamedNode(f"{WIKIBASE}rank"), ox.NamedNode(f"{WIKIBASE}DeprecatedRank")


def unify(store: ox.Store) -> None:
    """Bring the facts of a store into one form."""
    _state_reified(store)
    _remove_deprecated(store)
    _state_labels(store)
    _merge_same(store)
    unfold_lists(store)


def _state_reified(store: ox.Store) -> None:
    stated = list[ox.Quad]()
    for quad in list(store.quads_for_pattern(None, _RDF["reifies"], None)):
        if isinstance(triple := quad.object, ox.Triple):
            store.remove(quad)
            parts = {"type": _RDF["Statement"]} | {role: getattr(triple, role) for role in _ROLES}
            stated += [ox.Quad(quad.subject, _RDF[name], of, quad.graph_name) for name, of in parts.items()]
    store.bulk_extend(stated)


def _remove_deprecated(store: ox.Store) -> None:
    for ranked in list(store.quads_for_pattern(None, _RANK, _DEPRECATED)):
        for quad in list(_facts_of(store, ranked.subject)):
            store.remove(quad)


def _state_labels(store: ox.Store) -> None:
    forms: dict[Any, Any] = {form.subject: form.object for form in store.quads_for_pattern(None, _FORM, None)}
    for name in ("prefLabel", "altLabel") if forms else ():
        labelled = list(store.quads_for_pattern(None, ox.NamedNode(SKOS_XL + name), None))
        store.extend(
            ox.Quad(each.subject, ox.NamedNode(SKOS + name), forms[each.object], each.graph_name)
            for each in labelled
            if each.object in forms
        )


def _merge_same(store: ox.Store) -> None:
    """Give the facts of all ids of an entity to the first; ids that only links name stay what they are.

    So do relations.
    """
    above: dict[Any, Any] = {}

    def first(node: Any) -> Any:
        """Return the first id of an entity, to which the others are led directly from now on."""
        met = [node]
        while (node := above.get(node, node)) != met[-1]:
            met.append(node)
        above.update(dict.fromkeys(met[:-1], node))
        return node

    for quad in store.quads_for_pattern(None, _SAME, None):
        pair = quad.subject, quad.object
        if pair[0] != pair[1] and all(_is_entity(store, node) for node in pair):
            one, other = sorted(map(first, pair), key=_order)
            if one != other:
                above[other] = one
    for node in list(above):
        for quad in list(_facts_of(store, node)):
            if quad.predicate != _SAME:
                store.remove(quad)
                store.add(ox.Quad(first(quad.subject), quad.predicate, first(quad.object), quad.graph_name))


def _is_entity(store: ox.Store, node: Any) -> bool:
    """Return whether an id has facts, and is that of no relation."""
    if not isinstance(node, ox.NamedNode) or any(store.quads_for_pattern(None, node, None)):
        return False
    return any(quad.predicate != _SAME for quad in store.quads_for_pattern(node, None, None))


def _facts_of(store: ox.Store, node: Any) -> Any:
    return chain(store.quads_for_pattern(node, None, None), store.quads_for_pattern(None, None, node))


def _order(node: Any) -> tuple[bool, str]:
    return node.value.startswith(BLANK_NAMESPACE), node.value
