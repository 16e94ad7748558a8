"""Counts graph queries and the seconds they take, for whoever opens a meter.

A meter sees the queries made inside its ``with`` block by the same task and by
the threads and tasks started from it, and no one else's.

>>> with metered() as meter:
...     count_query(0.25)
>>> meter
Meter(queries=1, seconds=0.25)
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Meter:
    """Graph queries made and seconds spent on them."""

    queries: int = 0
    seconds: float = 0.0


_meters: ContextVar[tuple[Meter, ...]] = ContextVar("kg_meters", default=())


@contextmanager
def metered() -> Iterator[Meter]:
    """Open a meter for the duration of a ``with`` block; meters nest."""
    meter = Meter()
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


def count_query(seconds: float) -> None:
    """Tell every open meter of one query."""
    for meter in _meters.get():
        meter.queries += 1
        meter.seconds += seconds
