"""Client of a SPARQL 1.1 endpoint: deadlines, retries, a circuit breaker, a cache, and no half answers.

| what comes back | what is done |
|---|---|
| 408, 409, 429, 5xx, no connection, an answer cut short or that is no SPARQL | again, after ``Retry-After`` |
| no answer in time | again, once |
| the server says that the query takes too long | `KGTimeout` |
| a part of the answer, because the query takes too long (Virtuoso, Blazegraph) | `KGTimeout` |
| 400, 413, 414, 422, an answer that is too large | `KGRejected` |
| 405, 501 to GET or to POST | by the other, from then on (`HttpTransport`) |
| 401, 403, 404, 405, 406, 410, 415, a redirect | `KGUnavailable`, at once |
| ``Retry-After`` of more than the deadline | `KGUnavailable`, at once |

What still fails when it was asked again is `KGUnavailable`. So is what still has no answer in time
(`KGSilent`): only a server can say that it is the query's fault, so that a search may go another way.
"""

import asyncio
import socket
import threading
import time
import weakref
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import httpx
from cachetools import TTLCache

from kgqa.kg.endpoint.responses import EndpointAnswer
from kgqa.kg.endpoint.transport import HttpTransport, causes
from kgqa.kg.errors import KGError, KGSilent, KGUnavailable
from kgqa.kg.graph import Rows
from kgqa.kg.meter import begin_query, end_query
from kgqa.kg.sparql.decoding import requested_columns, select_columns
from kgqa.kg.terms import one_line
from kgqa.locks import ProcessLock, renew_in_child
from kgqa.retries import RetryPolicy, is_timeout, retry_after, status_of

MAX_FAILURES_IN_A_ROW = 5  # of queries, after which an endpoint is taken to be down
DOWN_SECONDS = 15.0  # that an endpoint that is down is not asked; then one query tries it

MAX_PAUSE_SECONDS = 3_600.0
"""That an endpoint is left alone, whatever it asks for; then one query may try again."""


