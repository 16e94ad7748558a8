"""One SPARQL query over HTTP: SPARQLWrapper writes the request, httpx sends it.

SPARQLWrapper's own transport knows no deadline but the socket's, gives no headers with an error,
and opens a connection for each query. Nothing here repeats a request or judges an endpoint; that
is `endpoint`.

Virtuoso is not told the deadline: what is told one (``timeout``) may get a part of the answer, of
DISTINCT without any word of that. Its own limit (``MaxQueryExecutionTime``) ends in an error.
"""

import math
import os
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import parse_qsl, quote_plus, unquote, urlsplit, urlunsplit
from urllib.request import Request

import httpx
from SPARQLWrapper import GET, JSON, POST, SELECT, SPARQLWrapper

from kgqa.addresses import GRAPHS, check_password, hidden, is_word, log_shown, shown_url
from kgqa.kg.bodies import PACKED, Body, TooLarge, UnreadableBody
from kgqa.kg.errors import KGRejected, KGUnavailable
from kgqa.kg.responses import Answer, BrokenAnswer, answer_of
from kgqa.kg.terms import one_line
from kgqa.kg.wire import Deadline

LONG = 2_000
"""Characters of an address from which on a query is posted: servers and proxies cut longer ones."""

MOST = 1 << 26
"""Bytes of an answer at most, as they are after unpacking."""

REFUSAL = 1 << 16
"""Bytes that are read of an answer that is none; the rest is not waited for."""

CONNECT = 10.0
"""Seconds that a connection may take."""

SERVER_SHARE = 0.9
"""Of a deadline, what a server is told: it speaks before nobody listens any more."""

SAID = 200
"""Characters that are shown of what a server says."""

log_shown("httpx")


class _Writer(SPARQLWrapper):
    """Writes requests; `SPARQLWrapper` keeps to itself how."""

    def request(self) -> Request:
        return self._createRequest()

    def _parseQueryType(self, query: str) -> str:
        """Ask for all alike: only SELECT and ASK come here, and SPARQLWrapper's guess can be led astray."""
        return SELECT


class Http:
    """Sends queries to one address, from any thread.

    Args:
        url: Of the endpoint. Parameters in it go with every query (``default-graph-uri``); a user
            and password in it are sent as Basic authentication. Neither is shown again.

    Raises:
        KGUnavailable: if it is no address, or one that leads to half answers.
    """

    def __init__(self, url: str) -> None:
        url = url.strip()
        try:
            check_password(url)
            parts, _ = urlsplit(url), httpx.URL(url)
            if not parts.hostname or parts.port == 0:
                raise ValueError("it names no host, or port 0")
        except (ValueError, httpx.InvalidURL) as error:
            why = str(error).partition(": '")[0]  # what is quoted may be a password
            raise KGUnavailable(f"not the address of an endpoint: {why}") from None
        self.url = shown_url(url)
        self._address = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        self._parameters = _closed(parse_qsl(parts.query, keep_blank_values=True))
        if any(name == "timeout" for name, _ in self._parameters):
            raise KGUnavailable("leave the timeout out of the address: with it Virtuoso gives half answers")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        self._user = (user, password) if "@" in parts.netloc else None
        given = (user, *(value for name, value in self._parameters if name not in GRAPHS))
        keys = (value for value in given if not is_word(value))
        self._secrets = [password, b64encode(f"{user}:{password}".encode()).decode(), *keys]
        self._client = _client(parts.scheme == "https")
        self._deadline = Deadline()
        self._deadline.hold(self._client)
        self.close = self._client.close

    def send(self, query: str, seconds: float, stop: Callable[[], None]) -> Answer:
        """Send one query and read its answer to the end.

        Args:
            query: SPARQL.
            seconds: That it may take in all, however its bytes drip; a server that can be told is told.
            stop: Called several times a second; raises to break off.

        Raises:
            httpx.HTTPStatusError: if the server says that it cannot answer now.
            httpx.TransportError: if there is no connection, or it breaks.
            BrokenAnswer: if what comes is no answer, or not all of it.
            KGTimeout: if the server says that the query took too long.
            KGRejected: if it says that it will not answer this query.
            KGUnavailable: if it will answer none, however often it is asked.
        """
        written = self._written(query, seconds)
        method, headers = written.get_method(), {**dict(written.header_items()), "Accept-Encoding": PACKED}
        timeout = httpx.Timeout(seconds, connect=min(CONNECT, seconds))
        try:
            with (
                self._deadline.of(seconds, stop),
                self._client.stream(
                    method, written.full_url, headers=headers, content=_bytes(written), timeout=timeout
                ) as response,
            ):
                packed = self._in_time(response)
                body = _read(response, packed) if response.is_success else _begun(response, packed)
        except UnreadableBody as error:
            raise BrokenAnswer(str(error)) from None
        except TooLarge as error:
            raise KGRejected(str(error)) from None
        return answer_of(response, body, self._shown)

    def _in_time(self, response: httpx.Response) -> Iterator[bytes]:
        for packed in response.iter_raw():
            self._deadline.left()
            yield packed

    def _written(self, query: str, seconds: float) -> Request:
        try:
            long = len(quote_plus(query)) > LONG
        except UnicodeEncodeError as error:
            raise KGRejected(f"the query cannot be sent: {error}") from None
        writer = _Writer(self._address, agent=user_agent())
        writer.setQuery(query)
        writer.setReturnFormat(JSON)
        writer.setOnlyConneg(True)
        writer.setMethod(POST if long else GET)
        for name, value in self._parameters:
            writer.addParameter(name, value)
        # what Blazegraph, and so Wikidata's service, is told by
        writer.addCustomHttpHeader(
            "X-BIGDATA-MAX-QUERY-MILLIS", str(math.ceil(1000 * SERVER_SHARE * seconds))
        )
        if self._user:
            writer.setCredentials(*self._user)
        return writer.request()

    def _shown(self, text: str) -> str:
        """Give the beginning of what a server says, without what it was sent to let us in."""
        return one_line(hidden(text, [*self._secrets, *map(quote_plus, self._secrets)]), SAID)


