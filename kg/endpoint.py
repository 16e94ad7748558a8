"""The executor over a SPARQL 1.1 endpoint: deadlines, retries, a limiter, a cache, and no half answers.

| what comes back | what is done |
|---|---|
| 408, 429, 5xx, no connection, an answer cut short or of another type | again, after ``Retry-After`` |
| no answer in time | again, once |
| 504, or the server says that the query takes too long | `KGTimeout` |
| a part of the answer, because the query takes too long (Virtuoso) | `KGTimeout` |
| 400, 413, 414, 422 | `KGRejected` |
| 401, 403, 404, a redirect | `KGUnavailable`, at once |

What still fails when it was asked again is `KGUnavailable`; what still takes too long is that too,
unless the endpoint has an answer to a question of nothing: then it is the query's fault, `KGTimeout`.
"""

import asyncio
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import httpx
from cachetools import TTLCache

from kgqa.kg.errors import KGError, KGMalformed, KGTimeout, KGUnavailable
from kgqa.kg.executor import Rows
from kgqa.kg.gate import Gate
from kgqa.kg.http import Answer, BrokenAnswer, Http
from kgqa.kg.meter import count_query
from kgqa.kg.results import read_rows
from kgqa.kg.workers import Workers
from kgqa.retries import Retries, is_timeout, retry_after, status_of

AT_A_TIME = 8
"""Requests to one endpoint at a time; the others wait for their turn."""

KEPT = 1_000_000
"""Rows that are kept for the next time they are asked for."""

FRESH = 3_600.0
"""Seconds that rows are kept."""

CAPS = frozenset({10_000, 1 << 20})
"""Rows at which Virtuoso cuts an answer without a word, as it is set up and at the very most."""

PROBE = 5.0
"""Seconds in which an endpoint answers a question of nothing, if it is there at all."""


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
        self._retries = retries or Retries()
        self._workers = Workers(AT_A_TIME, "kgqa-endpoint")
        self._gate = Gate()
        self._kept: TTLCache[str, Rows] = TTLCache(KEPT, FRESH, getsizeof=lambda rows: len(rows.rows) + 1)
        self._keeping = threading.Lock()
        self._server = ""
        weakref.finalize(self, self._http.close)

    async def query(self, text: str, *, limit: int | None = None, foreign: bool = False) -> Rows:
        """Run one query; see `Executor.query`. What was asked within the hour is not asked again."""
        start = time.monotonic()
        try:
            if foreign:
                rows = await self._asked(text)
                return replace(rows, rows=rows.rows[:limit])
            with self._keeping:
                kept = self._kept.get(text)
            return kept or await self._asked_and_kept(text)
        finally:
            count_query(time.monotonic() - start)

    def query_now(self, text: str) -> Rows:
        """Run one query in the calling thread, which has no event loop."""
        return asyncio.run(self._asked(text))

    async def _asked_and_kept(self, text: str) -> Rows:
        rows = await self._asked(text)
        with self._keeping:
            if len(rows.rows) < KEPT:
                self._kept[text] = rows
        return rows

    async def _asked(self, text: str) -> Rows:
        """Ask, again where that may help, and say in one line why there is no answer."""
        try:
            async with asyncio.timeout(2 * self._deadline):
                return await self._retries.call(partial(self._attempt, text))
        except KGError as error:
            raise type(error)(f"{self.url}: {error}") from None
        except TimeoutError:
            raise await self._why_late() from None
        except (httpx.HTTPError, OSError) as error:
            raise await self._why_late() if is_timeout(error) else self._failed(error) from None

    async def _attempt(self, text: str) -> Rows:
        if pause := self._gate.wait():
            await asyncio.sleep(pause)
        try:
            rows = await self._run(partial(self._send, text, self._deadline))
        except (httpx.HTTPError, OSError) as error:
            self._noted(error)
            raise
        self._gate.succeeded()
        return rows

    def _noted(self, error: Exception) -> None:
        """Tell the gate of a failure; a timeout may be the query's fault."""
        if status_of(error) == 429:
            self._gate.pause(min(retry_after(error) or 0.0, self._retries.longest))
        elif not is_timeout(error):
            self._gate.failed()

    async def _run(self, job: Callable[[Callable[[], None]], Rows]) -> Rows:
        stopped = threading.Event()

        def stop() -> None:
            if stopped.is_set():
                raise KGTimeout("nobody waits any more")

        try:
            return await asyncio.wrap_future(self._workers.submit(lambda: job(stop)))
        finally:
            stopped.set()

    def _send(self, text: str, seconds: float, stop: Callable[[], None]) -> Rows:
        answer = self._http.send(text, seconds, stop, self._server)
        self._server = answer.server
        return _rows(answer)

    async def _why_late(self) -> KGError:
        try:
            await self._run(partial(self._send, "ASK {}", min(PROBE, self._deadline)))
        except (KGError, httpx.HTTPError, OSError):
            self._gate.failed()
            return KGUnavailable(f"{self.url}: no answer within {2 * self._deadline:g} s, to nothing at all")
        return KGTimeout(f"{self.url}: no answer within {2 * self._deadline:g} s")

    def _failed(self, error: Exception) -> KGError:
        status, wait = status_of(error), retry_after(error)
        if status == 429:
            asked = f"; it asks for {wait:.0f} s" if wait else ""
            return KGUnavailable(f"{self.url}: too many requests{asked}; wait, or ask less at once")
        return KGUnavailable(f"{self.url}: {_line(error)}")


def _rows(answer: Answer) -> Rows:
    try:
        rows = read_rows(answer.body)
    except KGMalformed as error:
        raise BrokenAnswer(str(error)) from None
    return replace(rows, cut=len(rows.rows) >= answer.rows or len(rows.rows) in CAPS)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
