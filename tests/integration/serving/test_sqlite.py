"""Checkpoints in SQLite: what a busy loop is spared."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

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
