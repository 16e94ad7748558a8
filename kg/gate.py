"""When an endpoint may be asked: not while it wants to be left alone, and not while it is down."""

import threading
import time

from kgqa.kg.errors import KGUnavailable

FAILURES = 5
"""Queries that failed in a row after which an endpoint is taken to be down."""

DOWN = 15.0
"""Seconds that an endpoint that is down is not asked; then one query tries it."""

PAUSE = 3_600.0
"""Seconds that an endpoint is left alone at most, whatever it asks for; then one may try again."""


class Gate:
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
            if self._failures < FAILURES:
                return
            if now < self._down:
                raise KGUnavailable(
                    f"it failed {self._failures} times in a row; not asked for {self._down - now:.0f} s"
                )
            self._down = now + DOWN  # this query tries it; the others go on failing meanwhile

    def left(self) -> float:
        """Give the seconds until the end of the pause."""
        with self._lock:
            return max(0.0, self._paused - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Let requests wait for so long, but no longer than `PAUSE`."""
        with self._lock:
            self._paused = max(self._paused, time.monotonic() + min(seconds, PAUSE))

    def succeeded(self) -> None:
        """Tell that the endpoint answered, be it with a no."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """Tell that a query failed for good."""
        with self._lock:
            self._failures += 1
            self._down = time.monotonic() + DOWN
