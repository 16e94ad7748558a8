"""The one retry layer of calls over HTTP, of models and endpoints: what is tried again, when, and how often.

| what came back | tried again |
|---|---|
| 408, 409, 429, 5xx | yes; after ``Retry-After`` where the server says so |
| no connection, or no reply in time | yes |
| any other status: 400, 401, 403, 404, 422 … | no |
| anything else (a bug, a reply that cannot be read) | no |

Providers' packages name the same things alike, so nothing of theirs is imported.
"""

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

T = TypeVar("T")

_RETRIED_STATUSES = frozenset({408, 409, 429})
_TIMEOUT_NAMES = frozenset({"TimeoutError", "APITimeoutError", "TimeoutException", "ModelTimeoutError"})
_CONNECTION_NAMES = frozenset(
    {"ConnectionError", "APIConnectionError", "TransportError", "ModelConnectionError"}
)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How a call is repeated.

    There are so many ``attempts``, the first included, and a ``pause`` in seconds before the second; it
    is doubled for each further one, with up to half of it added at random. Where a server asks to wait
    for more than the ``longest`` seconds, the call fails at once.
    """

    attempts: int = 3
    pause: float = 0.5
    longest: float = 30.0

    async def call(self, function: Callable[[], Awaitable[T]]) -> T:
        """Await ``function()`` until it succeeds, or raise what the last attempt raised."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            retry=retry_if_exception(self._again),
            wait=self._wait,
            reraise=True,
        )
        return await retrying(function)

    def _again(self, error: BaseException) -> bool:
        return is_transient(error) and (retry_after(error) or 0) <= self.longest

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = retry_after(error) if error else None
        doubled = self.pause * 2.0 ** (state.attempt_number - 1)
        return doubled * random.uniform(1, 1.5) if asked is None else asked


def is_transient(error: BaseException) -> bool:
    """Return whether the same call may succeed a moment later."""
    status = status_of(error)
    if status is not None:
        return status in _RETRIED_STATUSES or 500 <= status <= 599
    return is_timeout(error) or is_connection(error)


def is_timeout(error: BaseException) -> bool:
    """Return whether no reply came in time; the model may have worked all the same."""
    return _has_type_named(error, _TIMEOUT_NAMES)


def is_connection(error: BaseException) -> bool:
    """Return whether the server could not be reached or hung up."""
    return not is_timeout(error) and _has_type_named(error, _CONNECTION_NAMES)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status an error stands for."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and 100 <= status <= 599:
                return status
    return None


def retry_after(error: BaseException) -> float | None:
    """Return the seconds that the server asks to wait, from now on; None if it does not say.

    Both forms of RFC 9110 §10.2.3 are read: seconds, and a date, which is compared with the server's
    own clock where it tells the time, as clocks may be years apart.
    """
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    text = str(headers.get("retry-after", "")).strip()
    try:
        seconds = float(text)
    except ValueError:
        then, now = _parse_date(text), _parse_date(str(headers.get("date", "")))
        seconds = (then - (now or datetime.now(UTC))).total_seconds() if then else math.nan
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _parse_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return date.replace(tzinfo=date.tzinfo or UTC)


def _has_type_named(error: BaseException, names: frozenset[str]) -> bool:
    return any(kind.__name__ in names for kind in type(error).__mro__)
