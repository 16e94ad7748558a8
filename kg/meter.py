"""Counts graph queries and the seconds they take, within an open meter, and stops at its limit.

A meter sees the queries made inside its ``with`` block by the same task and by
the threads and tasks started from it, and no one else's.

>>> with metered() as meter:
...     begin_query()
...     end_query(0.25)
>>> meter
Meter(queries=1, seconds=0.25, max_queries=None)
"""

from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from operator import itemgetter
from typing import Generic, TypeVar

from cachetools import LRUCache

from kgqa.locks import ProcessLock

T = TypeVar("T")


class QueryBudgetExhausted(Exception):
    """A meter's limit is reached: there is no query left."""


@dataclass
class Meter:
    """Graph queries begun, seconds spent on them, and how many there may be (None: any number)."""

    queries: int = 0
    seconds: float = 0.0
    max_queries: int | None = None


_meters: ContextVar[tuple[Meter, ...]] = ContextVar("kg_meters", default=())


@contextmanager
def metered(max_queries: int | None = None) -> Iterator[Meter]:
    """Open a meter for the duration of a ``with`` block; meters nest."""
    meter = Meter(max_queries=max_queries)
    token = _meters.set((*_meters.get(), meter))
    try:
        yield meter
    finally:
        _meters.reset(token)


@contextmanager
def unmetered() -> Iterator[None]:
    """Let no meter see what is asked inside a ``with`` block: look-ups that are counted as one."""
    token = _meters.set(())
    try:
        yield
    finally:
        _meters.reset(token)


def begin_query() -> None:
    """Count a query that is about to be made in every open meter.

    Raises:
        QueryBudgetExhausted: if one of them allows no more.
    """
    meters = _meters.get()
    if any(meter.max_queries is not None and meter.queries >= meter.max_queries for meter in meters):
        raise QueryBudgetExhausted
    for meter in meters:
        meter.queries += 1


def end_query(seconds: float) -> None:
    """Add the seconds that a query has taken to every open meter."""
    for meter in _meters.get():
        meter.seconds += seconds


class QueryMemo(Generic[T]):
    """Remembers the latest of what queries have found, of so much ``size`` in all; the queries count again.

    Threads may share it.
    """

    def __init__(self, size: int, size_of: Callable[[T], int]) -> None:
        self._size, self._size_of = size, size_of
        self._known: LRUCache[Hashable, tuple[T, int, int]] = LRUCache(size, getsizeof=itemgetter(2))
        self._lock = ProcessLock()

    async def recall(self, key: Hashable, find: Callable[[], Awaitable[T]]) -> T:
        """Return what was found under a key, or find it now.

        Raises:
            QueryBudgetExhausted: also where it is known, if so many queries are not left.
        """
        with self._lock:
            known = self._known.get(key)
        if known is not None:
            found, queries, _ = known
            for _ in range(queries):
                begin_query()
            return found
        with metered() as meter:
            found = await find()
        if (size := self._size_of(found)) <= self._size:
            with self._lock:
                self._known[key] = found, meter.queries, size
        return found
