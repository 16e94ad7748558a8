"""All that is looked at, in order, each part within its time and all within half a minute."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kgqa.kg.checking.finding import Finding, Level, Report, fatal, good, note, warning
from kgqa.kg.checking.holding import open_graph, take_sample
from kgqa.kg.checking.limits import check_length, check_order, check_rows, check_time
from kgqa.kg.checking.names import check_names
from kgqa.kg.checking.pace import check_latency, check_parallel
from kgqa.kg.checking.public import advise, is_public
from kgqa.kg.checking.reaching import reach
from kgqa.kg.checking.shapes import check_shapes
from kgqa.kg.checking.subject import FAILURES, Subject
from kgqa.kg.errors import KGError

TOTAL = 28.0
"""Seconds for everything."""

OPENING = 15.0
"""Seconds for opening the graph."""

DEADLINE = 6.0
"""Seconds that one request may take."""


@dataclass(frozen=True)
class _Part:
    """A part of the check.

    Attributes:
        name: What a finding says that it was about, where it fails.
        look: Does it.
        seconds: That it may take.
        heavy: Whether a public service is spared it.
    """

    name: str
    look: Callable[[Subject], Awaitable[list[Finding]]]
    seconds: float
    heavy: bool = False


def _threaded(look: Callable[[Subject], list[Finding]]) -> Callable[[Subject], Awaitable[list[Finding]]]:
    return lambda subject: subject.in_thread(lambda: look(subject))


PARTS = (
    _Part("sample", _threaded(take_sample), 8),
    _Part("latency", check_latency, 8),
    _Part("names", check_names, 6),
    _Part("queries", check_shapes, 10),
    _Part("row limit", _threaded(check_rows), 6),
    _Part("sorting", _threaded(check_order), 6),
    _Part("long queries", _threaded(check_length), 8),
    _Part("parallel", check_parallel, 6, heavy=True),
    _Part("time limit", _threaded(check_time), 5, heavy=True),
)


async def check(url: str) -> Report:
    """Look at an endpoint; never raises for what the endpoint does.

    Args:
        url: As `Http` takes it.

    Raises:
        KGUnavailable: if it is no address.
    """
    start = time.monotonic()
    subject = Subject(url, DEADLINE)
    try:
        findings = [*await _look(subject, start), *advise(url)]
    finally:
        subject.http.close()
    return Report(subject.http.url, time.monotonic() - start, tuple(findings))


async def _look(subject: Subject, start: float) -> list[Finding]:
    reached, server = await subject.in_thread(lambda: reach(subject.http))
    findings = [reached]
    if reached.level == Level.FATAL:
        return findings
    subject.is_virtuoso = server.startswith("Virtuoso")
    findings.append(good("server", server, server=server) if server else note("server", "it says no name"))
    findings += await _opened(subject)
    if any(finding.level == Level.FATAL for finding in findings):
        return findings
    for part in PARTS:
        findings += await _done(subject, part, TOTAL - (time.monotonic() - start))
    return findings


async def _opened(subject: Subject) -> list[Finding]:
    try:
        async with asyncio.timeout(OPENING):
            return await subject.in_thread(lambda: open_graph(subject))
    except TimeoutError:
        return [fatal("graph", f"it cannot be opened within {OPENING:g} s", _SLOW)]


async def _done(subject: Subject, part: _Part, left: float) -> list[Finding]:
    if part.heavy and is_public(subject.url):
        return [note(part.name, "not tried: others use this service too")]
    if left <= 0:
        return [warning(part.name, "not tried: the time was up", _SLOW)]
    try:
        async with asyncio.timeout(min(part.seconds, left)):
            return await part.look(subject)
    except TimeoutError:
        return [warning(part.name, f"not done within {min(part.seconds, left):.0f} s", _SLOW)]
    except (KGError, *FAILURES) as error:
        return [warning(part.name, f"not done: {' '.join(str(error).split())}", "look into the server's log")]


_SLOW = "try again when it has less to do"
