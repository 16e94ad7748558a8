"""Lets callers that are not asynchronous wait for coroutines, on the one event loop of the process.

That loop has a thread of its own: connections live from call to call, and a caller who waits
may itself stand in a running loop, as in a notebook.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

_END: Any = object()  # what stands after the last thing of an iteration


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and wait for what it returns or raises; who stops waiting ends it."""
    future = _start(work)
    try:
        return future.result()
    finally:
        future.cancel()


def iterate_sync(things: AsyncIterable[T]) -> Iterator[T]:
    """Go through what comes asynchronously, each thing as soon as it is there; who stops going ends it."""
    come: SimpleQueue[T] = SimpleQueue()

    async def pass_on() -> None:
        try:
            async for thing in things:
                come.put(thing)
        finally:
            come.put(_END)

    future = _start(pass_on())
    try:
        yield from iter(come.get, _END)
        future.result()
    finally:
        future.cancel()


def is_process_loop(loop: asyncio.AbstractEventLoop) -> bool:
    """Return whether a running loop is the one for callers that are not asynchronous."""
    return _process_loop.cache_info().currsize > 0 and loop is _process_loop()


def _start(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine where it goes on while the calling thread waits, in the caller's context."""
    with _starting:
        loop = _process_loop()
    try:
        waits = asyncio.get_running_loop() is loop
    except RuntimeError:
        waits = False
    if waits:  # something in the loop calls what is not asynchronous: the loop stands still meanwhile
        return ThreadPoolExecutor(1).submit(copy_context().run, asyncio.run, work)
    return asyncio.run_coroutine_threadsafe(work, loop)


@cache
def _process_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="kgqa", daemon=True).start()
    return loop


_starting = threading.Lock()  # of two threads that are the first to call, one starts the loop
os.register_at_fork(
    before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_starting.release
)
os.register_at_fork(after_in_child=_process_loop.cache_clear)
