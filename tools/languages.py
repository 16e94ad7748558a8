"""A tool that tells in which languages a graph names things."""

from collections.abc import Mapping

from langchain_core.tools import BaseTool

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.languages import language_name
from kgqa.tools.text import graph_tool, listing


def language_tool(graph: KnowledgeGraph) -> BaseTool:
    """Make list_languages for a graph."""

    @graph_tool
    async def list_languages() -> tuple[str, Mapping[str, float]]:
        """List the languages that entities of the graph have their names in, the commonest first."""
        shares = await graph.name_languages()
        lines = [f"{language_name(code) or 'unknown'}: {share:.0%}" for code, share in shares.items()]
        return listing("languages", lines), shares

    return list_languages
