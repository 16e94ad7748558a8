"""A small pool of daemon threads.

Unlike ``concurrent.futures.ThreadPoolExecutor`` it does not make the process
wait at its end for a query that cannot be stopped.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class Workers:
    """Runs functions in ``size`` threads, first come first served."""

    def __init__(self, size: int, name: str) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
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
                threading.Thread(target=self._work, name=f"{self._name}-{self._started}", daemon=True).start()
        return future

    def _work(self) -> None:
        while True:
            future, job = self._jobs.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except BaseException as error:
                    future.set_exception(error)
            del future, job
