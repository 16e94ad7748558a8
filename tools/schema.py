"""A tool that lists what relations a graph has."""

from langchain_core.tools import BaseTool, tool

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Page
from kgqa.kg.terms import Hop
from kgqa.tools.text import listing, show_hop


def schema_tool(graph: KnowledgeGraph) -> BaseTool:
    """Make list_schema for a graph."""
    hops = Page(tuple(Hop(relation, name=graph.relation_label(relation)) for relation in graph.relations))

    @tool(response_format="content_and_artifact")
    async def list_schema() -> tuple[str, Page[Hop]]:
        """List all relations of the knowledge graph, whatever entity they belong to."""
        return listing("relations in the graph", map(show_hop, hops), hops), hops

    return list_schema
