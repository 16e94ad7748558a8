"""Transport of one SPARQL query over HTTP: SPARQLWrapper writes the request, httpx sends it.

SPARQLWrapper's own transport knows no deadline but the socket's, gives no headers with an error,
and opens a connection for each query. Nothing here repeats a request or judges an endpoint; that
is `client`.

Virtuoso is not told the deadline: what is told one (``timeout``) may get a part of the answer, of
DISTINCT without any word of that. Its own limit (``MaxQueryExecutionTime``) ends in an error.
"""

import asyncio
import math
import os
import socket
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import parse_qsl, quote_plus, unquote, urlsplit, urlunsplit
from urllib.request import Request

import httpx
from SPARQLWrapper import GET, JSON, POST, SELECT, SPARQLWrapper

from kgqa.addresses import (
    GRAPH_PARAMETERS,
    check_password,
    is_plain_word,
    redact_logged_urls,
    redact_text,
    server_of_url,
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

MAX_GET_URL_CHARS = 2_000  # a longer query, once encoded, is posted: servers and proxies cut longer addresses
MAX_RESPONSE_BYTES = 1 << 26  # of an answer after decompression
MAX_REFUSAL_BYTES = 1 << 16  # read of a response that is no answer; the rest is not waited for

METHOD_REFUSED = (405, 501)  # how servers say that they take GET alone, or POST

CONNECT_SECONDS = 10.0

SERVER_DEADLINE_SHARE = 0.9  # of a deadline, what a server is told: it answers before nobody listens any more
MAX_MESSAGE_CHARS = 200  # shown of a server's error message

redact_logged_urls("httpx")


class _RequestWriter(SPARQLWrapper):
    """Writes the request of one query, which the base class would send as well."""

    def _getAcceptHeader(self) -> str:
        # weighed: to some servers plain JSON is a format of their own
        return "application/sparql-results+json, application/json;q=0.5"

    def request(self) -> Request:
        return self._createRequest()


class HttpTransport:
    """Sends queries to one address, all from one event loop.

    Args:
        url: Of the endpoint. Its parameters go with every query (``default-graph-uri``); a user
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
            reason = str(error).partition(": '")[0]  # what is quoted may be a password
            raise KGUnavailable(f"not the address of an endpoint: {reason}") from None
        self.url = server_of_url(url)
        self._address = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        self._parameters = _restrict_graphs(parse_qsl(parts.query, keep_blank_values=True))
        if any(name == "timeout" for name, _ in self._parameters):
            raise KGUnavailable("leave the timeout out of the address: with it Virtuoso gives half answers")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        self._credentials = (user, password) if "@" in parts.netloc else None
        values = (user, *(value for name, value in self._parameters if name not in GRAPH_PARAMETERS))
        keys = (value for value in values if not is_plain_word(value))
        self._secrets = [password, b64encode(f"{user}:{password}".encode()).decode(), *keys]
        self._method: str | None = None  # the only one that the server knows
        self._client = _make_client(parts.scheme == "https")
        self.close = self._client.aclose

    async def send(self, query: str, seconds: float) -> EndpointAnswer:
        """Send one query and read its answer to the end.

        Args:
            query: SPARQL.
            seconds: That it may take in all, however its bytes drip; a server that can be told is told.

        Raises:
            httpx.HTTPStatusError: if the server says that it cannot answer now.
            httpx.TransportError: if there is no connection, it breaks, or the answer takes too long.
            BrokenAnswer: if what comes is no answer, or not all of it.
            KGTimeout: if the server says that the query took too long.
            KGRejected: if it says that it will not answer this query.
            KGUnavailable: if it will answer none, however often it is asked.
        """
        try:
            async with asyncio.timeout(seconds):
                response, body = await self._exchange(query, seconds)
                asked = response.request.method
                if response.status_code in METHOD_REFUSED and self._method != asked:
                    self._method = POST if asked == GET else GET
                    response, body = await self._exchange(query, seconds)
        except TimeoutError:
            raise httpx.ReadTimeout("the answer takes too long") from None
        except httpx.TransportError as error:
            raise type(error)(_system_message(error)) from error
        except UnreadableBody as error:
            raise BrokenAnswer(str(error)) from None
        except AnswerTooLarge as error:
            raise KGRejected(str(error)) from None
        return read_response(response, body, self._redact)

    async def _exchange(self, query: str, seconds: float) -> tuple[httpx.Response, bytes]:
        """Send one request; return the response and its body."""
        written = self._write_request(query, seconds)
        # ends before the whole does, so that a host that is not there is told from a slow one
        timeout = httpx.Timeout(None, connect=min(CONNECT_SECONDS, SERVER_DEADLINE_SHARE * seconds))
        headers = {**dict(written.header_items()), "Accept-Encoding": ACCEPTED_ENCODINGS}
        content = written.data if isinstance(written.data, bytes) else None
        method, url = written.get_method(), written.full_url
        try:
            request = self._client.build_request(
                method, url, headers=headers, content=content, timeout=timeout
            )
        except httpx.InvalidURL:
            raise KGRejected("the query is too long for GET, and the server does not take POST") from None
        response = await self._client.send(request, stream=True)
        try:
            return response, await (_read_body if response.is_success else _read_refusal)(response)
        finally:
            await response.aclose()

    def _write_request(self, query: str, seconds: float) -> Request:
        try:
            is_long = len(quote_plus(query)) > MAX_GET_URL_CHARS
        except UnicodeEncodeError as error:
            raise KGRejected(f"the query cannot be sent: {error}") from None
        writer = _RequestWriter(self._address, returnFormat=JSON, agent=user_agent())
        # not by `setQuery`, which guesses the kind of a query and can be led astray
        writer.queryString, writer.queryType = query, SELECT
        writer.setOnlyConneg(True)
        writer.setMethod(self._method or (POST if is_long else GET))
        for name, value in self._parameters:
            writer.addParameter(name, value)
        # what Blazegraph, and so Wikidata's service, is told by
        milliseconds = math.ceil(1000 * SERVER_DEADLINE_SHARE * seconds)
        writer.addCustomHttpHeader("X-BIGDATA-MAX-QUERY-MILLIS", str(milliseconds))
        if self._credentials:
            writer.setCredentials(*self._credentials)
        return writer.request()

    def _redact(self, text: str) -> str:
        """Return the beginning of a server's message, without what it was sent to let us in."""
        secrets = [*self._secrets, *map(quote_plus, self._secrets)]
        return one_line(redact_text(text, secrets), MAX_MESSAGE_CHARS)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Go through an error and all that it came from."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for each in error.exceptions:
                yield from causes(each)
        error = error.__cause__ or error.__context__


def _system_message(error: httpx.TransportError) -> str:
    """Return what the system says of a connection, where it does: httpx says less, or nothing."""
    for each in causes(error):
        if isinstance(each, OSError) and each.errno and not isinstance(each, socket.gaierror | ssl.SSLError):
            return f"[Errno {each.errno}] {os.strerror(each.errno)}"
    return str(error)


def _restrict_graphs(parameters: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Let GRAPH reach no other graphs of the server than those that an address names."""
    named = [("named-graph-uri", value) for name, value in parameters if name == "default-graph-uri"]
    own = any(name == "named-graph-uri" for name, _ in parameters)
    return parameters if own else [*parameters, *named]


def user_agent() -> str:
    """Return who asks, as servers are told; public ones want an address there: set KGQA_USER_AGENT."""
    agent = one_line(os.environ.get("KGQA_USER_AGENT", "")) or f"kgqa (httpx/{httpx.__version__})"
    return agent.encode("ascii", "replace").decode()


def _make_client(secure: bool) -> httpx.AsyncClient:
    """Make a client that keeps to the proxies and certificates of the environment."""
    try:
        return httpx.AsyncClient(
            verify=secure,  # to load certificates takes longer than most queries
            limits=httpx.Limits(max_connections=None),
            follow_redirects=False,
            trust_env=True,
        )
    except (ValueError, httpx.InvalidURL, OSError):  # not repeated: passwords are in them
        raise KGUnavailable(
            "no connection can be made as the environment says: look at HTTP_PROXY, HTTPS_PROXY, "
            "ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"
        ) from None


async def _read_body(response: httpx.Response) -> bytes:
    """Read a body to its end; raise as `BodyDecoder` does."""
    decoder = BodyDecoder(response.headers.get("content-encoding", ""), MAX_RESPONSE_BYTES)
    body = b"".join([block async for part in response.aiter_raw() for block in decoder.blocks(part)])
    decoder.end()
    return body


async def _read_refusal(response: httpx.Response) -> bytes:
    """Read the beginning of a response that is no answer."""
    body = b""
    with suppress(AnswerTooLarge, UnreadableBody, httpx.HTTPError):
        decoder = BodyDecoder(response.headers.get("content-encoding", ""), MAX_REFUSAL_BYTES)
        async for part in response.aiter_raw():
            for block in decoder.blocks(part):
                body += block
    return body
