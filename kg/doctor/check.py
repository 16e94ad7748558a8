"""The check of an endpoint: reached first, then every part in order, each within its time."""

import asyncio
import os
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from kgqa.kg.doctor import target
from kgqa.kg.doctor.content import check_names, open_target, take_sample
from kgqa.kg.doctor.queries import (
    check_latency,
    check_length,
    check_order,
    check_parallel,
    check_query_kinds,
    check_rows,
    check_time,
)
from kgqa.kg.doctor.target import (
    HTTP_FAILURES,
    CheckTarget,
    Finding,
    Level,
    Report,
    fatal,
    good,
    note,
    warning,
)
from kgqa.kg.endpoint.responses import BrokenAnswer
from kgqa.kg.endpoint.transport import HttpTransport
from kgqa.kg.errors import KGError, KGMalformed, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.sparql.decoding import read_rows
from kgqa.retries import is_transient, retry_after, status_of

REACH_CHECK = "reachable"

REACH_TRIES = 3
"""Requests until one is answered."""

REACH_SECONDS = 5.0
"""Seconds that each may take."""

REACH_PAUSE_SECONDS = 0.5
"""Seconds before the next, and that a server may ask to wait."""


def reach_endpoint(http: HttpTransport) -> tuple[Finding, str]:
    """Ask a question of nothing; gives what that tells, and what the server calls itself."""
    failures: list[Exception] = []
    for _ in range(REACH_TRIES):
        start = time.monotonic()
        try:
            answer = http.send(target.TRIVIAL_QUERY, REACH_SECONDS, lambda: None)
            read_rows(answer.body)
            return _reached_finding(failures, time.monotonic() - start), answer.server
        except (KGError, httpx.HTTPError, OSError) as error:
            failures.append(error)
            if not is_transient(error) or isinstance(error, httpx.TimeoutException) or _nobody_listens(error):
                break
        if (wait := retry_after(failures[-1]) or REACH_PAUSE_SECONDS) > 2 * REACH_PAUSE_SECONDS:
            break
        time.sleep(wait)
    says, advice = explain_failure(failures[-1])
    return fatal(REACH_CHECK, says, advice), ""


def _reached_finding(failures: list[Exception], seconds: float) -> Finding:
    if not failures:
        return good(REACH_CHECK, f"it answers within {1000 * seconds:.0f} ms", seconds=seconds)
    return warning(
        REACH_CHECK,
        f"it answered at try {len(failures) + 1} only; before: {explain_failure(failures[-1])[0]}",
        "look into the server's log, or that of what stands before it; kgqa asks up to three times",
        seconds=seconds,
    )


def _nobody_listens(error: BaseException) -> bool:
    """Return whether nobody listens there: the next request will not find anyone either."""
    return any(
        isinstance(each, socket.gaierror | ssl.SSLError | ConnectionRefusedError) for each in _causes(error)
    )


def explain_failure(error: Exception) -> tuple[str, str]:
    """Say what an error means, and what to do."""
    for told in (_explain_connection, _explain_http, _explain_sparql):
        if found := told(error):
            return found
    return f"no answer: {_error_text(error)}", "try the address with curl"


def _explain_connection(error: Exception) -> tuple[str, str] | None:
    why = list(_causes(error))
    if any(isinstance(each, socket.gaierror) for each in why):
        return (
            "there is no host of this name",
            "look for a typing error in the address, or ask with the IP address",
        )
    if any(isinstance(each, ssl.SSLError) for each in why):
        return (
            f"no secure connection: {_error_text(error)}",
            "use http:// where the server has no TLS; for a certificate of your own set SSL_CERT_FILE",
        )
    if any(isinstance(each, ConnectionRefusedError) for each in why):
        return "nothing listens on this port", "start the server, or correct the port (Virtuoso has 8890)"
    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection within {REACH_SECONDS:g} s", "look for a firewall between, and at the port"
    if isinstance(error, httpx.ConnectError):
        return f"no connection: {_error_text(error)}", "look at the address, and for a firewall between"
    return None


def _explain_http(error: Exception) -> tuple[str, str] | None:
    if isinstance(error, httpx.TimeoutException):
        return (
            f"connected, but no answer within {REACH_SECONDS:g} s to a question of nothing",
            "is it busy, or still loading?",
        )
    if status_of(error) == 429:
        wait = retry_after(error)
        asked = f", and asks to wait {wait:.0f} s" if wait else ""
        return f"it has had too many requests{asked} (429)", "wait, and ask less at once"
    if status_of(error):
        return (
            f"the server cannot answer now: {_error_text(error)}",
            "look into its log, or that of the proxy before it",
        )
    if isinstance(error, httpx.TransportError):
        return (
            f"the connection broke: {_error_text(error)}",
            "look into the server's log, or that of the proxy before it",
        )
    return None


