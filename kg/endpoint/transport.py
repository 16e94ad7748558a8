"""Transport of one SPARQL query over HTTP: SPARQLWrapper writes the request, httpx sends it.

SPARQLWrapper's own transport knows no deadline but the socket's, gives no headers with an error,
and opens a connection for each query. Nothing here repeats a request or judges an endpoint; that
is `client`.

Virtuoso is not told the deadline: what is told one (``timeout``) may get a part of the answer, of
DISTINCT without any word of that. Its own limit (``MaxQueryExecutionTime``) ends in an error.
"""

import math
import os
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qsl, quote_plus, unquote, urlsplit, urlunsplit
from urllib.request import Request

import httpcore
import httpx
from SPARQLWrapper import GET, JSON, POST, SELECT, SPARQLWrapper

from kgqa.addresses import (
    GRAPH_PARAMETERS,
    check_password,
    is_plain_word,
    redact_logged_urls,
    redact_text,
    redact_url,
)
from kgqa.kg.endpoint.responses import (
    ACCEPTED_ENCODINGS,
    AnswerTooLarge,
    BodyDecoder,
    BrokenAnswer,
    EndpointAnswer,
    UnreadableBody,
    read_response,
)
from kgqa.kg.errors import KGRejected, KGUnavailable
from kgqa.kg.terms import one_line

POLL_SECONDS = 0.2
"""Seconds after which whoever waits for bytes looks whether anybody still wants them."""

BYTES_PER_WRITE = 1 << 16
"""Bytes that are sent at a time."""


class Deadline:
    """What the request of each thread may take; connections ask for it at every read."""

    def __init__(self) -> None:
        self._of_thread = threading.local()

    @contextmanager
    def of(self, seconds: float, stop: Callable[[], None]) -> Iterator[None]:
        """Hold the requests of this thread to it, while the block lasts.

        Args:
            seconds: That they may take in all.
            stop: Called before every read; raises to break off.
        """
        self._of_thread.held = (time.monotonic() + seconds, stop)
        try:
            yield
        finally:
            del self._of_thread.held

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            httpx.ReadTimeout: if there are none.
            Exception: what ``stop`` raises.
        """
        end, stop = self._of_thread.held
        stop()
        if (left := end - time.monotonic()) <= 0:
            raise httpx.ReadTimeout("the answer takes too long")
        return float(left)

    def hold(self, client: httpx.Client) -> None:
        """Hold the connections of a client to it, through proxies as well.

        Raises:
            RuntimeError: if this httpx keeps its connections where they cannot be held.
        """
        transports = [each for each in (client._transport, *client._mounts.values()) if each is not None]
        try:
            for pool in [vars(transport)["_pool"] for transport in transports]:
                pool._network_backend = _DeadlineBackend(pool._network_backend, self)
        except (KeyError, AttributeError):
            known = "install a version that kgqa's pyproject.toml names"
            raise RuntimeError(f"httpx {httpx.__version__} cannot be held to a deadline; {known}") from None


class _DeadlineBackend(httpcore.NetworkBackend):
    """Opens connections that keep to a deadline."""

    def __init__(self, backend: httpcore.NetworkBackend, deadline: Deadline) -> None:
        self._backend, self._deadline = backend, deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        timeout = min(timeout or POLL_SECONDS, self._deadline.left())
        stream = self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        return _DeadlineStream(stream, self._deadline)


class _DeadlineStream(httpcore.NetworkStream):
    """A connection; it has no timeouts but those of the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        while True:
            try:
                return self._stream.read(max_bytes, min(POLL_SECONDS, self._deadline.left()))
            except httpcore.ReadTimeout:
                pass

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), BYTES_PER_WRITE):
            self._stream.write(buffer[start : start + BYTES_PER_WRITE], self._deadline.left())

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._deadline.left()
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


MAX_GET_URL_CHARS = 2_000
"""Characters of an address from which on a query is posted: servers and proxies cut longer ones."""

MAX_RESPONSE_BYTES = 1 << 26
"""Bytes of an answer at most, as they are after unpacking."""

MAX_REFUSAL_BYTES = 1 << 16
"""Bytes that are read of an answer that is none; the rest is not waited for."""

CONNECT_SECONDS = 10.0
"""Seconds that a connection may take."""

SERVER_DEADLINE_SHARE = 0.9
"""Of a deadline, what a server is told: it speaks before nobody listens any more."""

MAX_MESSAGE_CHARS = 200
"""Characters that are shown of what a server says."""

redact_logged_urls("httpx")


class _RequestWriter(SPARQLWrapper):
    """Writes requests; `SPARQLWrapper` keeps to itself how."""

    def request(self) -> Request:
        return self._createRequest()

    def _parseQueryType(self, query: str) -> str:
        """Ask for all alike: only SELECT and ASK come here, and SPARQLWrapper's guess can be led astray."""
        return SELECT


