"""Makes a tool of a function that walks one graph."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from langchain_core.tools import BaseTool, tool
from langchain_core.tools.base import ArgsSchema

from kgqa.tools.text import bounded

_schemas: dict[str, ArgsSchema | None] = {}


def graph_tool(function: Callable[..., Any]) -> BaseTool:
    """Make a tool that gives text, of a length that is bounded, and, as its artifact, the typed answer.

    What it takes is read off the signature and the docstring, at the first graph only: that
    is most of the work, and the same for all graphs.
    """

    @wraps(function)
    async def told(*given: Any, **named: Any) -> tuple[str, Any]:
        text, answer = await function(*given, **named)
        return bounded(text), answer

    name = function.__qualname__
    made: BaseTool = tool(
        response_format="content_and_artifact", parse_docstring=True, args_schema=_schemas.get(name)
    )(told)
    _schemas[name] = made.args_schema
    return made
