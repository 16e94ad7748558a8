"""Connections that are read only as long as a request may take, and as somebody waits for it.

httpx knows how long a single read may take, and not all of them together: a server that sends
its headers byte by byte would hold a thread for hours.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

WAIT = 0.2
"""Seconds after which whoever waits for bytes looks whether anybody still wants them."""

PIECE = 1 << 16
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
        """Give the seconds that are left.

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
                pool._network_backend = _Backend(pool._network_backend, self)
        except (KeyError, AttributeError):
            known = "install a version that kgqa's pyproject.toml names"
            raise RuntimeError(f"httpx {httpx.__version__} cannot be held to a deadline; {known}") from None


class _Backend(httpcore.NetworkBackend):
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
        timeout = min(timeout or WAIT, self._deadline.left())
        stream = self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        return _Stream(stream, self._deadline)


class _Stream(httpcore.NetworkStream):
    """A connection; it has no timeouts but those of the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        while True:
            try:
                return self._stream.read(max_bytes, min(WAIT, self._deadline.left()))
            except httpcore.ReadTimeout:
                pass

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), PIECE):
            self._stream.write(buffer[start : start + PIECE], self._deadline.left())

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._deadline.left()
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
