"""A small pool of daemon threads.

Unlike ``concurrent.futures.ThreadPoolExecutor`` it does not make the process
wait at its end for a query that cannot be stopped.
"""

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


Jobs = SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]
"""What is to be done; None ends a thread."""


class Workers:
    """Runs functions in ``size`` threads, first come first served; they end when nobody has it any more."""

    def __init__(self, size: int, name: str) -> None:
        self._jobs: Jobs = SimpleQueue()
        self._size = size
        self._name = name
        self._started = 0
        self._lock = threading.Lock()

    def submit(self, job: Callable[[], T]) -> "Future[T]":
        """Queue a function; a future that is cancelled before its turn never runs."""
        future: Future[T] = Future()
        self._jobs.put((future, job))
        with self._lock:
            if self._started < self._size:
                self._started += 1
                weakref.finalize(self, self._jobs.put, None).atexit = False
                name = f"{self._name}-{self._started}"
                threading.Thread(target=_work, args=(self._jobs,), name=name, daemon=True).start()
        return future


def _work(jobs: Jobs) -> None:
    while (taken := jobs.get()) is not None:
        future, job = taken
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(job())
            except BaseException as error:
                future.set_exception(error)
        del taken, future, job
