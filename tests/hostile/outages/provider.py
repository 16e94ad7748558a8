"""A provider of models over real HTTP that answers each prompt by its schema, and fails on cue."""

import asyncio
import gzip
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Write = asyncio.StreamWriter

Fault = Callable[[Write], Awaitable[None]]
"""What is sent in place of an answer; the connection is closed then."""

KEY = "sk-planted-0815-0815-0815"
"""The key that questions are asked with."""


TLS = b"\x16"
"""What a client begins with that wants its connection encrypted; nobody does so here."""


@dataclass
class Provider:
    """Answers at ``url`` the first ``spared`` requests; to the next ``times`` of them ``fault`` happens."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    fault: Fault | None = None
    spared: int = 0
    times: int = 1_000_000

    def fail(self, fault: Fault | None, spared: int = 0, times: int = 1_000_000) -> None:
        """Begin anew."""
        self.fault, self.spared, self.times = fault, spared, times
        self.requests.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: Write) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                if (first := await reader.readexactly(1)) == TLS:
                    break
                head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = int(head.partition("content-length:")[2].partition("\r\n")[0] or 0)
                self.requests.append(json.loads(await reader.readexactly(length)))
                place = len(self.requests) - 1 - self.spared
                if self.fault and 0 <= place < self.times:
                    await self.fault(writer)
                    break
                await send(writer, 200, completion(reply(self.requests[-1])))


@asynccontextmanager
async def providing() -> AsyncIterator[Provider]:
    """Serve on a free port of this machine while the block lasts."""
    provider = Provider()
    open_now: set[asyncio.Task[Any] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: Write) -> None:
        task = asyncio.current_task()
        open_now.add(task)
        with suppress(asyncio.CancelledError):
            await provider.serve(reader, writer)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        open_now.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 24)
    provider.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield provider
    finally:
        server.close()
        left = [task for task in open_now if task]
        for task in left:
            task.cancel()
        await asyncio.gather(*left)


async def send(writer: Write, status: int, body: bytes, *headers: str) -> None:
    """Send a whole answer."""
    lines = [
        f"HTTP/1.1 {status} .",
        f"Content-Length: {len(body)}",
        "Content-Type: application/json",
        *headers,
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await writer.drain()


def completion(message: dict[str, Any]) -> bytes:
    """Write a chat completion of 10 + 4 tokens."""
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "stub",
            "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14},
        }
    ).encode()


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """Reply by the schema that is asked for, by a tool where there are some, or with a query."""
    if form := request.get("response_format"):
        schema = form["json_schema"]["schema"]
        return {"content": json.dumps(filled(schema, schema.get("$defs", {})))}
    turns = sum(message["role"] == "assistant" for message in request["messages"])
    if request.get("tools") and turns < 3:
        function = {"name": "find_entities", "arguments": '{"text": "Ada"}'}
        return {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}
    return {"content": "SELECT ?x WHERE { <http://t/e/ada> <http://t/r/child> ?x }"}


def filled(schema: dict[str, Any], defs: dict[str, Any]) -> Any:
    """Return the first value that fits a schema."""
    if "$ref" in schema:
        return filled(defs[schema["$ref"].rpartition("/")[2]], defs)
    for choice in ("enum", "anyOf", "oneOf", "allOf"):
        if choice in schema:
            return schema[choice][0] if choice == "enum" else filled(schema[choice][0], defs)
    if "const" in schema:
        return schema["const"]
    match schema.get("type"):
        case "object":
            return {name: filled(part, defs) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [filled(schema["items"], defs)]
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return False
    return "child"


def status(code: int, *headers: str, message: str = f"no, and not with {KEY}") -> Fault:
    """An error of the provider, which shows the key that it was sent."""

    async def fault(writer: Write) -> None:
        body = json.dumps({"error": {"message": message, "type": "stub", "code": None}}).encode()
        await send(writer, code, body, *headers)

    return fault


def body(content: bytes, *headers: str) -> Fault:
    """A body that is none."""

    async def fault(writer: Write) -> None:
        await send(writer, 200, content, *headers)

    return fault


async def closed(writer: Write) -> None:
    """Hang up before any answer."""


async def reset(writer: Write) -> None:
    """Reset the connection in the middle of an answer."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    await writer.drain()
    taken: socket.socket = writer.get_extra_info("socket")
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def half(writer: Write) -> None:
    """Send half of an answer."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + completion({"content": "{"})[:40])
    await writer.drain()


async def silent(writer: Write) -> None:
    """Say nothing for long."""
    await asyncio.sleep(5)


def drip(first: bytes) -> Fault:
    """Send one byte after the other, without end."""

    async def fault(writer: Write) -> None:
        writer.write(first)
        while not writer.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)

    return fault


async def endless(writer: Write) -> None:
    """Send a body without end."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while not writer.is_closing():
        writer.write(b" " * (1 << 20))
        await writer.drain()


BOMB = gzip.compress(bytes(1 << 26), 9)
"""64 MB in 64 kB."""