class HttpTransport:
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
        self.url = redact_url(url)
        self._address = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        self._parameters = _restrict_graphs(parse_qsl(parts.query, keep_blank_values=True))
        if any(name == "timeout" for name, _ in self._parameters):
            raise KGUnavailable("leave the timeout out of the address: with it Virtuoso gives half answers")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        self._user = (user, password) if "@" in parts.netloc else None
        given = (user, *(value for name, value in self._parameters if name not in GRAPH_PARAMETERS))
        keys = (value for value in given if not is_plain_word(value))
        self._secrets = [password, b64encode(f"{user}:{password}".encode()).decode(), *keys]
        self._client = _make_client(parts.scheme == "https")
        self._deadline = Deadline()
        self._deadline.hold(self._client)
        self.close = self._client.close

    def send(self, query: str, seconds: float, stop: Callable[[], None]) -> EndpointAnswer:
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
        method, headers = (
            written.get_method(),
            {**dict(written.header_items()), "Accept-Encoding": ACCEPTED_ENCODINGS},
        )
        timeout = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        try:
            with (
                self._deadline.of(seconds, stop),
                self._client.stream(
                    method, written.full_url, headers=headers, content=_request_body(written), timeout=timeout
                ) as response,
            ):
                packed = self._in_time(response)
                body = (
                    _read_body(response, packed) if response.is_success else _read_refusal(response, packed)
                )
        except UnreadableBody as error:
            raise BrokenAnswer(str(error)) from None
        except AnswerTooLarge as error:
            raise KGRejected(str(error)) from None
        return read_response(response, body, self._shown)

    def _in_time(self, response: httpx.Response) -> Iterator[bytes]:
        for packed in response.iter_raw():
            self._deadline.left()
            yield packed

    def _written(self, query: str, seconds: float) -> Request:
        try:
            long = len(quote_plus(query)) > MAX_GET_URL_CHARS
        except UnicodeEncodeError as error:
            raise KGRejected(f"the query cannot be sent: {error}") from None
        writer = _RequestWriter(self._address, agent=user_agent())
        writer.setQuery(query)
        writer.setReturnFormat(JSON)
        writer.setOnlyConneg(True)
        writer.setMethod(POST if long else GET)
        for name, value in self._parameters:
            writer.addParameter(name, value)
        # what Blazegraph, and so Wikidata's service, is told by
        writer.addCustomHttpHeader(
            "X-BIGDATA-MAX-QUERY-MILLIS", str(math.ceil(1000 * SERVER_DEADLINE_SHARE * seconds))
        )
        if self._user:
            writer.setCredentials(*self._user)
        return writer.request()

    def _shown(self, text: str) -> str:
        """Return the beginning of what a server says, without what it was sent to let us in."""
        return one_line(
            redact_text(text, [*self._secrets, *map(quote_plus, self._secrets)]), MAX_MESSAGE_CHARS
        )


def _restrict_graphs(parameters: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Let GRAPH reach no other graphs of the server than those that an address names."""
    named = [("named-graph-uri", value) for name, value in parameters if name == "default-graph-uri"]
    own = any(name == "named-graph-uri" for name, _ in parameters)
    return parameters if own else [*parameters, *named]


def user_agent() -> str:
    """Tell servers who asks; public ones want an address there: set KGQA_USER_AGENT."""
    agent = one_line(os.environ.get("KGQA_USER_AGENT", "")) or f"kgqa (httpx/{httpx.__version__})"
    return agent.encode("ascii", "replace").decode()


def _make_client(secure: bool) -> httpx.Client:
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


def _request_body(request: Request) -> bytes | None:
    return request.data if isinstance(request.data, bytes) else None


def _read_body(response: httpx.Response, packed: Iterator[bytes]) -> bytes:
    """Read a body, as it comes packed, to its end.

    Raises:
        TooLarge, UnreadableBody: as `Body` does.
    """
    body = BodyDecoder(response.headers.get("content-encoding", ""), MAX_RESPONSE_BYTES)
    whole = b"".join(block for part in packed for block in body.blocks(part))
    body.end()
    return whole


def _read_refusal(response: httpx.Response, packed: Iterator[bytes]) -> bytes:
    """Read the beginning of what a server says instead of an answer."""
    begun = b""
    with suppress(AnswerTooLarge, UnreadableBody, httpx.HTTPError):
        body = BodyDecoder(response.headers.get("content-encoding", ""), MAX_REFUSAL_BYTES)
        for part in packed:
            for block in body.blocks(part):
                begun += block
    return begun
