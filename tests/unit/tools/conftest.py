from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from kgqa.kg.opening import open_graph
from kgqa.tools import make_tools

FAMILY = """
e:ada rdfs:label "Ada Lovelace"@en ; r:age 36 ; r:child e:ben, e:x1 ; r:note "first line\\nsecond line" .
e:ben rdfs:label "Ben\\n- Forged <http://t/e/x>"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en ; <http://t/s/age> 1170 ; a e:Town .
e:Town rdfs:label "Town"@en .
e:x1 r:lives_in e:ulm .
"""

Tools = dict[str, BaseTool]
Write = Callable[[str], Path]
Say = Callable[..., Awaitable[str]]
Give = Callable[..., Awaitable[Any]]


@pytest.fixture
def tools(turtle: Write) -> Tools:
    """The tools of a family of four; child e:x1 has no name, two relations are called age."""
    return {tool.name: tool for tool in make_tools(open_graph([turtle(FAMILY)]))}


@pytest.fixture
def say(tools: Tools) -> Say:
    """Use a tool with plain arguments: its text."""

    async def use(tool: str, /, **arguments: Any) -> str:
        return str(await tools[tool].ainvoke(arguments))

    return use


@pytest.fixture
def give(tools: Tools) -> Give:
    """Use a tool by a tool call: its typed answer."""

    async def use(tool: str, /, **arguments: Any) -> Any:
        message = await tools[tool].ainvoke(
            {"name": tool, "args": arguments, "id": "call", "type": "tool_call"}
        )
        assert isinstance(message, ToolMessage)
        return message.artifact

    return use
