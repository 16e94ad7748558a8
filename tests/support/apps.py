"""Apps of LangGraph that ask kgqa in their nodes, stop for a person, and go on with an edited question."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolCall
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import kgqa

THREAD: Any = {"configurable": {"thread_id": "app"}}

FIRST, SECOND = "Where does Ada live?", "Where does Ben live?"

Options = Mapping[str, Any]

Open = Callable[[str], AbstractAsyncContextManager[Any]]
"""Opens a checkpointer where an address says."""


class State(TypedDict, total=False):
    question: str
    record: dict[str, Any]
    approved: bool


def ask(question: str, options: Options) -> kgqa.Record:
    return kgqa.ask(question, **options)


def stream(question: str, options: Options) -> Any:
    return list(kgqa.stream(question, **options))[-1]


def batch(question: str, options: Options) -> kgqa.Record:
    return kgqa.batch([question], **options)[0]


def tool(question: str, options: Options) -> Any:
    return kgqa.as_tool(**options).invoke(_call(question)).artifact


async def aask(question: str, options: Options) -> kgqa.Record:
    return await kgqa.aask(question, **options)


async def astream(question: str, options: Options) -> Any:
    return [step async for step in kgqa.astream(question, **options)][-1]


async def abatch(question: str, options: Options) -> kgqa.Record:
    return (await kgqa.abatch([question], **options))[0]


async def atool(question: str, options: Options) -> Any:
    return (await kgqa.as_tool(**options).ainvoke(_call(question))).artifact


async def ask_on_the_loop(question: str, options: Options) -> kgqa.Record:
    return kgqa.ask(question, **options)


WAITING: Sequence[Any] = (ask, stream, batch, tool)
ASYNCHRONOUS: Sequence[Any] = (aask, astream, abatch, atool, ask_on_the_loop)


def _call(question: str) -> ToolCall:
    return ToolCall(type="tool_call", id="1", name="ask", args={"question": question})


def app(asking: Any, options: Options, saver: Any) -> Any:
    """An app of one node that asks and then stops for a person."""

    def waiting(state: State) -> State:
        record = asking(state["question"], options)
        return {"record": dict(record), "approved": interrupt("is it right?")}

    async def asynchronous(state: State) -> State:
        record = await asking(state["question"], options)
        return {"record": dict(record), "approved": interrupt("is it right?")}

    builder = StateGraph(State)
    builder.add_node("look up", asynchronous if asyncio.iscoroutinefunction(asking) else waiting)
    builder.add_edge(START, "look up")
    builder.add_edge("look up", END)
    return builder.compile(checkpointer=saver)


def app_of_node(options: Options, saver: Any) -> Any:
    """An app with a method as a node, and one after it that stops for a person."""

    def approve(_: State) -> State:
        return {"approved": interrupt("is it right?")}

    builder = StateGraph(State)
    builder.add_node("look up", kgqa.as_node(**options))
    builder.add_node("approve", approve)
    builder.add_edge(START, "look up")
    builder.add_edge("look up", "approve")
    builder.add_edge("approve", END)
    return builder.compile(checkpointer=saver)


class Chat(FakeMessagesListChatModel):
    """A chat model that says what is written down."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def agent_chat() -> Chat:
    """A chat model that asks the tool once and then ends."""
    return Chat(responses=[AIMessage("", tool_calls=[_call(FIRST)]), AIMessage("In Ulm.")])


@asynccontextmanager
async def memory(_: str) -> AsyncIterator[Any]:
    yield InMemorySaver()


@asynccontextmanager
async def sqlite(path: str) -> AsyncIterator[Any]:
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        yield SqliteSaver(connection)
    finally:
        connection.close()


@asynccontextmanager
async def asynchronous_sqlite(path: str) -> AsyncIterator[Any]:
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        yield saver


async def run(graph: Any, given: Any, *, waits: bool, **configurable: Any) -> Any:
    """Run an app as its checkpointer wants it: waiting, apart from any loop, or asynchronously."""
    config = {"configurable": {**THREAD["configurable"], **configurable}}
    if waits:
        return await asyncio.to_thread(graph.invoke, given, config)
    return await graph.ainvoke(given, config)


async def answers_after_edit(graph: Any, *, waits: bool) -> list[Any]:
    """The answers of an app whose question a person has edited when it stopped."""
    stopped = await run(graph, {"question": FIRST}, waits=waits)
    assert [each.value for each in stopped["__interrupt__"]] == ["is it right?"]
    ended = await run(graph, Command(resume=True, update={"question": SECOND}), waits=waits)
    assert ended["approved"] is True
    return [answer["name"] for answer in ended["record"]["answers"]]


async def places(saver: Any, *, waits: bool) -> set[str]:
    """What has checkpoints in the thread of the app: itself, under no name, and its subgraphs."""
    if waits:
        kept = await asyncio.to_thread(lambda: list(saver.list(THREAD)))
    else:
        kept = [each async for each in saver.alist(THREAD)]
    assert kept
    return {each.config["configurable"]["checkpoint_ns"].partition(":")[0] for each in kept}
