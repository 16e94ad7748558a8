"""A plain tool-calling agent: LangChain's `create_agent` over the graph's tools.

The baseline that a user would otherwise pick. The model decides on every call; nothing of a
search is prescribed. Its answers are held against what the tools have shown, as in every method.
"""

from typing import ClassVar

from pydantic import Field

from kgqa.nodes.act import act, link_if_any
from kgqa.nodes.attest import attest
from kgqa.session.acting import Acting
from kgqa.session.context import Grounding
from kgqa.session.method import method


class Agent(Grounding):
    """The options of the agent."""

    method: ClassVar[str] = "agent"

    depth: int = Field(default=20, ge=1, le=200, description="turns of the model at most")


graph = method(Agent, {link_if_any: {"forward": act}, act: attest}, Acting)
