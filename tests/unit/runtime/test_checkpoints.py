"""A run can be stopped, stored and taken up again; its state is plain data at every step."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
import orjson
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from kgqa.graphs import cor
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.doubles import FAMILY, KEYS, QUESTION, children, shown, timeless

Open = Callable[[str], SparqlGraph]

INPUT: Any = {"question": QUESTION, "topics": ["Ada"]}
THREAD: Any = {"configurable": {"thread_id": "1"}}


@pytest.fixture
def context(graph: Open) -> Any:
    return cor.CoR(kg=graph(FAMILY), model=children("filter"))


@asynccontextmanager
async def stored(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Checkpoints in a file, of which only plain types are read back."""
    async with aiosqlite.connect(path) as connection:
        yield AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))


async def test_a_run_that_was_interrupted_ends_like_one_that_was_not(context: Any, tmp_path: Path) -> None:
    whole = await cor.graph.ainvoke(INPUT, context=context)
    async with stored(tmp_path / "runs.sqlite") as saver:
        halved = cor.graph.builder.compile(checkpointer=saver, interrupt_before=["verify"])
        await halved.ainvoke(INPUT, THREAD, context=context)
        assert (await halved.aget_state(THREAD)).next == ("verify",)
    async with stored(tmp_path / "runs.sqlite") as saver:
        resumed = await cor.graph.builder.compile(checkpointer=saver).ainvoke(None, THREAD, context=context)
    assert resumed.keys() == KEYS
    assert timeless(resumed) == timeless(whole)


async def test_checkpoints_hold_plain_types_only(
    context: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with stored(tmp_path / "runs.sqlite") as saver:
        graph = cor.graph.builder.compile(checkpointer=saver)
        await graph.ainvoke(INPUT, THREAD, context=context)
        with caplog.at_level(logging.WARNING):
            states = [state.values async for state in graph.aget_state_history(THREAD)]
    assert "chain" in states[0]
    assert caplog.messages == []


@pytest.mark.parametrize("at", ["retrieve_relations", "prune", "expand", "verify", "filter", "answer"])
async def test_a_run_may_be_interrupted_anywhere(context: Any, at: str) -> None:
    halved = cor.graph.builder.compile(checkpointer=InMemorySaver(), interrupt_before=[at])
    await halved.ainvoke(INPUT, THREAD, context=context)
    assert shown(await halved.ainvoke(None, THREAD, context=context)) == ["Ben"]


async def test_an_edited_stack_is_taken_up(context: Any) -> None:
    graph = cor.graph.builder.compile(checkpointer=InMemorySaver(), interrupt_before=["verify"])
    await graph.ainvoke(INPUT, THREAD, context=context)
    chain = {"topic": {"id": "http://t/e/ada", "name": "Ada"}, "hops": [{"relation": "http://t/r/lives_in"}]}
    edit = {"stack": [chain], "candidates": [], "decision": "backtrack"}
    forked = await graph.aupdate_state(THREAD, edit, as_node="verify")
    await graph.ainvoke(None, forked, context=context)
    assert shown(await graph.ainvoke(None, THREAD, context=context)) == ["Ulm"]


async def test_an_edit_that_does_not_fit_is_refused(context: Any) -> None:
    graph = cor.graph.builder.compile(checkpointer=InMemorySaver(), interrupt_before=["verify"])
    await graph.ainvoke(INPUT, THREAD, context=context)
    await graph.aupdate_state(THREAD, {"stack": ["Ada"]}, as_node="expand")
    with pytest.raises(ValueError, match=r"stack\.0"):
        await graph.ainvoke(None, THREAD, context=context)


async def test_the_state_is_json_after_every_step(context: Any) -> None:
    states = [state async for state in cor.graph.astream(INPUT, context=context, stream_mode="values")]
    for state in states:
        assert orjson.loads(orjson.dumps(state)).keys() == state.keys()


async def test_the_stack_and_the_memory_can_be_read_at_every_step(context: Any) -> None:
    updates = [step async for step in cor.graph.astream(INPUT, context=context, stream_mode="updates")]
    by_node = {node: update for step in updates for node, update in step.items()}
    topic = {"id": "http://t/e/ada", "name": "Ada"}
    hops = ({"relation": "http://t/r/child", "forward": True, "name": None},)
    chain = {"topic": topic, "hops": hops, "constraints": ()}
    assert by_node["prune"]["chain"] == chain
    assert by_node["verify"]["memory"][0]["chain"] == chain
