"""A proxy between a client and an endpoint, which keeps what passes and puts faults in its way.

>>> from kgqa.tests.support.servers.faults import Status
>>> with Proxy("http://127.0.0.1:8890/sparql") as proxy:  # doctest: +SKIP
...     proxy.faults = [Status(503)]
...     ask(proxy.url)  # fails
...     ask(proxy.url)  # is answered
"""

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kgqa.tests.support.servers.faults import Answer, Fault

ALONE = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "accept-encoding"}
"""Headers that hold between two parties only, and the one that would have bodies packed."""


@dataclass(frozen=True)
class Request:
    """A request that came to the proxy: its parameters are those of its URL and of its form."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The parameters by name."""
        form = self.body.decode() if "form" in self.headers.get("content-type", "") else ""
        return parse_qs("&".join(part for part in (urlsplit(self.target).query, form) if part))

    @property
    def query(self) -> str:
        """The SPARQL text."""
        return self.parameters["query"][0] if "query" in self.parameters else self.body.decode()


class Proxy:
    """Passes requests on to an endpoint from a free port, while its block lasts.

    Attributes:
        url: Where it listens, with the path and the parameters of the endpoint.
        requests: What came, in order, faults included.
        faults: What is done to the next requests, in order, and nothing after that; or a function
            that chooses for each request (None: nothing is done).
    """

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = parts.netloc
        self._server = _Server(self)
        self._lock = threading.Lock()
        self.ended = threading.Event()
        self.url = parts._replace(netloc=f"127.0.0.1:{self._server.server_port}").geturl()
        self.requests: list[Request] = []
        self.faults: list[Fault] | Callable[[Request], Fault | None] = []

    @property
    def queries(self) -> list[str]:
        """The SPARQL texts that came, in order."""
        return [request.query for request in self.requests]

    def __enter__(self) -> "Proxy":
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: tuple[type[BaseException], BaseException, TracebackType]) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.disconnect()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: Request) -> Answer | None:
        """Return the answer to a request, None for a connection closed."""
        with self._lock:
            self.requests.append(request)
            fault = self._fault(request)
        exchange = _Exchange(self, request)
        return fault(exchange) if fault else exchange.fetch()

    def fetch(self, request: Request) -> Answer:
        """Return the endpoint's answer."""
        headers = {name: value for name, value in request.headers.items() if name not in ALONE}
        with closing(http.client.HTTPConnection(self._target, timeout=60)) as connection:
            connection.request(request.method, request.target, request.body or None, headers)
            response = connection.getresponse()
            kept = [(name, value) for name, value in response.getheaders() if name.lower() not in ALONE]
            return Answer(response.status, tuple(kept), response.read())

    def _fault(self, request: Request) -> Fault | None:
        if callable(self.faults):
            return self.faults(request)
        return self.faults.pop(0) if self.faults else None


@dataclass(frozen=True)
class _Exchange:
    proxy: Proxy
    request: Request

    def fetch(self) -> Answer:
        return self.proxy.fetch(self.request)

    def wait(self, seconds: float) -> None:
        self.proxy.ended.wait(seconds)


class _Server(ThreadingHTTPServer):
    """Waits for its threads when it closes, and so ends the connections that they read from."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def disconnect(self) -> None:
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        answer = self.server.proxy.answer(Request(self.command, self.path, headers, body))
        with self._unless_gone():
            if answer is None:
                self.close_connection = True
            else:
                self._send(answer)

    do_POST = do_GET

    def _send(self, answer: Answer) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        body = answer.body
        if answer.framing == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        elif answer.framing == "length":
            self.send_header("Content-Length", str(answer.length or len(body)))
        if answer.framing == "close" or answer.length is not None:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    @contextmanager
    def _unless_gone(self) -> Iterator[None]:
        try:
            yield
        except OSError:  # the client gave up
            self.close_connection = True

    def finish(self) -> None:
        with suppress(OSError):  # what is left to be sent cannot be
            super().finish()
        self.rfile.close()

    def log_message(self, format: str, *args: Any) -> None:
        pass
