"""A server that speaks Bolt 4.4 and gives each query what a test says; it understands no Cypher."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

HELLO, GOODBYE, RESET, RUN, DISCARD, PULL, ROUTE = 0x01, 0x02, 0x0F, 0x10, 0x2F, 0x3F, 0x66
SUCCESS, RECORD, FAILURE = 0x70, 0x71, 0x7F


@dataclass(frozen=True)
class Structure:
    tag: int
    fields: Sequence[Any]


def date(days: int) -> Structure:
    """A date, in days since 1970."""
    return Structure(0x44, (days,))


def pack(value: Any) -> bytes:
    """Write a value as PackStream does, every size in four bytes."""
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return b"\xcb" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xc1" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return b"\xce" + struct.pack(">I", len(value)) + value
    if isinstance(value, str):
        return b"\xd2" + struct.pack(">I", len(value.encode())) + value.encode()
    if isinstance(value, Structure):
        return bytes([0xB0 | len(value.fields), value.tag]) + b"".join(map(pack, value.fields))
    if isinstance(value, dict):
        pairs = (pack(key) + pack(each) for key, each in value.items())
        return b"\xda" + struct.pack(">I", len(value)) + b"".join(pairs)
    return b"\xd6" + struct.pack(">I", len(value)) + b"".join(map(pack, value))


Answer = Callable[[str], Iterator[Any]]


class BoltServer:
    """Answers each query by the values of one column; a refusal or a hang-up is said by the answer.

    Args:
        answers: told the text of a query, gives its values; `ConnectionAbortedError` hangs up,
            `PermissionError` and `NotImplementedError` are told.
        refuses: whether no user is let in.
    """

    def __init__(self, answers: Answer, *, refuses: bool = False) -> None:
        self._answers, self.refuses = answers, refuses
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.queries: list[str] = []
        self.said: list[bytes] = []  # all that came
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError, IndexError), connection, connection.makefile("rwb") as stream:
            stream.read(20)
            stream.write(b"\x00\x00\x04\x04")
            stream.flush()
            while message := self._message(stream):
                self.said.append(message)
                if message[1] == GOODBYE:
                    return
                for tag, fields in self._reply(message):
                    packed = pack(Structure(tag, fields))
                    for at in range(0, len(packed), 65_535):
                        chunk = packed[at : at + 65_535]
                        stream.write(struct.pack(">H", len(chunk)) + chunk)
                    stream.write(b"\0\0")
                stream.flush()

    @staticmethod
    def _message(stream: Any) -> bytes:
        message = b""
        while size := struct.unpack(">H", stream.read(2).rjust(2, b"\0"))[0]:
            message += stream.read(size)
        return message

    def _reply(self, message: bytes) -> Iterator[tuple[int, Sequence[Any]]]:
        tag = message[1]
        if tag == HELLO and self.refuses:
            code = {"code": "Neo.ClientError.Security.Unauthorized", "message": "no such user: s3cr3t-word"}
            yield FAILURE, [code]
        elif tag == RUN:
            size = message[3] if message[2] == 0xD0 else message[2] & 0x0F
            start = 4 if message[2] == 0xD0 else 3
            self.queries.append(message[start : start + size].decode())
            yield SUCCESS, [{"fields": ["x"]}]
        elif tag == PULL:
            try:
                for value in self._answers(self.queries[-1]):
                    yield RECORD, [[value]]
            except (PermissionError, NotImplementedError) as error:
                kind = "Security.Forbidden" if isinstance(error, PermissionError) else "Statement.SyntaxError"
                yield FAILURE, [{"code": f"Neo.ClientError.{kind}", "message": str(error)}]
            else:
                yield SUCCESS, [{"type": "r"}]
        elif tag == ROUTE:
            servers = [
                {"addresses": [f"127.0.0.1:{self.port}"], "role": r} for r in ("READ", "WRITE", "ROUTE")
            ]
            yield SUCCESS, [{"rt": {"ttl": 300, "servers": servers, "db": "movies"}}]
        else:
            yield SUCCESS, [{"server": "Neo4j/4.4.0", "connection_id": "1"}]

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)


@contextmanager
def bolt_server(answers: Answer, *, refuses: bool = False) -> Iterator[BoltServer]:
    """Serve until the block ends."""
    server = BoltServer(answers, refuses=refuses)
    try:
        yield server
    finally:
        server.close()
