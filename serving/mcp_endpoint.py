"""The server's ``/mcp``: `mcp_server` over HTTP, where the MCP SDK is installed.

Each request stands for itself, so that several servers behind one address can share them.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

from anyio import CancelScope
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from kgqa.serving.request_checks import refusal
from kgqa.serving.settings import read_calls_at_once, read_mcp_sparql

MCP_PATH = "/mcp"

CLIENT_GONE = 499  # what servers write down where nobody waits for the answer any more

if find_spec("mcp"):
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from kgqa.serving.mcp_server import make_server


class McpEndpoint:
    """An ASGI application; its callers have passed the server's authentication."""

    def __init__(self) -> None:
        self._sessions: Any = None

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[None]:
        """Answer requests inside a ``with`` block; without the SDK each is told what is missing."""
        if not find_spec("mcp"):
            yield
            return
        server = make_server(sparql=read_mcp_sparql(os.environ), calls_at_once=read_calls_at_once(os.environ))
        self._sessions = StreamableHTTPSessionManager(server, stateless=True)
        try:
            async with self._sessions.run():
                yield
        finally:
            self._sessions = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if self._sessions is None:
            missing = "this server lacks the MCP SDK; its operator installs 'kgqa[mcp]'"
            await refusal(missing, 501)(scope, receive, send)
        elif scope["method"] != "POST":  # a stream that GET opens would have nothing to say, and no end
            await refusal("Method Not Allowed", 405, {"Allow": "POST"})(scope, receive, send)
        else:
            await self._handle(scope, receive, send)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; where its client has gone, one that nobody reads."""
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            with CancelScope(shield=not begun):  # a beginning that is cut off on its way would be none
                await send(message)
            begun = True

        await self._sessions.handle_request(scope, receive, sent)
        if not begun:
            await Response(status_code=CLIENT_GONE)(scope, receive, send)
