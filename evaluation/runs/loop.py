"""Where the event loop of a run goes round: on one core, with the threads that query the graph.

Python's lock lets one thread work at a time, so a second core adds nothing; but to
hand the lock over from one core to another takes longer than a query. Threads of
the default executor (encoders, measuring) keep all cores.
"""

import asyncio
import gc
import os
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")

THREADS = 8
"""Threads of the default executor."""

CORES: tuple[int, ...] = tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()
"""The cores that this process was given; none where a thread cannot choose its core."""


def run(main: Coroutine[Any, Any, T], place: int | None = None, cores: tuple[int, ...] = CORES) -> T:
    """Run a coroutine as `asyncio.run` does, on the ``place``-th of the cores, or any of them."""
    with asyncio.Runner() as runner, _one_of(cores, os.getpid() if place is None else place):
        runner.get_loop().set_default_executor(
            ThreadPoolExecutor(THREADS, initializer=_keep, initargs=(cores,))
        )
        return runner.run(main)


@contextmanager
def _one_of(cores: tuple[int, ...], place: int) -> Iterator[None]:
    """Keep this thread, and those it starts, on one core meanwhile."""
    _keep(cores[place % len(cores) :][:1] if cores else ())
    try:
        yield
    finally:
        _keep(cores)


def _keep(cores: tuple[int, ...]) -> None:
    """Keep the calling thread on these cores, where the system lets it."""
    if cores:
        with suppress(OSError):
            os.sched_setaffinity(0, cores)


@contextmanager
def settled() -> Iterator[None]:
    """Spare the garbage collector what is open: it would go through all of it again and again."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
