"""Where a run's event loop runs: on one core, with the threads that query the graph.

Python's lock lets one thread work at a time, so a second core adds nothing; but to
hand the lock over from one core to another takes longer than a query. Threads of
the default executor (encoders, measuring) keep all cores.
"""

import asyncio
import gc
import os
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

THREADS = 8
"""Threads of the default executor."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as `asyncio.run` does, on one core where the system lets a thread choose."""
    with asyncio.Runner() as runner, _one_core() as everywhere:
        runner.get_loop().set_default_executor(ThreadPoolExecutor(THREADS, initializer=everywhere))
        return runner.run(main)


@contextmanager
def _one_core() -> Iterator[Any]:
    """Keep this thread, and those it starts, on one core; give what lets a thread leave it."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores)[os.getpid() % len(cores)]})
    try:
        yield lambda: os.sched_setaffinity(0, cores)
    finally:
        os.sched_setaffinity(0, cores)


@contextmanager
def settled() -> Iterator[None]:
    """Keep the garbage collector from going through what is open, again and again."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
