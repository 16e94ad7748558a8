"""Is anything there, and does it speak SPARQL?"""

import socket
import ssl
import time
from collections.abc import Iterator

import httpx

from kgqa.kg.checking import texts
from kgqa.kg.checking.finding import Finding, fatal, good, warning
from kgqa.kg.errors import KGError, KGMalformed, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.http import Http
from kgqa.kg.responses import BrokenAnswer
from kgqa.kg.results import read_rows
from kgqa.retries import is_transient, retry_after, status_of

CHECK = "reachable"

TRIES = 3
"""Requests until one is answered."""

WAIT = 5.0
"""Seconds that each may take."""

PAUSE = 0.5
"""Seconds before the next, and that a server may ask to wait."""


def reach(http: Http) -> tuple[Finding, str]:
    """Ask a question of nothing; gives what that tells, and what the server calls itself."""
    failures: list[Exception] = []
    for _ in range(TRIES):
        start = time.monotonic()
        try:
            answer = http.send(texts.NOTHING, WAIT, lambda: None)
            read_rows(answer.body)
            return _reached(failures, time.monotonic() - start), answer.server
        except (KGError, httpx.HTTPError, OSError) as error:
            failures.append(error)
            if not is_transient(error) or isinstance(error, httpx.TimeoutException) or _is_gone(error):
                break
        if (wait := retry_after(failures[-1]) or PAUSE) > 2 * PAUSE:
            break
        time.sleep(wait)
    says, advice = explain(failures[-1])
    return fatal(CHECK, says, advice), ""


def _reached(failures: list[Exception], seconds: float) -> Finding:
    if not failures:
        return good(CHECK, f"it answers within {1000 * seconds:.0f} ms", seconds=seconds)
    return warning(
        CHECK,
        f"it answered at try {len(failures) + 1} only; before: {explain(failures[-1])[0]}",
        "look into the server's log, or that of what stands before it; kgqa asks up to three times",
        seconds=seconds,
    )


def _is_gone(error: BaseException) -> bool:
    """Tell whether nobody listens there: the next request will not find anyone either."""
    return any(
        isinstance(each, socket.gaierror | ssl.SSLError | ConnectionRefusedError) for each in _why(error)
    )


def explain(error: Exception) -> tuple[str, str]:
    """Say what an error means, and what to do."""
    for told in (_of_the_line, _of_http, _of_sparql):
        if found := told(error):
            return found
    return f"no answer: {_text(error)}", "try the address with curl"


def _of_the_line(error: Exception) -> tuple[str, str] | None:
    why = list(_why(error))
    if any(isinstance(each, socket.gaierror) for each in why):
        return (
            "there is no host of this name",
            "look for a typing error in the address, or ask with the IP address",
        )
    if any(isinstance(each, ssl.SSLError) for each in why):
        return (
            f"no secure connection: {_text(error)}",
            "use http:// where the server has no TLS; for a certificate of your own set SSL_CERT_FILE",
        )
    if any(isinstance(each, ConnectionRefusedError) for each in why):
        return "nothing listens on this port", "start the server, or correct the port (Virtuoso has 8890)"
    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection within {WAIT:g} s", "look for a firewall between, and at the port"
    if isinstance(error, httpx.ConnectError):
        return f"no connection: {_text(error)}", "look at the address, and for a firewall between"
    return None


def _of_http(error: Exception) -> tuple[str, str] | None:
    if isinstance(error, httpx.TimeoutException):
        return (
            f"connected, but no answer within {WAIT:g} s to a question of nothing",
            "is it busy, or still loading?",
        )
    if status_of(error) == 429:
        wait = retry_after(error)
        asked = f", and asks to wait {wait:.0f} s" if wait else ""
        return f"it has had too many requests{asked} (429)", "wait, and ask less at once"
    if status_of(error):
        return (
            f"the server cannot answer now: {_text(error)}",
            "look into its log, or that of the proxy before it",
        )
    if isinstance(error, httpx.TransportError):
        return (
            f"the connection broke: {_text(error)}",
            "look into the server's log, or that of the proxy before it",
        )
    return None


def _of_sparql(error: Exception) -> tuple[str, str] | None:
    ends = (
        "the address of an endpoint often ends in /sparql (Virtuoso, Wikidata) or /query (Oxigraph, Fuseki)"
    )
    match error:
        case BrokenAnswer():
            return f"what answers is no SPARQL endpoint: {_text(error)}", ends
        case KGMalformed():
            return "what answers is no SPARQL endpoint: it says JSON, but none of SPARQL's", ends
        case KGUnavailable() if "refuses access" in str(error):
            advice = "ask whoever runs it for a user; write #, /, @ and : of a password as %23, %2F, %40, %3A"
            return _text(error), advice
        case KGUnavailable():
            return _text(error), ends
        case KGTimeout():
            return (
                f"even a question of nothing takes too long: {_text(error)}",
                "is it busy, or still loading?",
            )
        case KGRejected():
            return f"it refuses even a question of nothing: {_text(error)}", ends
    return None


def _why(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _text(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
