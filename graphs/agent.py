"""A plain tool-calling agent: LangChain's `create_agent` over the graph's tools.

The baseline that a user would otherwise pick. The model decides on every call; nothing of a
search is prescribed. Its answers are held against what the tools have shown, as in every method.
"""

from typing import ClassVar

from pydantic import Field

from kgqa.nodes.agent.answer import AgentState, act, answer, link_if_any
from kgqa.nodes.claim import claim
from kgqa.runtime.context import ClaimContext
from kgqa.runtime.graph_builder import Edges, build_graph


class Agent(ClaimContext):
    """The options of the agent."""

    method: ClassVar[str] = "agent"

    depth: int = Field(default=20, ge=1, le=200, description="turns of the model at most")


EDGES: Edges = {link_if_any: {"forward": claim}, claim: {"forward": act}, act: answer}

graph = build_graph(Agent, EDGES, AgentState)
