"""Leaves an endpoint alone that fails again and again, or that asks for a pause."""

import time

from kgqa.kg.errors import KGUnavailable

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