def _explain_sparql(error: Exception) -> tuple[str, str] | None:
    ends = (
        "the address of an endpoint often ends in /sparql (Virtuoso, Wikidata) or /query (Oxigraph, Fuseki)"
    )
    match error:
        case BrokenAnswer():
            return f"what answers is no SPARQL endpoint: {_error_text(error)}", ends
        case KGMalformed():
            return "what answers is no SPARQL endpoint: it says JSON, but none of SPARQL's", ends
        case KGUnavailable() if "refuses access" in str(error):
            advice = "ask whoever runs it for a user; write #, /, @ and : of a password as %23, %2F, %40, %3A"
            return _error_text(error), advice
        case KGUnavailable():
            return _error_text(error), ends
        case KGTimeout():
            return (
                f"even a question of nothing takes too long: {_error_text(error)}",
                "is it busy, or still loading?",
            )
        case KGRejected():
            return f"it refuses even a question of nothing: {_error_text(error)}", ends
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _error_text(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


WIKIDATA_DOMAIN = "wikidata.org"
QLEVER_DOMAINS = ("qlever.dev", "qlever.cs.uni-freiburg.de")
OTHER_PUBLIC_DOMAINS = ("dbpedia.org",)


def is_public(url: str) -> bool:
    """Return whether the address is that of a service that others pay for; nothing heavy is tried there."""
    return any(_is_within(url, each) for each in (WIKIDATA_DOMAIN, *QLEVER_DOMAINS, *OTHER_PUBLIC_DOMAINS))


def advise_public(url: str) -> list[Finding]:
    """Say how to behave at a public service."""
    if not is_public(url):
        return []
    found = [note("public service", "others use it too", _public_limits(url))]
    if not os.environ.get("KGQA_USER_AGENT"):
        says = "it is not told who asks"
        advice = "set KGQA_USER_AGENT to your project with an address: 'my-study/1.0 (mailto:me@example.org)'"
        found.append((warning if _is_within(url, WIKIDATA_DOMAIN) else note)("public service", says, advice))
    return found


def _public_limits(url: str) -> str:
    if _is_within(url, WIKIDATA_DOMAIN):
        return (
            "a query may take 60 s, and a client 60 s of them a minute and five at a time; who goes on after "
            "a 429 is shut out: use --concurrency 1, and an endpoint of your own for many questions"
        )
    return "use --concurrency 1, and an endpoint of your own for many questions"


def _is_within(url: str, domain: str) -> bool:
    host = (urlsplit(url).hostname or "").lower()
    return host == domain or host.endswith(f".{domain}")


TOTAL_SECONDS = 28.0
"""Seconds for everything."""

OPENING_SECONDS = 15.0
"""Seconds for opening the graph."""

REQUEST_SECONDS = 6.0
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
    look: Callable[[CheckTarget], Awaitable[list[Finding]]]
    seconds: float
    heavy: bool = False


def _in_thread(
    look: Callable[[CheckTarget], list[Finding]],
) -> Callable[[CheckTarget], Awaitable[list[Finding]]]:
    return lambda subject: subject.in_thread(lambda: look(subject))


CHECK_PARTS = (
    _Part("sample", _in_thread(take_sample), 8),
    _Part("latency", check_latency, 8),
    _Part("names", check_names, 6),
    _Part("queries", check_query_kinds, 10),
    _Part("row limit", _in_thread(check_rows), 6),
    _Part("sorting", _in_thread(check_order), 6),
    _Part("long queries", _in_thread(check_length), 8),
    _Part("parallel", check_parallel, 6, heavy=True),
    _Part("time limit", _in_thread(check_time), 5, heavy=True),
)


async def check_endpoint(url: str) -> Report:
    """Look at an endpoint; never raises for what the endpoint does.

    Args:
        url: As `Http` takes it.

    Raises:
        KGUnavailable: if it is no address.
    """
    start = time.monotonic()
    subject = CheckTarget(url, REQUEST_SECONDS)
    try:
        findings = [*await _run_parts(subject, start), *advise_public(url)]
    finally:
        subject.http.close()
    return Report(subject.http.url, time.monotonic() - start, tuple(findings))


async def _run_parts(subject: CheckTarget, start: float) -> list[Finding]:
    reached, server = await subject.in_thread(lambda: reach_endpoint(subject.http))
    findings = [reached]
    if reached.level == Level.FATAL:
        return findings
    subject.is_virtuoso = server.startswith("Virtuoso")
    findings.append(good("server", server, server=server) if server else note("server", "it says no name"))
    findings += await _open_target(subject)
    if any(finding.level == Level.FATAL for finding in findings):
        return findings
    for part in CHECK_PARTS:
        findings += await _run_part(subject, part, TOTAL_SECONDS - (time.monotonic() - start))
    return findings


async def _open_target(subject: CheckTarget) -> list[Finding]:
    try:
        async with asyncio.timeout(OPENING_SECONDS):
            return await subject.in_thread(lambda: open_target(subject))
    except TimeoutError:
        return [fatal("graph", f"it cannot be opened within {OPENING_SECONDS:g} s", _SLOW_ADVICE)]


async def _run_part(subject: CheckTarget, part: _Part, left: float) -> list[Finding]:
    if part.heavy and is_public(subject.url):
        return [note(part.name, "not tried: others use this service too")]
    if left <= 0:
        return [warning(part.name, "not tried: the time was up", _SLOW_ADVICE)]
    try:
        async with asyncio.timeout(min(part.seconds, left)):
            return await part.look(subject)
    except TimeoutError:
        return [warning(part.name, f"not done within {min(part.seconds, left):.0f} s", _SLOW_ADVICE)]
    except (KGError, *HTTP_FAILURES) as error:
        return [warning(part.name, f"not done: {' '.join(str(error).split())}", "look into the server's log")]


_SLOW_ADVICE = "try again when it has less to do"
