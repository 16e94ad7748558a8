"""Knowledge-graph access as LangChain tools: the only way a node reaches a graph.

Each tool returns text for a model to read and, as its artifact, the typed answer. Hand
`make_tools(graph)` to any tool-calling agent.
"""

from langchain_core.tools import BaseTool

from kgqa.kg.graph import KnowledgeGraph
from kgqa.tools.chains import chain_tools, relation_tools, schema_tool
from kgqa.tools.conditions import filter_tool
from kgqa.tools.entities import entity_tools
from kgqa.tools.select import select_tool


def make_tools(graph: KnowledgeGraph) -> list[BaseTool]:
    """Make the tools of one graph, which work asynchronously and, by ``invoke``, from a thread that waits.

    A name that the graph does not know, or a query that is refused, becomes the tool's answer;
    a failure of the graph is raised (`KGError`).
    """
    walking = [*entity_tools(graph), *relation_tools(graph), *chain_tools(graph)]
    tools = [*walking, filter_tool(graph), schema_tool(graph), select_tool(graph)]
    for tool in tools:
        tool.handle_tool_error = True
    return tools


__all__ = ["make_tools"]
