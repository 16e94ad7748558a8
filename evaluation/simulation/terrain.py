"""What an oracle looks up in the graph, once each."""

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop, Term


class Terrain:
    """A graph that remembers what it was asked; a query that fails finds nothing.

    A graph that cannot be reached is a `KGError` still.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self.queries = 0
        self._ends: dict[Chain, tuple[Term, ...]] = {}
        self._found: dict[str, Entity | None] = {}

    async def ends(self, chain: Chain) -> tuple[Term, ...]:
        """Give the ends of a chain, as far as the graph gives them at once."""
        if chain not in self._ends:
            self.queries += 1
            try:
                page = await self.graph.follow_chain(chain)
                self._ends[chain] = tuple(each.term for each in page)
            except (KGTimeout, KGRejected):
                self._ends[chain] = ()
        return self._ends[chain]

    async def hops(self, chain: Chain) -> tuple[Hop, ...]:
        """Give the hops that extend a chain."""
        self.queries += 1
        try:
            return (await self.graph.extend_chain(chain)).items
        except (KGTimeout, KGRejected):
            return ()

    async def hops_to(self, ids: list[str]) -> frozenset[Hop]:
        """Give the hops that lead to at least one of some entities."""
        if not ids:
            return frozenset()
        self.queries += 1
        try:
            pages = await self.graph.list_relations(ids)
        except (KGTimeout, KGRejected):
            return frozenset()
        return frozenset(hop.inverse for page in pages.values() for hop in page)

    async def find(self, text: str) -> Entity | None:
        """Give the entity that has an id or a name."""
        if text not in self._found:
            self.queries += 1
            try:
                matches = await self.graph.find_entities(text, limit=1) if text else []
                self._found[text] = matches[0].entity if matches and matches[0].sure else None
            except (KGTimeout, KGRejected):
                self._found[text] = None
        return self._found[text]
