"""Tools that walk the graph from entities, one relation at a time."""

from langchain_core.tools import BaseTool

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Page
from kgqa.kg.terms import Hop, Term
from kgqa.tools.arguments import entities_named, hop_named
from kgqa.tools.making import graph_tool
from kgqa.tools.text import RELATIONS, listing, show_hop, show_term


def relation_tools(graph: KnowledgeGraph) -> list[BaseTool]:
    """Make list_relations and follow_relation for a graph."""

    @graph_tool
    async def list_relations(entities: list[str]) -> tuple[str, dict[str, Page[Hop]]]:
        """List the relations of each of some entities. ``^`` marks those that point to it.

        Args:
            entities: the entities' ids or names.
        """
        nodes = await entities_named(graph, entities)
        pages = await graph.list_relations([node.id for node in nodes])
        shown = {node.id: show_term(node) for node in nodes}
        listings = (
            listing(f"relations of {shown[id]}", map(show_hop, page), page, RELATIONS)
            for id, page in pages.items()
        )
        return "\n".join(listings) or "no entity was named", pages

    @graph_tool
    async def follow_relation(entities: list[str], relation: str) -> tuple[str, list[Page[Term]]]:
        """Give what each of some entities is related to by one relation.

        Args:
            entities: the entities' ids or names.
            relation: the relation as list_relations gives it; ``^`` in front follows it backwards.
        """
        nodes, hop = await entities_named(graph, entities), hop_named(graph, relation)
        pages = await graph.follow_relation([(node.id, hop) for node in nodes])
        listings = (
            listing(f"nodes at {show_term(node)} {show_hop(hop)}", map(show_term, page), page)
            for node, page in zip(nodes, pages, strict=True)
        )
        return "\n".join(listings) or "no entity was named", pages

    return [list_relations, follow_relation]
