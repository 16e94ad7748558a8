"""Client of a SPARQL 1.1 endpoint: deadlines, retries, a circuit breaker, a cache, and no half answers.

| what comes back | what is done |
|---|---|
| 408, 409, 429, 5xx, no connection, an answer cut short or of another type | again, after ``Retry-After`` |
| no answer in time | again, once |
| the server says that the query takes too long | `KGTimeout` |
| a part of the answer, because the query takes too long (Virtuoso) | `KGTimeout` |
| 400, 413, 414, 422, an answer that is too large | `KGRejected` |
| 401, 403, 404, 405, 406, 410, 415, a redirect | `KGUnavailable`, at once |
| ``Retry-After`` of more than the deadline | `KGUnavailable`, at once |

What still fails when it was asked again is `KGUnavailable`. So is what still has no answer in time
(`KGSilent`): only a server can say that it is the query's fault, so that a search may go another way.
"""

import asyncio
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

import httpx
from cachetools import TTLCache

from kgqa.kg.endpoint.responses import BrokenAnswer, EndpointAnswer
from kgqa.kg.endpoint.transport import HttpTransport
from kgqa.kg.errors import KGError, KGMalformed, KGSilent, KGTimeout, KGUnavailable
from kgqa.kg.graph import Rows
from kgqa.kg.meter import begin_query, end_query
from kgqa.kg.sparql.decoding import read_rows, requested_columns, select_columns
from kgqa.kg.store.embedded import DaemonThreads
from kgqa.retries import RetryPolicy, is_timeout, retry_after, status_of

MAX_FAILURES_IN_A_ROW = 5
"""Queries that failed in a row after which an endpoint is taken to be down."""

DOWN_SECONDS = 15.0
"""Seconds that an endpoint that is down is not asked; then one query tries it."""

MAX_PAUSE_SECONDS = 3_600.0
"""Seconds that an endpoint is left alone at most, whatever it asks for; then one may try again."""


