"""kgqa as a server of the Model Context Protocol (MCP): questions, and the tools of one graph.

``kgqa mcp`` serves it over stdin and stdout, the LangGraph server at ``/mcp``.
"""

import asyncio
from collections.abc import Collection, Mapping
from importlib.metadata import version
from inspect import cleandoc
from typing import Any

from langchain_core.tools import BaseTool
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kgqa.api import extract_record, make_context, make_input
from kgqa.graphs import METHODS, context_of, graph_of
from kgqa.kg.errors import KGError
from kgqa.kg.terms import one_line
from kgqa.priors.errors import EncoderError, PriorError
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import SUMMARY, Record, summarise_record, zero_spend
from kgqa.runtime.record_text import OUTAGES, say_record
from kgqa.runtime.resources import open_tools
from kgqa.runtime.server_limits import NotServed
from kgqa.serving.request_checks import MAX_REASON_CHARS

MAX_CALLS_AT_ONCE = 10  # calls of tools that one server works on; others wait

ASK, SPARQL_TOOL = "ask", "run_select"

INSTRUCTIONS = (
    "Answers questions over a knowledge graph. Call ask with a whole question: its answers are nodes or "
    "values of the graph, with the path that proves them, or it says what is missing. The other tools walk "
    "the graph step by step: begin with find_entities."
)

READS_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)

REFUSALS = (ValueError, NotServed, KGError, EncoderError, PriorError, BudgetExceeded)
"""What the caller of a tool is told, in one line."""


class AskArguments(BaseModel):
    """Answer a question over the knowledge graph.

    Gives the answers, how far they are to be trusted (outcome), and the proof: paths and facts of the graph,
    the SPARQL query that gives exactly the answers, and who has decided each condition.
    """

    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="a whole question in natural language, with the names it is about")
    topics: list[str] = Field(
        default=[],
        description="names or ids of the entities it is about; found in the question where left out",
    )
    method: str = Field(
        default="", description="how to answer it; best left out", json_schema_extra={"enum": [*METHODS]}
    )


def make_server(
    options: Mapping[str, Any] | None = None,
    *,
    method: str = METHODS[0],
    sparql: bool = False,
    calls_at_once: int = MAX_CALLS_AT_ONCE,
) -> Server[Any]:
    """Make the server of a graph.

    Args:
        options: of the method, the graph and the model among them; another method takes those it has.
        method: the one that answers where a caller names none.
        sparql: whether callers may write SPARQL of their own, which is held to reading.
        calls_at_once: how many calls are worked on at a time.
    """
    calls = _Calls(dict(options or {}), method, sparql, asyncio.Semaphore(calls_at_once))
    return Server(
        "kgqa",
        version=version("kgqa"),
        title="kgqa: questions over a knowledge graph",
        instructions=INSTRUCTIONS,
        on_list_tools=calls.list_tools,
        on_call_tool=calls.call_tool,
    )


class _Calls:
    """Answers the requests of clients."""

    def __init__(self, options: dict[str, Any], method: str, sparql: bool, slots: asyncio.Semaphore) -> None:
        self._options, self._method, self._slots = options, method, slots
        self._hidden = frozenset() if sparql else frozenset({SPARQL_TOOL})

    async def list_tools(self, context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        """Return `ask` and the tools of the graph, described as they are to an agent."""
        try:
            tools = await self._open_tools(self._runtime())
        except REFUSALS as error:
            raise MCPError(INTERNAL_ERROR, _describe(error)) from None
        walking = [
            Tool(
                name=name,
                description=tool.description,
                input_schema=_typed(tool.get_input_jsonschema()),
                annotations=READS_ONLY,
            )
            for name, tool in tools.items()
        ]
        return ListToolsResult(tools=[_ASK_TOOL, *walking])

    async def call_tool(self, context: Any, params: CallToolRequestParams) -> CallToolResult:
        """Return what a tool gives; what it refuses is its answer, too, marked as an error."""
        arguments = {name: given for name, given in (params.arguments or {}).items() if given is not None}
        async with self._slots:
            try:
                if params.name == ASK:
                    _check_names(ASK, arguments, AskArguments.model_fields)
                    return await self._ask(AskArguments.model_validate(arguments))
                return await self._walk(params.name, arguments)
            except REFUSALS as error:
                return _result(_describe(error), is_error=True)

    async def _ask(self, asked: AskArguments) -> CallToolResult:
        context = self._context(asked.method or self._method)
        given = make_input(asked.question, asked.topics)
        record = extract_record(await graph_of(context.method).ainvoke(given, context=context))
        return _result(say_record(record), summarise_record(record), is_error=record["outcome"] in OUTAGES)

    async def _walk(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        runtime = self._runtime()
        tools = await self._open_tools(runtime)
        if name not in tools:
            there_are, name = ", ".join((ASK, *tools)), one_line(name, 80)
            raise MCPError(INVALID_PARAMS, f"no tool is called {name!r}; there are: {there_are}")
        _check_names(name, arguments, tools[name].args)
        async with runtime.meter_queries():
            call = {"type": "tool_call", "name": name, "args": arguments, "id": name}
            message = await tools[name].ainvoke(call)
        return _result(message.text, is_error=message.status == "error")

    async def _open_tools(self, runtime: NodeRuntime) -> dict[str, BaseTool]:
        opened = await runtime.within_time_limit(asyncio.to_thread(open_tools, runtime.context))
        return {name: tool for name, tool in opened.items() if name not in self._hidden}

    def _runtime(self) -> NodeRuntime:
        """Return what holds a call of a tool to the budget of a question."""
        return NodeRuntime(self._context(self._method), zero_spend())

    def _context(self, method: str) -> Any:
        options = self._options
        if method != self._method:
            known = context_of(method).model_fields
            options = {name: value for name, value in options.items() if name in known}
        return make_context(method, options)


def _typed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments, each of one type: what may be null may be left out.

    Some clients take no argument without a type.
    """
    for each in schema["properties"].values():
        types = [one for one in each.get("anyOf", ()) if one != {"type": "null"}]
        if len(types) == 1:
            del each["anyOf"]
            each |= types[0]
    return schema


def _result(said: str, summary: dict[str, Any] | None = None, *, is_error: bool) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=said)], structured_content=summary, is_error=is_error)


def _check_names(tool: str, given: Collection[str], known: Collection[str]) -> None:
    """Raise ValueError, in one line, if a tool has no argument of a given name."""
    if strange := sorted(set(given) - set(known)):
        there_are = ", ".join(known) or "none"
        raise ValueError(
            f"{tool} has no argument {one_line(strange[0], 80)!r}; its arguments are: {there_are}"
        )


def _describe(error: Exception) -> str:
    """Say in one line what is wrong with a call."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        wrong = " is missing" if first["type"] == "missing" else f": {first['msg']}"
        return one_line(f"argument {place}{wrong}", MAX_REASON_CHARS)
    return one_line(str(error), MAX_REASON_CHARS)


def _summary_schema() -> dict[str, Any]:
    schema = TypeAdapter(Record).json_schema()
    properties = {key: schema["properties"][key] for key in SUMMARY}
    return {**schema, "title": "Answer", "properties": properties, "required": list(SUMMARY)}


_ASK_TOOL = Tool(
    name=ASK,
    description=cleandoc(AskArguments.__doc__ or ""),
    input_schema=AskArguments.model_json_schema(),
    output_schema=_summary_schema(),
    annotations=READS_ONLY,
)
