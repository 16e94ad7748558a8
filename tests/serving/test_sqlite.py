"""Checkpoints in SQLite: what a busy loop is spared."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kgqa.serving.checkpoints import checkpointer


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
        kept = await saver.aput(config, empty_checkpoint(), {}, {})
        await saver.aput_writes(kept, [("a", 1)], "task")
        assert trips == 2
        monkeypatch.undo()
        [step] = [step async for step in saver.alist(config)]
        assert step.pending_writes == [("task", "a", 1)]