class CircuitBreaker:
    """A circuit breaker with a pause, for all queries of one endpoint.

    The pause is what the server asked for (``Retry-After``): requests wait for its end. While the
    endpoint is down, queries fail at once instead of waiting for it to time out one after another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._paused = self._down = 0.0

    def enter(self) -> None:
        """Let a query in.

        Raises:
            KGUnavailable: if the endpoint is down.
        """
        now = time.monotonic()
        with self._lock:
            if self._failures < MAX_FAILURES_IN_A_ROW:
                return
            if now < self._down:
                raise KGUnavailable(
                    f"it failed {self._failures} times in a row; not asked for {self._down - now:.0f} s"
                )
            self._down = now + DOWN_SECONDS  # this query tries it; the others go on failing meanwhile

    def left(self) -> float:
        """Return the seconds until the end of the pause."""
        with self._lock:
            return max(0.0, self._paused - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Let requests wait for so long, but no longer than `MAX_PAUSE_SECONDS`."""
        with self._lock:
            self._paused = max(self._paused, time.monotonic() + min(seconds, MAX_PAUSE_SECONDS))

    def succeeded(self) -> None:
        """Tell that the endpoint answered, be it with a no."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """Tell that a query failed for good."""
        with self._lock:
            self._failures += 1
            self._down = time.monotonic() + DOWN_SECONDS


T = TypeVar("T")

MAX_CONCURRENT_REQUESTS = 8
"""Requests to one endpoint at a time; the others wait for their turn."""

MAX_CACHED_ROWS = 100_000
"""Rows that are kept for the next time they are asked for."""

CACHE_SECONDS = 3_600.0
"""Seconds that rows are kept."""

ROWS_PER_CACHED_QUERY = 10
"""Rows that an answer counts as beside its own, for its query."""

BYTES_PER_CACHED_ROW = 1_000
"""Bytes of an answer that count as a row at least: literals may be long."""

VIRTUOSO_ROW_CAPS = frozenset({10_000, 1 << 20})
"""Rows at which Virtuoso cuts an answer without a word, as it is set up and at the very most."""

PROBE_SECONDS = 5.0
"""Seconds in which an endpoint answers a question of nothing, if it is there at all."""

PROBE_QUERY = "SELECT ?s WHERE { ?s ?p ?o } LIMIT 1"
"""A question of nothing."""


class Endpoint:
    """Runs queries at an endpoint.

    Args:
        url: As `Http` takes it.
        deadline: Seconds that one request may take, and half of what a query may take in all.
        retries: How a request is repeated.
    """

    def __init__(self, url: str, *, deadline: float = 30.0, retries: RetryPolicy | None = None) -> None:
        self._http = HttpTransport(url)
        self.url = self._http.url
        self._deadline = deadline
        given = retries or RetryPolicy()
        self._retries = replace(given, longest=min(given.longest, deadline))
        self._workers = DaemonThreads(MAX_CONCURRENT_REQUESTS, "kgqa-endpoint")
        self._probing = DaemonThreads(MAX_CONCURRENT_REQUESTS, "kgqa-probe")
        self._gate = CircuitBreaker()
        self._kept: TTLCache[str, SizedRows] = TTLCache(
            MAX_CACHED_ROWS, CACHE_SECONDS, getsizeof=lambda kept: kept.size
        )
        self._keeping = threading.Lock()
        weakref.finalize(self, self._http.close)

    async def query(self, text: str, *, limit: int | None = None, foreign: bool = False) -> Rows:
        """Run one query; see `Executor.query`. What was asked within the hour is not asked again."""
        begin_query()
        start = time.monotonic()
        try:
            if foreign:
                rows = (await self._asked(text)).rows
                return replace(rows, rows=rows.rows[:limit])
            with self._keeping:
                kept = self._kept.get(text)
            return (kept or await self._asked_and_kept(text)).rows
        finally:
            end_query(time.monotonic() - start)

    def query_now(self, text: str) -> Rows:
        """Run one query while the calling thread waits, whether or not it has an event loop."""
        with ThreadPoolExecutor(1) as alone:
            return alone.submit(lambda: asyncio.run(self._fitting(text)).rows).result()

    async def _asked_and_kept(self, text: str) -> "SizedRows":
        found = await self._fitting(text)
        with self._keeping:
            if found.size <= MAX_CACHED_ROWS:
                self._kept[text] = found
        return found

    async def _fitting(self, text: str) -> "SizedRows":
        """Ask a query of kgqa's own; its answer has the columns that were asked for."""
        rows, size = await self._asked(text)
        return SizedRows(select_columns(rows, requested_columns(text)), size)

    async def _asked(self, text: str) -> "SizedRows":
        """Ask, again where that may help, and say in one line why there is no answer."""
        try:
            self._gate.enter()
            async with asyncio.timeout(2 * self._deadline):
                return await self._retries.call(partial(self._attempt, text))
        except KGError as error:
            raise type(error)(f"{self.url}: {error}") from None
        except TimeoutError:
            raise await self._why_late() from None
        except (httpx.HTTPError, OSError) as error:
            raise await self._why_late() if is_timeout(error) else self._failed(error) from None

    async def _attempt(self, text: str) -> "SizedRows":
        if (pause := self._gate.left()) > self._retries.longest:
            raise KGUnavailable(f"it wants not to be asked for {pause:.0f} s; wait, or ask less at once")
        await asyncio.sleep(pause)
        try:
            found = await self._run(partial(self._send, text, self._deadline), self._workers)
        except KGError:
            self._gate.succeeded()
            raise
        except (httpx.HTTPError, OSError) as error:
            self._gate.pause(retry_after(error) or 0.0)
            raise
        self._gate.succeeded()
        return found

    async def _run(self, job: Callable[[Callable[[], None]], T], workers: DaemonThreads) -> T:
        stopped = threading.Event()

        def stop() -> None:
            if stopped.is_set():
                raise KGTimeout("nobody waits any more")

        try:
            return await asyncio.wrap_future(workers.submit(lambda: job(stop)))
        finally:
            stopped.set()

    def _send(self, text: str, seconds: float, stop: Callable[[], None]) -> "SizedRows":
        return _read_sized(self._http.send(text, seconds, stop))

    async def _why_late(self) -> KGError:
        within = f"no answer within {2 * self._deadline:g} s"
        seconds = min(PROBE_SECONDS, self._deadline)
        try:
            async with asyncio.timeout(2 * seconds):
                await self._run(partial(self._http.send, PROBE_QUERY, seconds), self._probing)
        except (KGUnavailable, httpx.HTTPError, OSError):
            self._gate.failed()
            return KGUnavailable(f"{self.url}: {within}, to nothing at all")
        except KGError:
            pass
        self._gate.succeeded()
        return KGSilent(f"{self.url}: {within}, but to other queries; let the server end what takes too long")

    def _failed(self, error: Exception) -> KGError:
        wait = retry_after(error)
        asked = f"; it asks to wait {wait:.0f} s" if wait else ""
        if status_of(error) == 429:
            return KGUnavailable(f"{self.url}: too many requests{asked}; wait, or ask less at once")
        self._gate.failed()
        if isinstance(error, httpx.ConnectError):
            return KGUnavailable(f"{self.url}: no connection; does the server run? ({_error_line(error)})")
        return KGUnavailable(f"{self.url}: {_error_line(error)}{asked}")


class SizedRows(NamedTuple):
    """An answer, and the rows that it counts as where it is kept."""

    rows: Rows
    size: int


def _read_sized(answer: EndpointAnswer) -> SizedRows:
    try:
        rows = read_rows(answer.body)
    except KGMalformed as error:
        raise BrokenAnswer(str(error)) from None
    rows = replace(rows, cut=len(rows.rows) >= answer.rows or len(rows.rows) in VIRTUOSO_ROW_CAPS)
    return SizedRows(
        rows, max(len(rows.rows), len(answer.body) // BYTES_PER_CACHED_ROW) + ROWS_PER_CACHED_QUERY
    )


def _error_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
