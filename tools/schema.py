"""A tool that lists what relations a graph has."""

from functools import cache

from langchain_core.tools import BaseTool

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Page
from kgqa.kg.terms import Hop, local_name
from kgqa.tools.making import graph_tool
from kgqa.tools.text import listing, show_hop

LISTED = 50_000
"""Relations that are given at most, more than any schema has: whoever asks compares each with a question."""


def schema_tool(graph: KnowledgeGraph) -> BaseTool:
    """Make list_schema for a graph."""

    @cache
    def shown() -> tuple[str, Page[Hop]]:
        first = graph.relations[:LISTED]
        hops = tuple(_hop(relation, graph.relation_label(relation)) for relation in first)
        page = Page(hops, truncated=len(first) < len(graph.relations))
        return listing("relations in the graph", map(show_hop, page), page), page

    @graph_tool
    async def list_schema() -> tuple[str, Page[Hop]]:
        """List all relations of the knowledge graph, whatever entity they belong to."""
        return shown()

    return list_schema


def _hop(relation: str, label: str) -> Hop:
    return Hop(relation, name=None if label == local_name(relation) else label)