def _closed(parameters: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Let GRAPH reach no other graphs of the server than those that an address names."""
    named = [("named-graph-uri", value) for name, value in parameters if name == "default-graph-uri"]
    own = any(name == "named-graph-uri" for name, _ in parameters)
    return parameters if own else [*parameters, *named]


def user_agent() -> str:
    """Tell servers who asks; public ones want an address there: set KGQA_USER_AGENT."""
    agent = one_line(os.environ.get("KGQA_USER_AGENT", "")) or f"kgqa (httpx/{httpx.__version__})"
    return agent.encode("ascii", "replace").decode()


def _client(secure: bool) -> httpx.Client:
    """Make a client that keeps to the proxies and certificates of the environment.

    Raises:
        KGUnavailable: if these cannot be used; what is said does not repeat them, passwords are in them.
    """
    try:
        return httpx.Client(
            verify=secure,  # to load certificates takes longer than most queries
            limits=httpx.Limits(max_connections=None),
            follow_redirects=False,
            trust_env=True,
        )
    except (ValueError, httpx.InvalidURL, OSError):
        raise KGUnavailable(
            "no connection can be made as the environment says: look at HTTP_PROXY, HTTPS_PROXY, "
            "ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"
        ) from None


def _bytes(request: Request) -> bytes | None:
    return request.data if isinstance(request.data, bytes) else None


def _read(response: httpx.Response, packed: Iterator[bytes]) -> bytes:
    """Read a body, as it comes packed, to its end.

    Raises:
        TooLarge, UnreadableBody: as `Body` does.
    """
    body = Body(response.headers.get("content-encoding", ""), MOST)
    whole = b"".join(block for part in packed for block in body.blocks(part))
    body.end()
    return whole


def _begun(response: httpx.Response, packed: Iterator[bytes]) -> bytes:
    """Read the beginning of what a server says instead of an answer."""
    begun = b""
    with suppress(TooLarge, UnreadableBody, httpx.HTTPError):
        body = Body(response.headers.get("content-encoding", ""), REFUSAL)
        for part in packed:
            for block in body.blocks(part):
                begun += block
    return begun
