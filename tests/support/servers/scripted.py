"""Servers that say what a test writes: whole answers, or bytes as they come."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from kgqa.tests.support.servers.faults import JSON, Answer, Exchange, Fault
from kgqa.tests.support.servers.proxy import Proxy, Request

Said = Answer | Fault | None

HEADERS = f"HTTP/1.1 200 OK\r\nContent-Type: {JSON}\r\n"


def answer(*rows: str, headers: Sequence[tuple[str, str]] = (), column: str = "x") -> Answer:
    """An answer of these rows, each a text."""
    bindings = [{column: {"type": "literal", "value": row}} for row in rows]
    body = {"head": {"vars": [column]}, "results": {"bindings": bindings}}
    return told(json.dumps(body).encode(), *headers)


def told(body: bytes, *headers: tuple[str, str], status: int = 200) -> Answer:
    """An answer of this body."""
    return Answer(status, (("Content-Type", JSON), *headers), body)


@contextmanager
def saying(*first: Said, then: Said) -> Iterator[Proxy]:
    """Serve answers in order, and the last of them from then on; nobody is behind the proxy."""
    left = list(first)

    def choose(request: Request) -> Fault:
        said = left.pop(0) if left else then
        return said if callable(said) else lambda exchange: said

    with Proxy("http://127.0.0.1:1/sparql") as proxy:
        proxy.faults = choose
        yield proxy


class Blocks:
    """Sends to every request the same bytes, block by block, while its block lasts.

    Args:
        blocks: Gives the bytes; the connection closes after the last.
        pause: Seconds after each block.
        port: Where it listens; a free port if 0.
    """

    def __init__(self, blocks: Callable[[], Iterator[bytes]], pause: float = 0.0, port: int = 0) -> None:
        self._blocks, self._pause = blocks, pause
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}/sparql"
        self.asked = 0
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Blocks":
        self._start(self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in list(self._threads):
            thread.join()

    def _start(self, function: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=function, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _listen(self) -> None:
        with suppress(OSError):
            while not self._ended.is_set():
                connection, _ = self._listener.accept()
                self._start(self._send, connection)

    def _send(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(5)
            if not connection.recv(1 << 16):
                return
            self.asked += 1
            for block in self._blocks():
                connection.sendall(block)
                if self._ended.wait(self._pause):
                    return


def late(said: Answer, seconds: float) -> Fault:
    """An answer that takes so long."""

    def fault(exchange: Exchange) -> Answer:
        exchange.wait(seconds)
        return said

    return fault
