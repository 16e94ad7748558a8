"""The executor over a SPARQL 1.1 endpoint: deadlines, retries, a limiter, a cache, and no half answers.

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

from kgqa.kg.errors import KGError, KGMalformed, KGSilent, KGTimeout, KGUnavailable
from kgqa.kg.executor import Rows
from kgqa.kg.gate import Gate
from kgqa.kg.http import Http
from kgqa.kg.meter import begin_query, end_query
from kgqa.kg.responses import Answer, BrokenAnswer
from kgqa.kg.results import columns_of, fitted, read_rows
from kgqa.kg.workers import Workers
from kgqa.retries import Retries, is_timeout, retry_after, status_of

T = TypeVar("T")

AT_A_TIME = 8
"""Requests to one endpoint at a time; the others wait for their turn."""

KEPT = 100_000
"""Rows that are kept for the next time they are asked for."""

FRESH = 3_600.0
"""Seconds that rows are kept."""

QUERY = 10
"""Rows that an answer counts as beside its own, for its query."""

ROW = 1_000
"""Bytes of an answer that count as a row at least: literals may be long."""

CAPS = frozenset({10_000, 1 << 20})
"""Rows at which Virtuoso cuts an answer without a word, as it is set up and at the very most."""

PROBE = 5.0
"""Seconds in which an endpoint answers a question of nothing, if it is there at all."""

NOTHING = "SELECT ?s WHERE { ?s ?p ?o } LIMIT 1"
"""A question of nothing."""


class Endpoint:
    """Runs queries at an endpoint.

    Args:
        url: As `Http` takes it.
        deadline: Seconds that one request may take, and half of what a query may take in all.
        retries: How a request is repeated.
    """

    def __init__(self, url: str, *, deadline: float = 30.0, retries: Retries | None = None) -> None:
        self._http = Http(url)
        self.url = self._http.url
        self._deadline = deadline
        given = retries or Retries()
        self._retries = replace(given, longest=min(given.longest, deadline))
        self._workers = Workers(AT_A_TIME, "kgqa-endpoint")
        self._probing = Workers(AT_A_TIME, "kgqa-probe")
        self._gate = Gate()
        self._kept: TTLCache[str, Weighed] = TTLCache(KEPT, FRESH, getsizeof=lambda kept: kept.size)
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

    async def _asked_and_kept(self, text: str) -> "Weighed":
        found = await self._fitting(text)
        with self._keeping:
            if found.size <= KEPT:
                self._kept[text] = found
        return found

    async def _fitting(self, text: str) -> "Weighed":
        """Ask a query of kgqa's own; its answer has the columns that were asked for."""
        rows, size = await self._asked(text)
        return Weighed(fitted(rows, columns_of(text)), size)

    async def _asked(self, text: str) -> "Weighed":
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

    async def _attempt(self, text: str) -> "Weighed":
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

    async def _run(self, job: Callable[[Callable[[], None]], T], workers: Workers) -> T:
        stopped = threading.Event()

        def stop() -> None:
            if stopped.is_set():
                raise KGTimeout("nobody waits any more")

        try:
            return await asyncio.wrap_future(workers.submit(lambda: job(stop)))
        finally:
            stopped.set()

    def _send(self, text: str, seconds: float, stop: Callable[[], None]) -> "Weighed":
        return _weighed(self._http.send(text, seconds, stop))

    async def _why_late(self) -> KGError:
        within = f"no answer within {2 * self._deadline:g} s"
        seconds = min(PROBE, self._deadline)
        try:
            async with asyncio.timeout(2 * seconds):
                await self._run(partial(self._http.send, NOTHING, seconds), self._probing)
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
            return KGUnavailable(f"{self.url}: no connection; does the server run? ({_line(error)})")
        return KGUnavailable(f"{self.url}: {_line(error)}{asked}")


class Weighed(NamedTuple):
    """An answer, and the rows that it counts as where it is kept."""

    rows: Rows
    size: int


def _weighed(answer: Answer) -> Weighed:
    try:
        rows = read_rows(answer.body)
    except KGMalformed as error:
        raise BrokenAnswer(str(error)) from None
    rows = replace(rows, cut=len(rows.rows) >= answer.rows or len(rows.rows) in CAPS)
    return Weighed(rows, max(len(rows.rows), len(answer.body) // ROW) + QUERY)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
