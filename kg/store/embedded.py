"""The embedded executor: SPARQL text in, typed rows out, off the event loop.

A query has a deadline. From time to time it also looks whether anyone still
waits, and ends by itself if not. What cannot be stopped is pyoxigraph's work
between two blocks of its answer, for instance the whole of a sort or a count:
such a query is abandoned at its deadline and occupies one thread until it is done.
That is for kgqa's own queries; others run in a process of their own (`sandbox`).
"""

import asyncio
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import pyoxigraph as ox

from kgqa.builds import HeldFolder
from kgqa.kg.errors import KGTimeout
from kgqa.kg.graph import Rows
from kgqa.kg.meter import begin_query, end_query
from kgqa.kg.sparql.decoding import read_rows, run_query, to_kg_error
from kgqa.kg.store.sandbox import QuerySandbox
from kgqa.locks import renew_in_child

T = TypeVar("T")


_Jobs = SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]  # what is to be done; None ends a thread


class DaemonThreads:
    """Runs functions in ``size`` threads, first come first served; they end when nobody has it any more."""

    def __init__(self, size: int, name: str) -> None:
        self._size, self._name = size, name
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Have nothing to do, and no threads yet."""
        self._jobs: _Jobs = SimpleQueue()
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
                threading.Thread(target=_run_jobs, args=(self._jobs,), name=name, daemon=True).start()
        return future


def _run_jobs(jobs: _Jobs) -> None:
    while (taken := jobs.get()) is not None:
        future, job = taken
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(job())
            except BaseException as error:
                future.set_exception(error)
        del taken, future, job


class EmbeddedStore:
    """Runs queries on a pyoxigraph store in a few threads of its own.

    Args:
        store: The store; nothing writes to it any more.
        deadline: Seconds that a query may take, its wait for a thread included.
        threads: Threads for kgqa's own queries; foreign ones wait in one more for a
            process of their own, so that none of them holds up or brings down anybody else.
        folder: Where the store is on disk; None for one in memory.
        build: What keeps that folder there for as long as queries are run.
    """

    remote = False

    def __init__(
        self,
        store: ox.Store,
        *,
        deadline: float = 30.0,
        threads: int = 4,
        folder: Path | None = None,
        build: HeldFolder | None = None,
    ) -> None:
        self._store, self._build = store, build
        self._union = next(iter(store.named_graphs()), None) is not None
        self._deadline = deadline
        self._threads = DaemonThreads(threads, "kgqa-store")
        self._sandbox_thread, self._sandbox = (
            DaemonThreads(1, "kgqa-store-foreign"),
            QuerySandbox(store, folder),
        )

    async def query(self, text: str, *, limit: int | None = None, foreign: bool = False) -> Rows:
        """Run one query; see `Executor.query`."""
        if foreign:
            return await self._run(
                lambda stop: self._answer_in_sandbox(text, limit, stop), self._sandbox_thread
            )
        return await self._run(lambda stop: self._answer(text, stop), self._threads)

    def query_now(self, text: str) -> Rows:
        """Run one query in the calling thread, uncounted and without deadline."""
        return self._answer(text, lambda: None)

    async def _run(self, job: Callable[[Callable[[], None]], T], workers: DaemonThreads) -> T:
        begin_query()
        stopped, start = threading.Event(), time.monotonic()
        end = start + self._deadline

        def stop() -> None:
            if stopped.is_set() or time.monotonic() > end:
                raise KGTimeout(f"no answer within {self._deadline:g} s")

        future = asyncio.wrap_future(workers.submit(lambda: job(stop)))
        try:
            async with asyncio.timeout(self._deadline):  # wait_for may swallow a cancellation
                return await future
        except TimeoutError:
            raise KGTimeout(f"no answer within {self._deadline:g} s") from None
        finally:
            stopped.set()
            end_query(time.monotonic() - start)

    def _answer(self, text: str, stop: Callable[[], None]) -> Rows:
        """Run a query; its failure is made anew.

        An exception keeps the frames it went through, these keep pyoxigraph's
        answer, and that may be dropped by the thread that made it only.
        """
        try:
            stop()
            return run_query(self._store, text, lambda _: stop(), union=self._union)
        except Exception as error:
            found = to_kg_error(error)
        raise found

    def _answer_in_sandbox(self, text: str, limit: int | None, stop: Callable[[], None]) -> Rows:
        try:
            return read_rows(self._sandbox.ask(text, union=self._union, limit=limit, stop=stop))
        except OSError as error:
            raise to_kg_error(error) from None
