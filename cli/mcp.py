"""``kgqa mcp``: one graph as a server of the Model Context Protocol, over stdin and stdout."""

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli import options, output

if TYPE_CHECKING:
    from mcp.server import Server


def mcp(
    kg: options.Graph = None,
    model: options.Model = None,
    method: options.MethodName = "compose",
    prompts: options.Wordings = None,
    option: options.MethodOptions = None,
    sparql: Annotated[
        bool, typer.Option("--sparql", help="Let callers run SPARQL of their own, held to reading.")
    ] = False,
) -> None:
    """Serve a graph to an assistant (Claude, Cursor, ...) over stdin and stdout, until stdin ends.

    The assistant starts this command; see docs/mcp.md for how it is told.
    """
    if find_spec("mcp") is None:
        output.fail("the server needs the MCP SDK: pip install 'kgqa[mcp]'")
    from kgqa.api import make_context
    from kgqa.graphs import load_method
    from kgqa.runtime.resources import open_tools
    from kgqa.serving.mcp_server import make_server

    with output.errors_in_one_line(ValueError):
        answering = load_method(options.read_method(method))
        given = options.read_settings(kg, model, prompts, option)
        open_tools(make_context(answering, given))
    asyncio.run(_serve(make_server(given, method=answering, sparql=sparql)))


async def _serve(server: "Server[Any]") -> None:
    """Answer until stdin ends; whatever prints meanwhile goes to stderr."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (requests, replies):
        await server.run(requests, replies, server.create_initialization_options())
