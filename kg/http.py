"""One SPARQL query over HTTP: SPARQLWrapper writes the request, httpx sends it.

SPARQLWrapper's own transport knows no deadline but the socket's, gives no headers with an error,
and opens a connection for each query. Nothing here repeats a request or judges an endpoint; that
is `endpoint`.
"""

import math
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request

import httpx
from SPARQLWrapper import GET, JSON, POST, SPARQLWrapper

from kgqa.addresses import shown_url
from kgqa.kg.errors import KGRejected, KGTimeout, KGUnavailable

LONG = 2_000
"""Characters from which on a query is posted: servers and proxies cut longer addresses."""

MOST = 1 << 28
"""Bytes of an answer at most."""

CONNECT = 10.0
"""Seconds that a connection may take."""

JSON_TYPES = ("application/sparql-results+json", "application/json")


_OF_THE_QUERY = re.compile(r"Virtuoso (22|37|42)\w{3} Error")
"""Virtuoso says 500 where it cannot compile or run a query, with a state of SQL that tells so."""


class BrokenAnswer(ConnectionError):
    """An answer that is none, or only a part of one; the next may be whole."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, and what its headers say.

    Attributes:
        body: SPARQL's JSON.
        rows: The rows that the server gives at most, if it says so.
        server: What the server calls itself.
    """

    body: bytes
    rows: float
    server: str


class _Writer(SPARQLWrapper):
    """Writes requests; `SPARQLWrapper` keeps to itself how."""

    def request(self) -> Request:
        return self._createRequest()


class Http:
    """Sends queries to one address, from any thread.

    Args:
        url: Of the endpoint. Parameters in it go with every query (``default-graph-uri``); a user
            and password in it are sent as Basic authentication.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.url = shown_url(url)
        self._parameters = parse_qsl(parts.query, keep_blank_values=True)
        self._user, self._password = parts.username, parts.password
        self._client = httpx.Client(
            limits=httpx.Limits(max_connections=None), follow_redirects=False, trust_env=True
        )
        self.close = self._client.close

    def send(self, query: str, seconds: float, stop: Callable[[], None], server: str = "") -> Answer:
        """Send one query and read its answer to the end.

        Args:
            query: SPARQL.
            seconds: That it may take in all; a server that can be told is told.
            stop: Called while the answer comes in; raises to break off.
            server: What the server called itself before.

        Raises:
            httpx.HTTPStatusError: if the server says that it cannot answer now.
            httpx.TransportError: if there is no connection, or it breaks.
            BrokenAnswer: if what comes is no answer, or not all of it.
            KGTimeout: if the server says that the query took too long.
            KGRejected: if it says that it will not answer this query.
            KGUnavailable: if it will answer none, however often it is asked.
        """
        end = time.monotonic() + seconds
        written = self._written(query, seconds, server)
        method, headers = written.get_method(), dict(written.header_items())
        timeout = httpx.Timeout(seconds, connect=min(CONNECT, seconds))
        with self._client.stream(
            method, written.full_url, headers=headers, content=_bytes(written), timeout=timeout
        ) as response:
            body = _read(response, end, stop)
        _judge(response, body)
        return Answer(body, _most(response), response.headers.get("server", ""))

    def _written(self, query: str, seconds: float, server: str) -> Request:
        writer = _Writer(self.url, agent=user_agent())
        writer.setQuery(query)
        writer.setReturnFormat(JSON)
        writer.setOnlyConneg(True)
        writer.setMethod(POST if len(query) > LONG else GET)
        for name, value in self._parameters:
            writer.addParameter(name, value)
        if server.startswith("Virtuoso"):
            writer.addParameter("timeout", str(math.ceil(1000 * seconds)))
        # what Blazegraph, and so Wikidata's service, is told by
        writer.addCustomHttpHeader("X-BIGDATA-MAX-QUERY-MILLIS", str(math.ceil(1000 * seconds)))
        if self._user:
            writer.setCredentials(self._user, self._password or "")
        return writer.request()


def user_agent() -> str:
    """Tell servers who asks; public ones want an address there: set KGQA_USER_AGENT."""
    return os.environ.get("KGQA_USER_AGENT") or f"kgqa (httpx/{httpx.__version__})"


def _bytes(request: Request) -> bytes | None:
    return request.data if isinstance(request.data, bytes) else None


def _read(response: httpx.Response, end: float, stop: Callable[[], None]) -> bytes:
    blocks, size = [], 0
    for block in response.iter_bytes():
        stop()
        size += len(block)
        if size > MOST:
            raise KGRejected(f"the answer is larger than {MOST >> 20} MB")
        if time.monotonic() > end:
            raise httpx.ReadTimeout("the answer takes too long")
        blocks.append(block)
    return b"".join(blocks)


def _judge(response: httpx.Response, body: bytes) -> None:
    """Raise what a response means that is no answer."""
    if response.headers.get("x-sql-state") == "S1TAT":  # Virtuoso gives what it has found so far
        raise KGTimeout("the server broke the query off and gave a part of the answer")
    if response.is_success:
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if kind not in JSON_TYPES:
            raise BrokenAnswer(f"an answer of type {kind or 'unknown'}, not SPARQL's JSON")
        return
    said = " ".join(body[:2_000].decode("utf-8", "replace").split())[:200]
    _refuse(response, said)
    raise httpx.HTTPStatusError(
        f"HTTP {response.status_code}: {said}", request=response.request, response=response
    )


def _refuse(response: httpx.Response, said: str) -> None:
    status = response.status_code
    if status == 504 or (status != 429 and _is_timeout(said)):
        raise KGTimeout(f"the server broke the query off: {said}")
    if status in {400, 413, 414, 422} or _OF_THE_QUERY.match(said):
        raise KGRejected(f"the server refused the query ({status}): {said}")
    if status in {401, 403}:
        raise KGUnavailable(
            f"it refuses access ({status}); put user and password into the address: http://user:password@…"
        )
    if response.is_redirect:
        raise KGUnavailable(f"it has moved; use {response.headers.get('location', 'its new address')}")
    if status in {404, 405, 406, 410, 415}:
        raise KGUnavailable(f"there is no SPARQL endpoint at this address ({status})")


def _is_timeout(said: str) -> bool:
    return any(word in said.lower() for word in ("timeout", "timed out", "time limit", "execution time"))


def _most(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("x-sparql-maxrows", ""))
    except ValueError:
        return math.inf
