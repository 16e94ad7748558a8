"""Where steps are kept is full, locked, or starts again: runs wait for a while, then end in one line."""

import asyncio
import resource
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from kgqa.graphs import context_of, graph_of
from kgqa.serving import checkpoint_outages
from kgqa.serving.checkpoint_outages import CheckpointsUnavailable
from kgqa.serving.checkpoints import SQLITE_FILE, checkpointer
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.integration.serving.asking import FAMILY, INPUT
from kgqa.tests.support.servers import postgres as postgreses

THREADS = 8

Ask = Callable[[str], Any]
"""Asks a question on a thread, one run after the other."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints, on which nobody waits for long."""
    pytest.importorskip("langgraph.checkpoint.sqlite")
    monkeypatch.setenv("KGQA_CHECKPOINTS", str(tmp_path / "kept"))
    monkeypatch.setattr(checkpoint_outages, "PAUSE_SECONDS", 0.02)
    return tmp_path / "kept"


@pytest.fixture
async def ask(folder: Path, tmp_path: Path) -> AsyncIterator[Ask]:
    async with checkpointer() as saver:
        yield asking(saver, tmp_path)


def asking(saver: Any, folder: Path) -> Ask:
    (folder / "family.ttl").write_text(FAMILY)
    graph = graph_of("cor").builder.compile(checkpointer=saver)
    context = context_of("cor")(kg=str(folder / "family.ttl"), model="offline")

    async def ask(thread: str) -> list[str]:
        config: Any = {"configurable": {"thread_id": thread}}
        record = await graph.ainvoke(INPUT, config, context=context, durability="sync")
        steps = [step async for step in graph.aget_state_history(config)]
        assert steps[0].values["answers"] == record["answers"] and not steps[0].next
        return [answer["name"] for answer in record["answers"]]

    return ask


@contextmanager
def full() -> Iterator[None]:
    """Let no file of this process grow, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


TOWNS = ["Bonn", "Ulm"]


async def test_a_full_disk_ends_a_run_in_one_line_and_the_next_one_goes_on(
    ask: Ask, caplog: pytest.LogCaptureFixture, tried: Tried
) -> None:
    assert await ask("before") == TOWNS
    with full():
        for thread in ("before", "meanwhile"):
            with pytest.raises(CheckpointsUnavailable, match=r"^[^\n]*cannot be kept[^\n]*$"):
                await ask(thread)
    assert all("\n" not in record.getMessage() for record in caplog.records)
    for thread in ("before", "meanwhile", "after"):
        assert await ask(thread) == TOWNS
    tried(faults=2, questions=6, records=6)


async def test_a_file_that_is_locked_for_a_while_is_waited_for(ask: Ask, folder: Path, tried: Tried) -> None:
    assert await ask("before") == TOWNS
    with closing(sqlite3.connect(folder / SQLITE_FILE, isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout=0")
        other.execute("BEGIN IMMEDIATE")
        asked = [asyncio.create_task(ask(str(number))) for number in range(THREADS)]
        await asyncio.sleep(0.3)
        assert not any(each.done() for each in asked)
        other.execute("COMMIT")
        assert await asyncio.gather(*asked) == [TOWNS] * THREADS
    tried(faults=1, questions=THREADS, records=THREADS)


async def test_a_file_that_stays_locked_ends_all_runs_at_once_in_one_line(
    ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    assert await ask("before") == TOWNS
    monkeypatch.setattr(checkpoint_outages, "MAX_OUTAGE_SECONDS", 0.5)
    with closing(sqlite3.connect(folder / SQLITE_FILE, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        began = time.perf_counter()
        asked = await asyncio.gather(*(ask(str(n)) for n in range(THREADS)), return_exceptions=True)
        assert [type(each) for each in asked] == [CheckpointsUnavailable] * THREADS
        assert "locked" in str(asked[0]) and "\n" not in str(asked[0])
        assert time.perf_counter() - began < 5
        other.execute("ROLLBACK")
    monkeypatch.undo()
    assert await ask("0") == TOWNS
    tried(faults=1, questions=THREADS, records=THREADS)


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[postgreses.Postgres]:
    if reason := postgreses.missing():
        pytest.skip(reason)
    with postgreses.prepared() as server:
        monkeypatch.setenv("KGQA_CHECKPOINTS", server.address)
        yield server


async def test_a_database_that_starts_again_under_load_costs_no_run(
    database: postgreses.Postgres, tmp_path: Path, tried: Tried
) -> None:
    runs = 0
    with ExitStack() as up:
        await asyncio.to_thread(up.enter_context, database.running())
        async with checkpointer() as saver:
            ask, over = asking(saver, tmp_path), asyncio.Event()

            async def work(name: str) -> None:
                nonlocal runs
                while not over.is_set():
                    assert await ask(f"{name} {runs}") == TOWNS
                    runs += 1

            async with asyncio.TaskGroup() as group:
                for number in range(THREADS):
                    group.create_task(work(str(number)))
                for _ in range(3):
                    before = runs
                    while runs < before + THREADS:
                        await asyncio.sleep(0.02)
                    await asyncio.to_thread(up.close)
                    await asyncio.to_thread(up.enter_context, database.running())
                over.set()
    tried(faults=3, questions=runs, records=runs)


async def test_a_database_that_stays_away_ends_all_runs_at_once_in_one_line(
    database: postgreses.Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    with ExitStack() as up:
        await asyncio.to_thread(up.enter_context, database.running())
        async with checkpointer() as saver:
            ask = asking(saver, tmp_path)
            assert await ask("before") == TOWNS
            monkeypatch.setattr(checkpoint_outages, "MAX_OUTAGE_SECONDS", 0.5)
            await asyncio.to_thread(up.close)
            began = time.perf_counter()
            asked = await asyncio.gather(*(ask(str(n)) for n in range(THREADS)), return_exceptions=True)
            assert [type(each) for each in asked] == [CheckpointsUnavailable] * THREADS
            assert time.perf_counter() - began < 10
            monkeypatch.setattr(checkpoint_outages, "MAX_OUTAGE_SECONDS", 30)
            await asyncio.to_thread(up.enter_context, database.running())
            assert await ask("0") == TOWNS
    tried(faults=1, questions=THREADS, records=THREADS)
