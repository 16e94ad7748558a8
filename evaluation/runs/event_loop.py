"""The event loop of a run: on one core, until it ends or a signal stops it.

Python's lock lets one thread work at a time, so a second core adds nothing; but to
hand the lock over from one core to another takes longer than a query. Threads of
the default executor (encoders, measuring) keep all cores.
"""

import asyncio
import gc
import os
import signal
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")

GC_THRESHOLD = 50_000  # new objects from which on cycles are looked for
EXECUTOR_THREADS = 8  # threads of the default executor
CORES: tuple[int, ...] = tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()
"""The cores that this process was given; none where a thread cannot choose its core."""


def run_on_one_core(
    main: Coroutine[Any, Any, T], place: int | None = None, cores: tuple[int, ...] = CORES
) -> T:
    """Run a coroutine as `asyncio.run` does, on the ``place``-th of the cores, or any of them."""
    place = os.getpid() if place is None else place
    executor = ThreadPoolExecutor(EXECUTOR_THREADS, initializer=_pin_thread, initargs=(cores,))
    with asyncio.Runner() as runner:
        _pin_thread((cores[place % len(cores)],) if cores else ())
        try:
            runner.get_loop().set_default_executor(executor)
            return runner.run(main)
        finally:
            _pin_thread(cores)


def _pin_thread(cores: tuple[int, ...]) -> None:
    """Keep the calling thread on these cores, where the system lets it."""
    if cores:
        with suppress(OSError):
            os.sched_setaffinity(0, cores)


@contextmanager
def garbage_frozen() -> Iterator[None]:
    """Spare the garbage collector what is open, and let it look for cycles less often.

    It would go through all that is open again and again; with Python's own threshold it takes 4 % of a run.
    Where the process has frozen things already, these stay frozen, and no others are: one cannot thaw a part.
    """
    thresholds, is_ours = gc.get_threshold(), gc.get_freeze_count() == 0
    if is_ours:
        gc.collect()
        gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if is_ours:
            gc.unfreeze()


async def for_each(
    things: Collection[T],
    act: Callable[[T], Awaitable[object]],
    concurrency: int,
    stop: asyncio.Event | None = None,
) -> None:
    """Do something with each thing, in their order, ``concurrency`` of them at a time.

    Once ``stop`` is set no thing is begun any more; those at hand end as they would have. Where
    ``act`` raises, whatever is running is cancelled.
    """
    waiting = iter(things)

    async def work() -> None:
        for thing in waiting:
            # A cancelled task may go on: `asyncio.wait_for` of Python 3.11 does not pass that on
            # where its future is done already.
            task = asyncio.current_task()
            if (stop and stop.is_set()) or (task and task.cancelling()):
                return
            await act(thing)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(things))):
                group.create_task(work())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signals(announce: Callable[[], None]) -> Iterator[asyncio.Event]:
    """Return an event that the first signal sets; the second cancels the task that entered.

    From the third on a signal does what it does without this. To be entered in the
    main thread, by a task. ``announce`` is called at the first.
    """
    stop = asyncio.Event()
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}

    def react() -> None:
        if not stop.is_set():
            stop.set()
            announce()
            return
        restore()
        if task is not None:
            task.cancel()

    def restore() -> None:
        for number, old in before.items():
            signal.signal(number, signal.SIG_DFL if old is None else old)

    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(react))
    try:
        yield stop
    finally:
        restore()
