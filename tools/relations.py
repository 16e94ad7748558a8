"""Tools that walk the graph from one entity, one relation at a time."""

from langchain_core.tools import BaseTool, tool

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Page
from kgqa.kg.terms import Hop, Term
from kgqa.tools.arguments import entity_named, hop_named
from kgqa.tools.text import listing, show_hop, show_term


def relation_tools(graph: KnowledgeGraph) -> list[BaseTool]:
    """Make list_relations and follow_relation for a graph."""

    @tool(response_format="content_and_artifact", parse_docstring=True)
    async def list_relations(entity: str) -> tuple[str, Page[Hop]]:
        """List the relations of an entity. ``^`` marks those that point to it.

        Args:
            entity: the entity's id or name.
        """
        node = await entity_named(graph, entity)
        page = (await graph.list_relations([node.id]))[node.id]
        return listing(f"relations of {show_term(node)}", map(show_hop, page), page), page

    @tool(response_format="content_and_artifact", parse_docstring=True)
    async def follow_relation(entity: str, relation: str) -> tuple[str, Page[Term]]:
        """Give what an entity is related to by one relation.

        Args:
            entity: the entity's id or name.
            relation: the relation as list_relations gives it; ``^`` in front follows it backwards.
        """
        node, hop = await entity_named(graph, entity), hop_named(graph, relation)
        [page] = await graph.follow_relation([(node.id, hop)])
        return listing(f"nodes at {show_term(node)} {show_hop(hop)}", map(show_term, page), page), page

    return [list_relations, follow_relation]
