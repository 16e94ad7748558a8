"""What an oracle looks up in the graph, once each."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop, Path, Term, Triple

MAX_TRACED_ENDS = 8
"""Ends of a chain whose paths are traced at most."""


class GraphCache:
    """A graph that remembers what it was asked; a query that fails finds nothing.

    A graph that cannot be reached is a `KGError` still.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.queries = 0
        self._ends: dict[Chain, tuple[Term, ...]] = {}
        self._traced: dict[Chain, tuple[Path, ...]] = {}
        self._found: dict[str, Entity | None] = {}

    async def ends(self, chain: Chain) -> tuple[Term, ...]:
        """Return the ends of a chain, as far as the graph gives them at once."""
        if chain not in self._ends:
            self.queries += 1
            try:
                page = await self.graph.follow_chain(chain)
                self._ends[chain] = tuple(each.term for each in page)
            except (KGTimeout, KGRejected):
                self._ends[chain] = ()
        return self._ends[chain]

    async def traced(self, chain: Chain, ends: Sequence[Term]) -> tuple[Path, ...]:
        """Return a path along a chain to each of the first ends; the same chain has the same ends each time."""
        if chain not in self._traced:
            self.queries += 1
            try:
                found = await self.graph.trace_chain(chain, ends[:MAX_TRACED_ENDS])
            except (KGTimeout, KGRejected):
                found = []
            self._traced[chain] = tuple(_path_of_facts(chain, triples) for triples in found if triples)
        return self._traced[chain]

    async def hops(self, chain: Chain) -> tuple[Hop, ...]:
        """Return the hops that extend a chain."""
        self.queries += 1
        try:
            return (await self.graph.extend_chain(chain)).items
        except (KGTimeout, KGRejected):
            return ()

    async def hops_to(self, ids: list[str]) -> frozenset[Hop]:
        """Return the hops that lead to at least one of some entities."""
        if not ids:
            return frozenset()
        self.queries += 1
        try:
            pages = await self.graph.list_relations(ids)
        except (KGTimeout, KGRejected):
            return frozenset()
        return frozenset(hop.inverse for page in pages.values() for hop in page)

    async def find(self, text: str) -> Entity | None:
        """Return the entity that has an id or a name."""
        if text not in self._found:
            self.queries += 1
            try:
                matches = await self.graph.find_entities(text, limit=1) if text else []
                self._found[text] = matches[0].entity if matches and matches[0].sure else None
            except (KGTimeout, KGRejected):
                self._found[text] = None
        return self._found[text]


def _path_of_facts(chain: Chain, triples: Sequence[Triple]) -> Path:
    """Return the path that facts along a chain make."""
    nodes = (t.tail if hop.forward else t.head for hop, t in zip(chain.hops, triples, strict=True))
    return Path(chain.topic, tuple(zip(chain.hops, nodes, strict=True)))
