"""Unfolds lists and containers of RDF, which search would take for nodes of their own."""

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

import pyoxigraph as ox

from kgqa.kg.dialects import OWL, RDF, RDFS
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE

MAX_ADDED_FACTS = 1_000_000
"""Facts that lists may become; where they are more, all stay lists."""

_TYPE, _REST, _NIL = (ox.NamedNode(RDF + name) for name in ("type", "rest", "nil"))
_CONTAINERS = [ox.NamedNode(RDF + name) for name in ("Seq", "Bag", "Alt")]
_MEMBER = re.compile(rf"{re.escape(RDF)}(?:first|_[1-9][0-9]*)")
_AXIOMS = (RDF, RDFS, OWL, "http://www.w3.org/ns/shacl#")
"""Namespaces of relations that mean a list as it is."""


def unfold_lists(store: ox.Store) -> None:
    """Give relations the members of lists and containers without a name, of lists in them, too.

    The order of members is lost.
    """
    members = {head: list(_members(store, head)) for head in _heads(store)} | {_NIL: []}
    links = [
        quad
        for head in members
        for quad in store.quads_for_pattern(None, None, head)
        if not quad.predicate.value.startswith(_AXIOMS)
    ]
    waiting, added = deque(links), dict[ox.Quad, None]()
    while waiting and len(added) < MAX_ADDED_FACTS:
        link = waiting.popleft()
        subject, relation, head, graph = link
        found = (ox.Quad(subject, relation, each, graph) for each in members[head])
        fresh = dict.fromkeys(quad for quad in found if quad not in added)
        added |= fresh
        waiting += [quad for quad in fresh if quad.object in members]
    if not waiting:
        store.bulk_extend(quad for quad in added if quad.object not in members)
        for link in links:
            store.remove(link)
        _remove_unused(store, [link.object for link in (*links, *added) if link.object in members])


def _heads(store: ox.Store) -> list[Any]:
    """Return the nameless nodes that are nothing but the beginning of a list, or a container."""
    rests = {quad.object for quad in store.quads_for_pattern(None, _REST, None)}
    lists = {quad.subject for quad in store.quads_for_pattern(None, _REST, None)} - rests
    typed = (store.quads_for_pattern(None, _TYPE, kind) for kind in _CONTAINERS)
    found = sorted(lists | {quad.subject for quads in typed for quad in quads}, key=str)
    return [
        node
        for node in found
        if isinstance(node, ox.NamedNode)
        and node.value.startswith(BLANK_NAMESPACE)
        and all(quad.predicate.value.startswith(RDF) for quad in store.quads_for_pattern(node, None, None))
    ]


def _members(store: ox.Store, head: Any) -> Iterator[Any]:
    for part in _parts(store, head):
        for quad in store.quads_for_pattern(part, None, None):
            if _MEMBER.fullmatch(quad.predicate.value):
                yield quad.object


def _parts(store: ox.Store, node: Any) -> Iterator[Any]:
    """Yield the nodes of a list, once each, or a container."""
    passed = {_NIL}
    while node not in passed:
        yield node
        passed.add(node)
        node = next((quad.object for quad in store.quads_for_pattern(node, _REST, None)), _NIL)


def _remove_unused(store: ox.Store, heads: list[Any]) -> None:
    """Remove lists that nothing leads to any more; those that hold others come first."""
    for head in dict.fromkeys(heads):
        if head != _NIL and next(store.quads_for_pattern(None, None, head), None) is None:
            for part in list(_parts(store, head)):
                for quad in list(store.quads_for_pattern(part, None, None)):
                    store.remove(quad)
