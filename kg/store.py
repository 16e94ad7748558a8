"""The embedded executor: SPARQL text in, typed rows out, off the event loop.

A query has a deadline. From time to time it also looks whether anyone still
waits, and ends by itself if not. What cannot be stopped is pyoxigraph's work
between two blocks of its answer, for instance the whole of a sort or a count:
such a query is abandoned at its deadline and occupies one thread until it is done.

Answers are read as blocks of JSON: row by row, pyoxigraph gives up and takes back
Python's lock for each row, which takes seconds where other threads are busy.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from io import BytesIO
from itertools import islice
from typing import Any, TypeVar

import orjson
import pyoxigraph as ox

from kgqa.kg.errors import KGError, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.executor import Rows
from kgqa.kg.meter import count_query
from kgqa.kg.results import read_rows
from kgqa.kg.workers import Workers

T = TypeVar("T")

LONG = 1 << 16
"""Bytes from which on an answer is read off the event loop."""


class EmbeddedStore:
    """Runs queries on a pyoxigraph store in a few threads of its own.

    Args:
        store: The store; nothing writes to it any more.
        deadline: Seconds that a query may take, its wait for a thread included.
        threads: Threads for kgqa's own queries; foreign ones share one more, so
            that a runaway among them holds up nobody else.
    """

    def __init__(self, store: ox.Store, *, deadline: float = 30.0, threads: int = 4) -> None:
        self._store = store
        self._union = next(iter(store.named_graphs()), None) is not None
        self._deadline = deadline
        self._own = Workers(threads, "kgqa-store")
        self._foreign = Workers(1, "kgqa-store-foreign")

    async def query(self, text: str, *, limit: int | None = None, foreign: bool = False) -> Rows:
        """Run one query; see `Executor.query`."""
        workers = self._foreign if foreign else self._own
        answer = await self._run(lambda stop: self._answer(text, limit, stop), workers)
        if len(answer) > LONG:
            return await asyncio.to_thread(read_rows, answer)
        return read_rows(answer)

    def query_now(self, text: str) -> Rows:
        """Run one query in the calling thread, uncounted and without deadline."""
        return read_rows(self._answer(text, None, lambda: None))

    async def _run(self, job: Callable[[Callable[[], None]], T], workers: Workers) -> T:
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
            count_query(time.monotonic() - start)

    def _answer(self, text: str, limit: int | None, stop: Callable[[], None]) -> bytes:
        """Run a query; its failure is made anew.

        An exception keeps the frames it went through, these keep pyoxigraph's
        answer, and that may be dropped by the thread that made it only.
        """
        try:
            return self._ask(text, limit, stop)
        except Exception as error:
            failure = _failure(error)
        raise failure

    def _ask(self, text: str, limit: int | None, stop: Callable[[], None]) -> bytes:
        stop()
        answer = self._store.query(text, use_default_graph_as_union=self._union)
        if isinstance(answer, ox.QueryTriples):
            raise KGRejected("only SELECT and ASK are answered")
        if isinstance(answer, ox.QuerySolutions) and limit is not None:
            return _first(answer, limit, stop)
        blocks = _Blocks(stop)
        answer.serialize(blocks, format=ox.QueryResultsFormat.JSON)
        return blocks.getvalue()


class _Blocks(BytesIO):
    """Collects the blocks of an answer; ``stop`` is called before each."""

    def __init__(self, stop: Callable[[], None]) -> None:
        super().__init__()
        self._stop = stop

    def write(self, block: Any) -> int:
        self._stop()
        return super().write(block)


def _failure(error: Exception) -> KGError:
    reason = " ".join(str(error).split())[:300]
    if isinstance(error, KGError):
        return type(error)(*error.args)
    if isinstance(error, SyntaxError | UnicodeEncodeError):
        return KGRejected(f"not a SPARQL query: {reason}")
    if isinstance(error, OSError):
        return KGUnavailable(f"the store cannot be read: {reason}")
    if isinstance(error, RuntimeError):
        return KGRejected(f"the store refused the query: {reason}")
    return KGUnavailable(f"the store failed: {type(error).__name__}: {reason}")


def _first(answer: ox.QuerySolutions, limit: int, stop: Callable[[], None]) -> bytes:
    """Write no more than the first rows of an answer: one that kgqa did not ask for may be endless."""
    names = [variable.value for variable in answer.variables]
    rows = []
    for solution in islice(answer, limit):
        stop()
        rows.append(
            {name: _json(term) for name, term in zip(names, solution, strict=True) if term is not None}
        )
    return orjson.dumps({"head": {"vars": names}, "results": {"bindings": rows}})


def _json(term: Any) -> dict[str, str]:
    """Write a term in SPARQL's JSON."""
    if isinstance(term, ox.NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, ox.BlankNode):
        return {"type": "bnode", "value": term.value}
    if not isinstance(term, ox.Literal):
        return {"type": "triple", "value": str(term)}
    tag = {"xml:lang": term.language} if term.language else {"datatype": term.datatype.value}
    return {"type": "literal", "value": term.value, **tag}
