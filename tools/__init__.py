"""Knowledge-graph access as LangChain tools: the only way a node reaches a graph.

Each tool returns text for a model to read and, as its artifact, the typed answer. Hand
`make_tools(graph)` to any tool-calling agent.
"""

from langchain_core.tools import BaseTool

from kgqa.kg.graph import KnowledgeGraph
from kgqa.tools.chains import CHAIN_TOOLS
from kgqa.tools.conditions import filter_chain
from kgqa.tools.drafts import DraftChecker
from kgqa.tools.entities import ENTITY_TOOLS
from kgqa.tools.relations import RELATION_TOOLS, SchemaLister, list_schema
from kgqa.tools.select import run_select


def make_tools(graph: KnowledgeGraph) -> list[BaseTool]:
    """Make the tools of one graph, which work asynchronously and, by ``invoke``, from a thread that waits.

    A name that the graph does not know, or a query that is refused, becomes the tool's answer;
    a failure of the graph is raised (`KGError`).
    """
    tools = [make(graph) for make in (*ENTITY_TOOLS, *RELATION_TOOLS, *CHAIN_TOOLS, filter_chain)]
    tools += [list_schema(SchemaLister(graph)), run_select(DraftChecker(graph))]
    for tool in tools:
        tool.handle_tool_error = True
    return tools


__all__ = ["make_tools"]
