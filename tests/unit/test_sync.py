"""Callers that wait for coroutines, wherever they stand."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache

import pytest

from kgqa import sync
from kgqa.sync import iterate_sync, run_sync

HERE: ContextVar[str] = ContextVar("HERE", default="nowhere")


async def _where() -> tuple[str, str]:
    await asyncio.sleep(0)
    return threading.current_thread().name, HERE.get()


async def _count(until: int, ended: threading.Event) -> AsyncIterator[int]:
    try:
        for number in range(until):
            await asyncio.sleep(0)
            yield number
    finally:
        ended.set()


def test_work_is_done_in_one_loop_for_all_in_the_context_of_who_waits() -> None:
    HERE.set("in a test")
    assert run_sync(_where()) == run_sync(_where()) == ("kgqa", "in a test")


def test_threads_that_call_first_at_once_share_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    start_loop = sync._process_loop.__wrapped__

    @cache
    def start() -> asyncio.AbstractEventLoop:
        time.sleep(0.05)  # until all are there
        return start_loop()

    async def running() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    monkeypatch.setattr(sync, "_process_loop", start)
    with ThreadPoolExecutor(8) as threads:
        assert len({*threads.map(lambda _: run_sync(running()), range(8))}) == 1


async def test_who_waits_may_stand_in_a_loop_that_runs() -> None:
    assert run_sync(_where())[0] == "kgqa"


def test_who_waits_may_stand_in_the_very_loop_that_would_do_the_work() -> None:
    async def waiting() -> str:
        return run_sync(_where())[0] + str(list(iterate_sync(_count(2, threading.Event()))))

    assert run_sync(waiting()).endswith("[0, 1]")


def test_what_is_raised_reaches_who_waits() -> None:
    async def failing() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        run_sync(failing())


def test_things_come_one_by_one_and_who_stops_going_ends_it() -> None:
    ended = threading.Event()
    assert list(iterate_sync(_count(3, ended))) == [0, 1, 2]
    ended.clear()

    async def never_ending() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.sleep(3600)
        finally:
            ended.set()

    numbers = iterate_sync(never_ending())
    assert next(iter(numbers)) == 1
    numbers.close()  # type: ignore[attr-defined]
    assert ended.wait(5)


def test_an_iteration_that_fails_gives_what_there_was_and_raises() -> None:
    async def failing() -> AsyncIterator[int]:
        yield 1
        raise KeyError("lost")

    numbers = iter(iterate_sync(failing()))
    assert next(numbers) == 1
    with pytest.raises(KeyError, match="lost"):
        next(numbers)
