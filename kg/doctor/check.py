"""The check of an endpoint: reached first, then every part in order, each within its time."""

import asyncio
import os
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx

from kgqa.kg.doctor import content, query_limits
from kgqa.kg.doctor.target import (
    QUERY_FAILURES,
    CheckTarget,
    Finding,
    Level,
    Report,
    fatal,
    good,
    note,
    warning,
)
from kgqa.kg.endpoint.client import error_line
from kgqa.kg.endpoint.responses import BrokenAnswer
from kgqa.kg.endpoint.transport import causes
from kgqa.kg.errors import KGRejected, KGTimeout, KGUnavailable
from kgqa.retries import is_transient, retry_after, status_of

TOTAL_SECONDS = 28.0
OPENING_SECONDS = 15.0
REQUEST_SECONDS = 6.0
TRIVIAL_QUERY = 'SELECT ?x WHERE { VALUES ?x { "1" } }'  # has one row on any server, whatever it holds
REACH_TRIES = 3
REACH_SECONDS = 5.0  # that each of them may take
REST_SECONDS = 1.0  # more than that query takes at the end, where it took no time at the beginning
REACH_PAUSE_SECONDS = 0.5  # before the next, and half of what a server may ask to wait
WIKIDATA_DOMAIN = "wikidata.org"
PUBLIC_DOMAINS = (WIKIDATA_DOMAIN, "qlever.dev", "qlever.cs.uni-freiburg.de", "dbpedia.org")

_NOBODY_THERE = (socket.gaierror, ssl.SSLError, ConnectionRefusedError)
_SLOW_ADVICE = "try again when it has less to do"
_BUSY_ADVICE = "is it busy, or still loading?"
_PATH_ADVICE = (
    "the address of an endpoint often ends in /sparql (Virtuoso, Wikidata) or /query (Oxigraph, Fuseki)"
)
_ACCESS_ADVICE = "ask its operator for a user; write #, /, @ and : of a password as %23, %2F, %40, %3A"


class _Part(NamedTuple):
    """A part of the check, and the seconds that it may take."""

    name: str
    look: Callable[[CheckTarget], Awaitable[list[Finding]]]
    seconds: float
    heavy: bool = False  # public services are spared it
    lists_names: bool = False


CHECK_PARTS = (
    _Part("sample", content.take_sample, 8),
    _Part("row limit", query_limits.check_rows, 6),  # before the names, which a low one makes slow
    _Part("latency", query_limits.check_latency, 8, lists_names=True),
    _Part("names", content.check_names, 6, lists_names=True),
    _Part("queries", query_limits.check_query_kinds, 10),
    _Part("sorting", query_limits.check_order, 6),
    _Part("long queries", query_limits.check_length, 8),
    _Part("parallel", query_limits.check_parallel, 6, heavy=True),
    _Part("time limit", query_limits.check_time, 8, heavy=True),
)


async def check_endpoint(url: str) -> Report:
    """Look at an endpoint; raise `KGUnavailable` where it has no address, never for what it does."""
    start = time.monotonic()
    target = CheckTarget(url, REQUEST_SECONDS)
    try:
        findings = [*await _run_parts(target, start), *advise_public(url)]
    finally:
        await target.transport.close()
    return Report(target.transport.url, time.monotonic() - start, tuple(findings))


async def _run_parts(target: CheckTarget, start: float) -> list[Finding]:
    reached, server = await reach_endpoint(target)
    if reached.level == Level.FATAL:
        return [reached]
    target.is_virtuoso = server.startswith("Virtuoso")
    named = good("server", server, server=server) if server else note("server", "it says no name")
    findings = [reached, named]
    try:
        async with asyncio.timeout(OPENING_SECONDS):
            findings += await content.open_target(target)
    except TimeoutError:
        findings.append(fatal("graph", f"it cannot be opened within {OPENING_SECONDS:g} s", _SLOW_ADVICE))
    if any(finding.level == Level.FATAL for finding in findings):
        return findings
    for part in CHECK_PARTS:
        findings += await _run_part(target, part, TOTAL_SECONDS - (time.monotonic() - start))
    return findings + await _look_for_remains(target, float(reached.figures.get("seconds", 0)))


async def _look_for_remains(target: CheckTarget, before: float) -> list[Finding]:
    """Ask the trivial query again: a server that takes longer now goes on with what it was asked."""
    most, start = 3 * before + REST_SECONDS, time.monotonic()
    with suppress(*QUERY_FAILURES):
        await target.send(TRIVIAL_QUERY, most)
    if (seconds := time.monotonic() - start) < most:
        return []
    says = f"a question of nothing took {before:.1f} s at first, and more than {seconds:.1f} s at the end"
    advice = "it goes on with what nobody waits for; give it a time limit, and see what it is busy with"
    return [warning("still busy", says, advice, seconds=seconds)]


