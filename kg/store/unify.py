"""Brings what files state in several ways into one form, once a store holds it.

| what a file states | what the store holds |
|---|---|
| ``rdf:reifies`` of a triple (RDF 1.2, RDF-star) | an ``rdf:Statement`` with subject, predicate and object |
| a Wikibase statement of deprecated rank | nothing |
| a name as a node of its own (SKOS-XL) | the name, as SKOS states it, too |
| two ids with facts that are ``owl:sameAs`` | one entity: that of the first id; the link stays |
| a list or container without a name | its members, as objects of the relation |
"""

import re
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import pyoxigraph as ox

from kgqa.kg.dialects import OWL, RDF, RDFS, SKOS, WIKIBASE
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE

MAX_ADDED_FACTS = 1_000_000
"""Facts that lists may become; where they are more, all stay lists. A list of more stays one."""

_TYPE, _REST, _NIL = (ox.NamedNode(RDF + name) for name in ("type", "rest", "nil"))
_CONTAINERS = [ox.NamedNode(RDF + name) for name in ("Seq", "Bag", "Alt")]
_MEMBER = re.compile(rf"{re.escape(RDF)}(?:first|_[1-9][0-9]*)")
_AXIOMS = (RDF, RDFS, OWL, "http://www.w3.org/ns/shacl#", "http://www.w3.org/2003/11/swrl#")
"""Namespaces of relations that mean a list as it is."""


def unfold_lists(store: ox.Store) -> None:
    """Give relations the members of lists and containers without a name, of lists in them, too.

    The order of members is lost. A list that branches stays one.
    """
    links = list(islice(_links(store), MAX_ADDED_FACTS + 1))
    if len(links) > MAX_ADDED_FACTS:
        return
    waiting, added = deque(links), dict[ox.Quad, None]()
    members: dict[Any, list[Any] | None] = {}
    while waiting and len(added) < MAX_ADDED_FACTS:
        subject, relation, head, graph = waiting.popleft()
        if head not in members:
            members[head] = _members(store, head)
        found = (ox.Quad(subject, relation, each, graph) for each in members[head] or ())
        fresh = dict.fromkeys(quad for quad in found if quad not in added)
        added |= fresh
        waiting += [quad for quad in fresh if _is_list(store, quad.object)]
    if not waiting:
        unfolded = {head for head, found in members.items() if found is not None}
        store.bulk_extend(quad for quad in added if quad.object not in unfolded)
        for link in links:
            if link.object in unfolded:
                store.remove(link)
        _remove_unused(store, [link.object for link in (*links, *added) if link.object in unfolded])


def _links(store: ox.Store) -> Iterator[ox.Quad]:
    """Yield the facts that lead to lists and containers, but those of axioms."""
    lists = (quad.subject for quad in store.quads_for_pattern(None, _REST, None))
    typed = (store.quads_for_pattern(None, _TYPE, kind) for kind in _CONTAINERS)
    for node in chain([_NIL], lists, (quad.subject for quads in typed for quad in quads)):
        if _is_list(store, node):
            for quad in store.quads_for_pattern(None, None, node):
                if not quad.predicate.value.startswith(_AXIOMS):
                    yield quad


def _is_list(store: ox.Store, node: Any) -> bool:
    """Return whether a node has no name and is nothing but the beginning of a list, or a container."""
    if not isinstance(node, ox.NamedNode) or not node.value.startswith(BLANK_NAMESPACE):
        return bool(node == _NIL)
    kinds = ((_REST, None), *((_TYPE, kind) for kind in _CONTAINERS))
    return (
        not any(store.quads_for_pattern(None, _REST, node))
        and any(any(store.quads_for_pattern(node, *kind)) for kind in kinds)
        and all(quad.predicate.value.startswith(RDF) for quad in store.quads_for_pattern(node, None, None))
    )


def _members(store: ox.Store, head: Any) -> list[Any] | None:
    """Return what a list or container has; None for one that branches, or has too much."""
    members: list[Any] = []
    for part in _parts(store, head):
        facts = store.quads_for_pattern(part, None, None)
        found = (quad.object for quad in facts if _MEMBER.fullmatch(quad.predicate.value))
        members += islice(found, MAX_ADDED_FACTS + 1)
        if len(members) > MAX_ADDED_FACTS or len(_rests(store, part)) > 1:
            return None
    return members


def _rests(store: ox.Store, node: Any) -> set[Any]:
    return {quad.object for quad in store.quads_for_pattern(node, _REST, None)}


def _parts(store: ox.Store, node: Any) -> Iterator[Any]:
    """Yield the nodes of a list, once each, or a container."""
    passed = {_NIL}
    while node not in passed:
        yield node
        passed.add(node)
        node = next(iter(_rests(store, node)), _NIL)


def _remove_unused(store: ox.Store, heads: list[Any]) -> None:
    """Remove lists that nothing leads to any more; those that hold others come first."""
    for head in dict.fromkeys(heads):
        if head != _NIL and next(store.quads_for_pattern(None, None, head), None) is None:
            for part in list(_parts(store, head)):
                for quad in list(store.quads_for_pattern(part, None, None)):
                    store.remove(quad)


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
