"""Unfolds lists and containers of RDF, which search would take for nodes of their own."""

import re
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import pyoxigraph as ox

from kgqa.kg.dialects import OWL, RDF, RDFS
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