class CircuitBreaker:
    """Says when an endpoint may be asked: not while it wants to be left alone, and not while it is down.

    The pause is what the server asked for (``Retry-After``): requests wait for its end. While the
    endpoint is down, queries fail at once instead of waiting for it to time out one after another.
    """

    def __init__(self) -> None:
        self._failures = 0
        self._paused_until = self._down_until = 0.0

    def enter(self) -> None:
        """Let a query in; raise KGUnavailable if the endpoint is down."""
        if self._failures < MAX_FAILURES_IN_A_ROW:
            return
        if (seconds := self._down_until - time.monotonic()) > 0:
            raise KGUnavailable(f"it failed {self._failures} times in a row; not asked for {seconds:.0f} s")
        self._down_until = time.monotonic() + DOWN_SECONDS  # this query tries it; others fail meanwhile

    def pause_left(self) -> float:
        """Return the seconds until the end of the pause."""
        return max(0.0, self._paused_until - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Let requests wait for so long, but no longer than `MAX_PAUSE_SECONDS`."""
        self._paused_until = max(self._paused_until, time.monotonic() + min(seconds, MAX_PAUSE_SECONDS))

    def succeed(self) -> None:
        """Note that the endpoint answered, be it with a no."""
        self._failures = 0

    def fail(self) -> None:
        """Note that a query failed for good."""
        self._failures += 1
        self._down_until = time.monotonic() + DOWN_SECONDS


MIN_BYTES_OFF_LOOP = 1 << 16  # of an answer from which on it is read off the loop that sends requests
MAX_CONCURRENT_REQUESTS = 8  # to one endpoint, if nothing else is said

MAX_CACHED_ROWS = 100_000

CACHE_SECONDS = 3_600.0

ROWS_PER_CACHED_QUERY = 10  # what an answer counts as beside its own rows, for its query
BYTES_PER_CACHED_ROW = 1_000  # an answer of more counts as more rows: literals may be long

VIRTUOSO_ROW_CAPS = frozenset({10_000, 1 << 20})
"""Rows at which Virtuoso cuts an answer without a word, as it is set up and at the very most."""

PROBE_SECONDS = 5.0  # in which an endpoint answers a trivial query, if it is there at all

PROBE_QUERY = "SELECT ?s WHERE { ?s ?p ?o } LIMIT 1"


class Endpoint:
    """Runs queries at an endpoint.

    All requests are made by an event loop in a thread of its own: callers of any event loop, and of
    none, share its connections.

    Args:
        url: As `HttpTransport` takes it.
        deadline: Seconds that one request may take, and half of what a query may take in all.
        retries: How a request is repeated.
        requests: Requests at a time at most; the others wait for their turn.
    """

    remote = True

    def __init__(
        self,
        url: str,
        *,
        deadline: float = 30.0,
        retries: RetryPolicy | None = None,
        requests: int | None = None,
    ) -> None:
        self._connect = partial(HttpTransport, url)
        transport = self._connect()
        self.url = transport.url
        self._deadline = deadline
        given = retries or RetryPolicy()
        self._retries = replace(given, longest=min(given.longest, deadline))
        self._breaker = CircuitBreaker()
        self._requests = requests or MAX_CONCURRENT_REQUESTS
        self._cache: TTLCache[str, SizedRows] = TTLCache(
            MAX_CACHED_ROWS, CACHE_SECONDS, getsizeof=lambda sized: sized.size
        )
        self._starting = ProcessLock()
        self._loop: asyncio.AbstractEventLoop | None = self._start(transport)
        renew_in_child(self)

    def renew(self) -> None:
        """Have no connections; those of the process that this one was forked from are its own."""
        self._loop = None

    def _start(self, transport: HttpTransport) -> asyncio.AbstractEventLoop:
        self._transport = transport
        self._turns = asyncio.Semaphore(self._requests)
        self._probe_turns = asyncio.Semaphore(self._requests)
        self._lookups: dict[str, SharedLookup] = {}
        loop, stopped = asyncio.new_event_loop(), asyncio.Event()
        arguments = (loop, stopped, transport)
        thread = threading.Thread(target=_run_loop, args=arguments, name="kgqa-endpoint", daemon=True)
        thread.start()
        weakref.finalize(self, _stop_loop, loop, stopped, thread)
        return loop

    async def query(self, text: str, *, limit: int | None = None, foreign: bool = False) -> Rows:
        """Run one query; see `Executor.query`. What was asked within the hour is not asked again.

        Nor is what somebody asks at this moment: both are given one answer, or one failure.
        """
        begin_query()
        start = time.monotonic()
        try:
            asking = self._ask(text) if foreign else self._ask_or_recall(text)
            rows = (await asyncio.wrap_future(self._submit(asking))).rows
            return replace(rows, rows=rows.rows[:limit]) if foreign else rows
        finally:
            end_query(time.monotonic() - start)

    def query_now(self, text: str) -> Rows:
        """Run one query while the calling thread waits, whether or not it has an event loop."""
        return self._submit(self._ask_own(text)).result().rows

    def _submit(self, asking: Coroutine[Any, Any, "SizedRows"]) -> "Future[SizedRows]":
        with self._starting:
            self._loop = self._loop or self._start(self._connect())
            return asyncio.run_coroutine_threadsafe(asking, self._loop)

    async def _ask_or_recall(self, text: str) -> "SizedRows":
        if (known := self._cache.get(text)) is not None:
            return known
        if (lookup := self._lookups.get(text)) is None:
            lookup = self._lookups[text] = SharedLookup(asyncio.create_task(self._ask_and_keep(text)))
        lookup.askers += 1
        try:
            return await asyncio.shield(lookup.answer)
        finally:
            lookup.askers -= 1
            if not lookup.askers:
                del self._lookups[text]
                lookup.answer.cancel()  # nothing is left to cancel, unless nobody waits any more

    async def _ask_and_keep(self, text: str) -> "SizedRows":
        found = await self._ask_own(text)
        if found.size <= MAX_CACHED_ROWS:
            self._cache[text] = found
        return found

    async def _ask_own(self, text: str) -> "SizedRows":
        """Ask a query of kgqa's own; its answer has the columns that were asked for."""
        rows, size = await self._ask(text)
        return SizedRows(select_columns(rows, requested_columns(text)), size)

    async def _ask(self, text: str) -> "SizedRows":
        """Ask, again where that may help, and say in one line why there is no answer."""
        try:
            self._breaker.enter()
            async with asyncio.timeout(2 * self._deadline):
                return await self._retries.call(partial(self._attempt, text))
        except KGError as error:
            raise type(error)(f"{self.url}: {error}") from None
        except (httpx.HTTPError, OSError) as error:
            raise (await self._explain_silence() if is_timeout(error) else self._outage(error)) from None

    async def _attempt(self, text: str) -> "SizedRows":
        if (pause := self._breaker.pause_left()) > self._retries.longest:
            raise KGUnavailable(f"it wants not to be asked for {pause:.0f} s; wait, or ask less at once")
        await asyncio.sleep(pause)
        try:
            async with self._turns:
                answer = await self._transport.send(text, self._deadline)
            found = await _read_sized(answer)
        except KGError:
            self._breaker.succeed()
            raise
        except (httpx.HTTPError, OSError) as error:
            self._breaker.pause(retry_after(error) or 0.0)
            raise
        self._breaker.succeed()
        return found

    async def _explain_silence(self) -> KGError:
        """Tell by a trivial query whether the endpoint is silent, or only the query takes too long."""
        within = f"no answer within {2 * self._deadline:g} s"
        seconds = min(PROBE_SECONDS, self._deadline)
        try:
            async with asyncio.timeout(2 * seconds), self._probe_turns:
                await _read_sized(await self._transport.send(PROBE_QUERY, seconds))
        except (KGUnavailable, httpx.HTTPError, OSError):
            self._breaker.fail()
            return KGUnavailable(f"{self.url}: {within}, to nothing at all")
        except KGError:
            pass
        self._breaker.succeed()
        return KGSilent(f"{self.url}: {within}, but to other queries; let the server end what takes too long")

    def _outage(self, error: Exception) -> KGError:
        wait = retry_after(error)
        asked = f"; it asks to wait {wait:.0f} s" if wait else ""
        if status_of(error) == 429:
            return KGUnavailable(f"{self.url}: too many requests{asked}; wait, or ask less at once")
        self._breaker.fail()
        if isinstance(error, httpx.ConnectError):
            nameless = any(isinstance(each, socket.gaierror) for each in causes(error))
            why = (
                "no host of this name is found; is it written right, and is there a network?"
                if nameless
                else "no connection; does the server run?"
            )
            return KGUnavailable(f"{self.url}: {why} ({error_line(error)})")
        return KGUnavailable(f"{self.url}: {error_line(error)}{asked}")


class SizedRows(NamedTuple):
    """An answer, and the rows that it counts as in the cache."""

    rows: Rows
    size: int


@dataclass
class SharedLookup:
    """A query under way, and how many wait for its answer."""

    answer: asyncio.Task[SizedRows]
    askers: int = 0


async def _read_sized(answer: EndpointAnswer) -> SizedRows:
    is_large = len(answer.body) > MIN_BYTES_OFF_LOOP
    rows = await asyncio.to_thread(answer.read) if is_large else answer.read()
    rows = replace(rows, cut=len(rows.rows) >= answer.max_rows or len(rows.rows) in VIRTUOSO_ROW_CAPS)
    return SizedRows(
        rows, max(len(rows.rows), len(answer.body) // BYTES_PER_CACHED_ROW) + ROWS_PER_CACHED_QUERY
    )


def error_line(error: BaseException) -> str:
    """Return what an error says on one line, or its type where it says nothing."""
    return one_line(str(error), 300) or type(error).__name__


def _run_loop(loop: asyncio.AbstractEventLoop, stopped: asyncio.Event, transport: HttpTransport) -> None:
    async def serve() -> None:
        try:
            await stopped.wait()
        finally:
            await transport.close()

    with asyncio.Runner(debug=False, loop_factory=lambda: loop) as runner:
        runner.run(serve())


def _stop_loop(loop: asyncio.AbstractEventLoop, stopped: asyncio.Event, thread: threading.Thread) -> None:
    """Stop a loop, and wait a moment for its connections to close where that holds up no other loop."""
    with suppress(RuntimeError):  # it has ended
        loop.call_soon_threadsafe(stopped.set)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        thread.join(1.0)
