"""Relations and ids, as files name them, and the hops and entities of a graph.

A relation is named by its IRI, its local name, or a prefixed name such as ``wdt:P112``; ``^``
in front is against the arrow. A ``*`` at the end, which says that a relation may be repeated,
is not looked at.

>>> is_hop_named(Hop("http://www.wikidata.org/prop/direct/P22", forward=False), "^wdt:P22")
True
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias
from weakref import WeakKeyDictionary

from kgqa.kg.dialects import DIALECTS, Dialect, detect_dialect, entity_iri
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.sparql.parsing import PREFIXES
from kgqa.kg.terms import Hop, is_iri, local_name

GoldRelations: TypeAlias = tuple[str, ...]
"""The steps from a topic to the answers."""

_relations_by_name: WeakKeyDictionary[KnowledgeGraph, Mapping[str, str]] = WeakKeyDictionary()


def is_hop_named(hop: Hop, step: str) -> bool:
    """Return whether a hop is the one that a step names."""
    return hop.forward is not step.startswith("^") and _is_relation_named(hop.relation, step)


def name_hop(hop: Hop) -> str:
    """Name a hop as a step."""
    return hop.relation if hop.forward else f"^{hop.relation}"


def resolve_hops(way: Sequence[str], graph: KnowledgeGraph) -> tuple[Hop, ...] | None:
    """Return the hops of a graph that steps name; None if it does not have one of them."""
    known = _relations_by_name.get(graph)
    if known is None:
        by_local = {local_name(relation): relation for relation in reversed(graph.relations)}
        known = _relations_by_name[graph] = by_local | {relation: relation for relation in graph.relations}
    found = [_resolve_relation(_strip_name(step), known, DIALECTS[graph.dialect]) for step in way]
    if None in found:
        return None
    return tuple(Hop(r, not step.startswith("^")) for r, step in zip(found, way, strict=True) if r)


def resolve_iri(id: str | None) -> str | None:
    """Return the IRI that an id of a file stands for; None for a literal's value and the like.

    >>> resolve_iri("Q42"), resolve_iri("1999")
    ('http://www.wikidata.org/entity/Q42', None)
    """
    if not id:
        return None
    whole = entity_iri(id) or id
    return whole if is_iri(whole) else None


def _resolve_relation(name: str, known: Mapping[str, str], dialect: Dialect) -> str | None:
    """Return the relation of a name; where nobody has listed the graph's relations, one it may have."""
    meant = dialect.relation_iris(name)
    listed = [relation for relation in meant if relation in known]
    return next(iter(listed), None) or known.get(name) or (meant[0] if meant and not known else None)


@lru_cache(maxsize=1 << 16)
def _is_relation_named(relation: str, step: str) -> bool:
    name = _strip_name(step)
    meant = detect_dialect((relation,)).relation_iris(name)
    return relation in meant if meant else name in (relation, local_name(relation))


@lru_cache(maxsize=1 << 14)
def _strip_name(step: str) -> str:
    """Return the relation of a step: an IRI, or a local name."""
    name = step.removeprefix("^").strip().removeprefix("<").removesuffix(">").rstrip("*+?")
    prefix, colon, local = name.partition(":")
    if not colon or local.startswith("//"):
        return name
    return PREFIXES[prefix] + local if prefix in PREFIXES else local
