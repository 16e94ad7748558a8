"""What a simulated model looks up in a graph: relations and ids that files name, and answers, once each.

A relation is named by its IRI, its local name, or a prefixed name such as ``wdt:P112``; ``^``
in front is against the arrow. A ``*`` at the end, which says that a relation may be repeated,
is not looked at.

>>> is_hop_named(Hop("http://www.wikidata.org/prop/direct/P22", forward=False), "^wdt:P22")
True
"""

from collections.abc import Awaitable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from kgqa.kg.dialects import Dialect, detect_dialect, dialect_named, entity_iri
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Proof
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.sparql.parsing import PREFIXES
from kgqa.kg.terms import Chain, Entity, Hop, Path, Term, Triple, is_iri, local_name

T = TypeVar("T")

GoldRelations: TypeAlias = tuple[str, ...]  # from a topic to the gold answers, as files name them

_relations_by_name: WeakKeyDictionary[KnowledgeGraph, Mapping[str, str]] = WeakKeyDictionary()


def is_hop_named(hop: Hop, step: str) -> bool:
    """Return whether a hop is the one that a step names."""
    return hop.forward is not step.startswith("^") and _is_relation_named(hop.relation, step)


def resolve_hops(gold_path: Sequence[str], graph: KnowledgeGraph) -> tuple[Hop, ...] | None:
    """Return the hops of a graph that steps name; None if it does not have one of them."""
    dialect, known = dialect_named(graph.dialect), _relations_by_name.get(graph)
    if known is None:
        every = (*graph.relations, *dialect.types)
        by_local = {local_name(relation): relation for relation in reversed(every)}
        known = _relations_by_name[graph] = by_local | {relation: relation for relation in every}
    found = [_resolve_relation(_strip_name(step), known, dialect) for step in gold_path]
    if None in found:
        return None
    return tuple(Hop(r, not step.startswith("^")) for r, step in zip(found, gold_path, strict=True) if r)


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
    listed = next((relation for relation in meant if relation in known), None)
    return listed or known.get(name) or (meant[0] if meant and not known else None)


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


MAX_TRACED_ENDS = 8  # ends of a chain whose paths are traced at most


class GraphCache:
    """A graph that remembers what it was asked; a query that is too slow or rejected finds nothing."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.queries = 0
        self._ends: dict[Chain, tuple[Term, ...]] = {}
        self._traced: dict[Chain, tuple[Path, ...]] = {}
        self._found: dict[str, Entity | None] = {}
        self._answers: dict[AnswerQuery, tuple[Term, ...]] = {}

    async def _query(self, query: Awaitable[T], nothing: Any) -> T:
        self.queries += 1
        try:
            return await query
        except (KGTimeout, KGRejected):
            return nothing  # type: ignore[no-any-return]

    async def ends(self, chain: Chain) -> tuple[Term, ...]:
        """Return the ends of a chain, as far as the graph gives them at once."""
        if chain not in self._ends:
            page = await self._query(self.graph.follow_chain(chain), ())
            self._ends[chain] = tuple(each.term for each in page)
        return self._ends[chain]

    async def answers(self, query: AnswerQuery) -> tuple[Term, ...]:
        """Return what an answer query gives."""
        if query not in self._answers:
            proof: Proof | None = await self._query(self.graph.prove(query), None)
            self._answers[query] = proof.answers.items if proof else ()
        return self._answers[query]

    async def traced(self, chain: Chain, ends: Sequence[Term]) -> tuple[Path, ...]:
        """Return a path along a chain to each of the first ends; a chain always has the same ends."""
        if chain not in self._traced:
            found = await self._query(self.graph.trace_chain(chain, ends[:MAX_TRACED_ENDS]), [])
            self._traced[chain] = tuple(_make_path(chain, triples) for triples in found if triples)
        return self._traced[chain]

    async def hops(self, chain: Chain) -> tuple[Hop, ...]:
        """Return the hops that extend a chain."""
        return tuple(await self._query(self.graph.extend_chain(chain), ()))

    async def hops_to(self, ids: list[str]) -> frozenset[Hop]:
        """Return the hops that lead to at least one of some entities."""
        pages = await self._query(self.graph.list_relations(ids), {}) if ids else {}
        return frozenset(hop.inverse for page in pages.values() for hop in page)

    async def find(self, text: str) -> Entity | None:
        """Return the entity that has an id or a name."""
        if text not in self._found:
            matches = await self._query(self.graph.find_entities(text, limit=1), []) if text else []
            self._found[text] = matches[0].entity if matches and matches[0].sure else None
        return self._found[text]


def _make_path(chain: Chain, triples: Sequence[Triple]) -> Path:
    nodes = (t.tail if hop.forward else t.head for hop, t in zip(chain.hops, triples, strict=True))
    return Path(chain.topic, tuple(zip(chain.hops, nodes, strict=True)))
