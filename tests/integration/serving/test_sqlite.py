"""Checkpoints in SQLite: what a busy loop is spared."""

import asyncio
import sqlite3
from contextlib import closing
from operator import add
from pathlib import Path
from typing import Annotated, Any

import pytest

from kgqa.serving.checkpoints import SQLITE_FILE, belongs_to_another, checkpointer


async def test_a_step_is_kept_with_one_trip_to_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite")
    from langgraph.checkpoint.base import empty_checkpoint

    monkeypatch.setenv("KGQA_CHECKPOINTS", str(tmp_path))
    loop, trips = asyncio.get_running_loop(), 0
    told = loop.call_soon_threadsafe

    def counted(*given: Any, **named: Any) -> Any:
        nonlocal trips
        trips += 1
        return told(*given, **named)

    async with checkpointer() as saver:
        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        kept = await saver.aput(config, empty_checkpoint(), {"step": 0}, {})
        await saver.aput_writes(kept, [("a", 1)], "task")
        assert trips == 2
        monkeypatch.undo()
        [step] = [step async for step in saver.alist(config)]
        assert step.pending_writes == [("task", "a", 1)]


async def test_a_step_of_another_shape_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite")
    import ormsgpack
    from langgraph.checkpoint.base import empty_checkpoint

    monkeypatch.setenv("KGQA_CHECKPOINTS", str(tmp_path))
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    good = empty_checkpoint()
    shapes: list[Any] = [[1, 2], 5, None, {}, "x", good | {"channel_values": []}, good | {"v": "1"}]
    shapes += [good | {"versions_seen": {"a": 1}}, good | {"channel_versions": 3}]
    changes: list[tuple[str, Any]] = [("checkpoint", ormsgpack.packb(shape)) for shape in shapes]
    changes += [
        ("metadata", about) for about in (b"[1]", b"null", b"\xff\xfe", b"{", 5, None, b"[" * 100_000)
    ]
    changes += [
        ("metadata", b'{"step": []}'),
        ("type", b"\xff"),
        ("checkpoint", None),
        ("checkpoint", "text"),
    ]
    async with checkpointer() as saver:
        for column, value in changes:
            await saver.aput(config, good, {"step": 0, "owner": "me"}, {})  # type: ignore[typeddict-unknown-key]
            assert await saver.aget_tuple(config) and not await belongs_to_another("t", "me")
            with sqlite3.connect(tmp_path / SQLITE_FILE) as database:
                cast = "CAST(? AS TEXT)" if column == "type" else "?"
                database.execute(f"UPDATE checkpoints SET {column} = {cast}", (value,))  # noqa: S608
            database.close()
            with pytest.raises(ValueError, match=r"^a step that is kept [^\n]*; begin a new thread$"):
                await saver.aget_tuple(config)
            with pytest.raises(ValueError, match=r"^a step that is kept [^\n]*; begin a new thread$"):
                [step async for step in saver.alist(config)]
            assert await belongs_to_another("t", "me")


async def test_where_a_write_stands_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite")
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    monkeypatch.setenv("KGQA_CHECKPOINTS", str(tmp_path))
    builder = StateGraph(Annotated[list[str], add])  # type: ignore[type-var]
    builder.add_node("each", lambda given: ["done"])
    builder.add_conditional_edges(START, lambda state: [Send("each", []), Send("each", [])], ["each"])
    builder.add_edge("each", END)
    async with checkpointer() as saver:
        graph = builder.compile(checkpointer=saver)
        await graph.ainvoke(["a"], {"configurable": {"thread_id": "t"}})
    with closing(sqlite3.connect(tmp_path / SQLITE_FILE)) as database:
        paths = [path for (path,) in database.execute("SELECT task_path FROM writes")]
    assert any("__pregel_push" in path for path in paths)


async def test_threads_are_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite")
    from langgraph.checkpoint.base import empty_checkpoint

    monkeypatch.setenv("KGQA_CHECKPOINTS", str(tmp_path))
    thread: Any = {"configurable": {"thread_id": "t"}}

    async def kept() -> list[Any]:
        steps = [step async for step in saver.alist(thread)]
        return [(step.config["configurable"]["checkpoint_ns"], step.metadata["step"]) for step in steps]

    async with checkpointer() as saver:
        for graph in ("", "inner"):
            config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": graph}}
            for step in range(3):
                config = await saver.aput(config, empty_checkpoint(), {"step": step}, {})
                await saver.aput_writes(config=config, writes=[("a", step)], task_id="task", task_path="p")
        await saver.aprune(["t"])
        assert sorted(await kept()) == [("", 2), ("inner", 2)]
        with pytest.raises(ValueError, match="there are: keep_latest, delete"):
            await saver.aprune(["t"], strategy="all")
        config = await saver.aput(
            config, empty_checkpoint(), {"step": 3, "counters_since_delta_snapshot": {"a": (1, 1)}}, {}
        )
        with pytest.raises(NotImplementedError, match="thread t has a DeltaChannel"):
            await saver.aprune(["t"])
        await saver.aprune(["t"], strategy="delete")
        assert await kept() == []
    with closing(sqlite3.connect(tmp_path / SQLITE_FILE)) as database:
        assert database.execute("SELECT COUNT(*) FROM writes").fetchone() == (0,)