async def _run_part(target: CheckTarget, part: _Part, seconds_left: float) -> list[Finding]:
    if part.heavy and is_public(target.url):
        return [note(part.name, "not tried: others use this service too")]
    slow_advice = (part.lists_names and target.names_advice) or _SLOW_ADVICE
    if seconds_left <= 0:
        return [warning(part.name, "not tried: the time was up", slow_advice)]
    seconds = min(part.seconds, seconds_left)
    try:
        async with asyncio.timeout(seconds):
            return await part.look(target)
    except TimeoutError:
        return [warning(part.name, f"not done within {seconds:.0f} s", slow_advice)]
    except QUERY_FAILURES as error:
        return [warning(part.name, f"not done: {error_line(error)}", "look into the server's log")]


async def reach_endpoint(target: CheckTarget) -> tuple[Finding, str]:
    """Ask a trivial query; return what that tells, and what the server calls itself."""
    before = ""
    for number in range(1, REACH_TRIES + 1):
        start = time.monotonic()
        try:
            answer = await target.transport.send(TRIVIAL_QUERY, REACH_SECONDS)
            answer.read()
            return _reached_finding(number, before, time.monotonic() - start), answer.server
        except QUERY_FAILURES as error:
            before, advice = explain_failure(error)
            gone = any(isinstance(each, _NOBODY_THERE) for each in causes(error))
            if gone or not is_transient(error) or isinstance(error, httpx.TimeoutException):
                break
            if (wait := retry_after(error) or REACH_PAUSE_SECONDS) > 2 * REACH_PAUSE_SECONDS:
                break
            await asyncio.sleep(wait)
    return fatal("reachable", before, advice), ""


def _reached_finding(number: int, before: str, seconds: float) -> Finding:
    if number == 1:
        return good("reachable", f"it answers within {1000 * seconds:.0f} ms", seconds=seconds)
    says = f"it answered at try {number} only; before: {before}"
    advice = "look into the server's log, or that of what stands before it; kgqa asks up to three times"
    return warning("reachable", says, advice, seconds=seconds)


def explain_failure(error: Exception) -> tuple[str, str]:
    """Return what an error means, and what to do."""
    text, kinds = error_line(error), [type(each) for each in causes(error)]
    if socket.gaierror in kinds:
        advice = "look for a typing error in the address, or ask with the IP address"
        return "there is no host of this name", advice
    if any(issubclass(kind, ssl.SSLError) for kind in kinds):
        advice = "use http:// where the server has no TLS; for a certificate of your own set SSL_CERT_FILE"
        return f"no secure connection: {text}", advice
    if ConnectionRefusedError in kinds:
        return "nothing listens on this port", "start the server, or correct the port (Virtuoso has 8890)"
    match error:
        case httpx.ConnectTimeout():
            return f"no connection within {REACH_SECONDS:g} s", "look for a firewall between, and at the port"
        case httpx.ConnectError():
            return f"no connection: {text}", "look at the address, and for a firewall between"
        case httpx.TimeoutException():
            says = f"connected, but no answer within {REACH_SECONDS:g} s to a question of nothing"
            return says, _BUSY_ADVICE
        case httpx.HTTPStatusError() if status_of(error) == 429:
            wait = retry_after(error)
            asked = f", and asks to wait {wait:.0f} s" if wait else ""
            return f"it has had too many requests{asked} (429)", "wait, and ask less at once"
        case httpx.HTTPStatusError():
            says = f"the server cannot answer now: {text}"
            return says, "look into its log, or that of the proxy before it"
        case BrokenAnswer():
            return f"what answers is no SPARQL endpoint: {text}", _PATH_ADVICE
        case httpx.TransportError():
            advice = "look into the server's log, or that of the proxy before it"
            return f"the connection broke: {text}", advice
        case KGUnavailable():
            return text, _ACCESS_ADVICE if "refuses access" in text else _PATH_ADVICE
        case KGTimeout():
            return f"even a question of nothing takes too long: {text}", _BUSY_ADVICE
        case KGRejected():
            return f"it refuses even a question of nothing: {text}", _PATH_ADVICE
    return f"no answer: {text}", "try the address with curl"


def is_public(url: str) -> bool:
    """Return whether the address is that of a service others pay for; nothing heavy is tried there."""
    return any(_is_within(url, domain) for domain in PUBLIC_DOMAINS)


def advise_public(url: str) -> list[Finding]:
    """Return how to behave at a public service."""
    if not is_public(url):
        return []
    is_wikidata = _is_within(url, WIKIDATA_DOMAIN)
    advice = "use --concurrency 1, and an endpoint of your own for many questions"
    if is_wikidata:
        advice = (
            "a query may take 60 s, and a client 60 s of them a minute and five at a time; who goes on after "
            f"a 429 is shut out: {advice}"
        )
    findings = [note("public service", "others use it too", advice)]
    if not os.environ.get("KGQA_USER_AGENT"):
        advice = "set KGQA_USER_AGENT to your project with an address: 'my-study/1.0 (mailto:me@example.org)'"
        level = warning if is_wikidata else note
        findings.append(level("public service", "it is not told who asks", advice))
    return findings


def _is_within(url: str, domain: str) -> bool:
    host = (urlsplit(url).hostname or "").lower()
    return host == domain or host.endswith(f".{domain}")
