"""A run of CoG can be stopped, stored, edited and taken up again."""

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

from kgqa.graphs import cog
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.runtime.node import NodeRuntime
from kgqa.tests.support.doubles import KEYS, timeless
from kgqa.tests.support.guided import FAMILY, Shelf, blame, choose, copied, decide, nodes, playing, shown

Open = Callable[[str], SparqlGraph]

INPUT: Any = {"question": "Where does Ada's child live?", "topics": ["Ada"]}
THREAD: Any = {"configurable": {"thread_id": "1"}}
ADA: Any = {"id": "http://t/e/ada", "name": "Ada"}


def wandering() -> Any:
    """A model that goes to the pet first, then to the children, of whom it keeps Ben, and their homes."""
    kept = {"decision": "forward", "finding": "Ben is one.", "keep": [1]}
    return playing(
        prune_relations=lambda p: choose("lives_in")(p) if p.chain.hops else choose("pet", "employer")(p),
        check_sufficiency=decide(child=kept, lives_in="filter"),
        apply_conditions={"chosen": [1]},
        diagnose=blame(1, "child"),
    )


@pytest.fixture
def context(graph: Open, monkeypatch: pytest.MonkeyPatch) -> Any:
    library = copied("child lives_in")

    async def lent(runtime: NodeRuntime) -> Shelf:
        return library

    monkeypatch.setattr(NodeRuntime, "blueprint_library", lent)
    return cog.CoG(kg=graph(FAMILY), model=wandering(), safeguard="sparse", planning="first")


@asynccontextmanager
async def stored(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Checkpoints in a file, of which only plain types are read back."""
    async with aiosqlite.connect(path) as connection:
        yield AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))


async def test_the_run_visits_every_kind_of_step(context: Any) -> None:
    record: Any = await cog.graph.ainvoke(INPUT, context=context)
    assert shown(record) == ["Bonn"]
    assert {"plan", "blueprint", "rerank", "diagnose", "backtrack", "filter", "learn"} <= set(nodes(record))


async def test_a_run_that_was_interrupted_ends_like_one_that_was_not(context: Any, tmp_path: Path) -> None:
    whole = await cog.graph.ainvoke(INPUT, context=context)
    async with stored(tmp_path / "runs.sqlite") as saver:
        halved = cog.graph.builder.compile(checkpointer=saver, interrupt_before=["diagnose"])
        await halved.ainvoke(INPUT, THREAD, context=context)
        assert (await halved.aget_state(THREAD)).next == ("diagnose",)
    async with stored(tmp_path / "runs.sqlite") as saver:
        resumed: Any = await cog.graph.builder.compile(checkpointer=saver).ainvoke(
            None, THREAD, context=context
        )
    assert resumed.keys() == KEYS
    assert timeless(resumed) == timeless(whole)


async def test_checkpoints_hold_plain_types_only(
    context: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with stored(tmp_path / "runs.sqlite") as saver:
        graph = cog.graph.builder.compile(checkpointer=saver)
        await graph.ainvoke(INPUT, THREAD, context=context)
        with caplog.at_level(logging.WARNING):
            states = [state.values async for state in graph.aget_state_history(THREAD)]
    assert {"subgoals", "blueprint", "pruned", "tried", "findings"} <= states[0].keys()
    assert caplog.messages == []


@pytest.mark.parametrize(
    "at", ["plan", "blueprint", "rerank", "prune", "verify", "diagnose", "backtrack", "filter", "learn"]
)
async def test_a_run_may_be_interrupted_anywhere(context: Any, at: str) -> None:
    halved = cog.graph.builder.compile(checkpointer=InMemorySaver(), interrupt_before=[at])
    record: Any = await halved.ainvoke(INPUT, THREAD, context=context)
    for _ in range(5):
        if not (await halved.aget_state(THREAD)).next:
            break
        record = await halved.ainvoke(None, THREAD, context=context)
    assert shown(record) == ["Bonn"]


async def test_the_state_is_json_after_every_step(context: Any) -> None:
    states = [state async for state in cog.graph.astream(INPUT, context=context, stream_mode="values")]
    for state in states:
        assert orjson.loads(orjson.dumps(state)).keys() == state.keys()


async def edited(context: Any, at: str, edit: dict[str, Any]) -> Any:
    """Interrupt a run before a node, edit its state, and let it go on."""
    graph = cog.graph.builder.compile(checkpointer=InMemorySaver(), interrupt_before=[at])
    await graph.ainvoke(INPUT, THREAD, context=context)
    forked = await graph.aupdate_state(THREAD, edit)
    resumed = cog.graph.builder.compile(checkpointer=graph.checkpointer)
    return await resumed.ainvoke(None, forked, context=context)


async def test_an_edited_plan_is_followed(context: Any) -> None:
    record = await edited(context, "blueprint", {"subgoals": ["mine"]})
    assert {entry["subgoal"] for entry in record["trace"] if entry["node"] == "rerank"} == {"mine"}


async def test_an_edited_blueprint_is_followed(context: Any) -> None:
    pets = {"branches": [[{"relation": "pet"}]]}
    record = await edited(context, "retrieve_relations", {"blueprint": pets})
    assert next(entry["slot"] for entry in record["trace"] if entry["node"] == "rerank") == "pet"


async def test_an_edited_branch_is_recalled(context: Any) -> None:
    """Where children are taken from what was set aside, they cannot be recalled any more."""
    home = {"topic": ADA, "hops": [{"relation": "http://t/r/lives_in"}]}
    model = playing(diagnose=blame(1, "lives_in"), check_sufficiency=decide(lives_in="stop"))
    other = cog.CoG(**{**dict(context), "kg": context.given.graph, "model": model})
    graph = cog.graph.builder.compile(checkpointer=InMemorySaver(), interrupt_before=["diagnose"])
    await graph.ainvoke(INPUT, THREAD, context=context)
    forked = await graph.aupdate_state(THREAD, {"pruned": [{"chain": home}]})
    resumed = cog.graph.builder.compile(checkpointer=graph.checkpointer)
    record: Any = await resumed.ainvoke(None, forked, context=other)
    assert shown(record) == ["Ulm"]


async def test_an_edit_that_does_not_fit_is_refused(context: Any) -> None:
    with pytest.raises(ValueError, match=r"tried\.0"):
        await edited(context, "verify", {"tried": ["Ada"]})


async def test_a_second_question_on_a_thread_has_a_plan_of_its_own(context: Any) -> None:
    graph = cog.graph.builder.compile(checkpointer=InMemorySaver())
    first: Any = await graph.ainvoke(INPUT, THREAD, context=context)
    second: Any = await graph.ainvoke(INPUT, THREAD, context=context)
    assert timeless(second) == timeless(first)
