"""Apps of LangGraph that keep their runs in PostgreSQL and ask kgqa in their nodes."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage

import kgqa
from kgqa.tests.support import apps
from kgqa.tests.support.doubles import FAMILY


@asynccontextmanager
async def waiting(address: str) -> AsyncIterator[Any]:
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(address) as saver:
        saver.setup()
        saver.delete_thread("app")
        yield saver


@asynccontextmanager
async def asynchronous(address: str) -> AsyncIterator[Any]:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with AsyncPostgresSaver.from_conn_string(address) as saver:
        await saver.setup()
        await saver.adelete_thread("app")
        yield saver


SAVERS = [(waiting, True), (asynchronous, False)]


@pytest.fixture
def options(turtle: Callable[[str], Path]) -> dict[str, Any]:
    return {"kg": str(turtle(FAMILY)), "model": "offline"}


@pytest.mark.parametrize(
    ("asking", "opened", "waits"),
    [
        (asking, opened, waits)
        for opened, waits in SAVERS
        for asking in (apps.WAITING if waits else [*apps.WAITING, *apps.ASYNCHRONOUS])
    ],
)
async def test_an_edited_question_is_asked_and_no_run_of_ours_is_kept(
    asking: Any, opened: apps.Open, waits: bool, options: dict[str, Any], postgres: str
) -> None:
    async with opened(postgres) as saver:
        assert await apps.answers_after_edit(apps.app(asking, options, saver), waits=waits) == ["Bonn"]
        assert await apps.places(saver, waits=waits) == {""}


@pytest.mark.parametrize(("opened", "waits"), SAVERS)
async def test_a_node_is_a_subgraph_whose_record_is_kept(
    opened: apps.Open, waits: bool, options: dict[str, Any], postgres: str
) -> None:
    async with opened(postgres) as saver:
        graph = apps.app_of_node(options, saver)
        assert await apps.answers_after_edit(graph, waits=waits) == ["Ulm"]
        assert await apps.places(saver, waits=waits) == {"", "look up"}


@pytest.mark.parametrize(("opened", "waits"), SAVERS)
async def test_an_agent_with_memory_asks_with_the_tool(
    opened: apps.Open, waits: bool, options: dict[str, Any], postgres: str
) -> None:
    async with opened(postgres) as saver:
        agent: Any = create_agent(apps.agent_chat(), tools=[kgqa.as_tool(**options)], checkpointer=saver)
        ended = await apps.run(agent, {"messages": [("user", apps.FIRST)]}, waits=waits)
        (told,) = [each for each in ended["messages"] if isinstance(each, ToolMessage)]
        assert told.text.splitlines()[1] == "Ulm"
        assert await apps.places(saver, waits=waits) == {""}
