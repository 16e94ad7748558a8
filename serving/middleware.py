"""The outermost door of the server: what it lets in at all.

LangGraph's own server for development has routes that no key guards: one empties its
memory, one shows any thread, one starts a deployment. They are shut here. Others
tell how busy it is or what may be asked; they are for its callers.
"""

import gc
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph_sdk import Auth
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgqa.serving.checkpoint_outages import CheckpointsUnavailable
from kgqa.serving.mcp_endpoint import MCP_PATH, McpEndpoint
from kgqa.serving.page import page_routes
from kgqa.serving.server_patches import patch_inmem_runtime
from kgqa.serving.settings import read_authenticator

MAX_BODY_BYTES = 2_000_000
"""Bytes of a request's body at most; an edited state may be long, a question is not."""

COLLECTION_THRESHOLDS = (50_000, 20, 50)
"""Objects between two collections of garbage, some 10 MB, and collections between two that look further.

With Python's own, a run spends 3 % of its time on looking.
"""

CLOSED_PATHS = ("/internal", "/deploy")  # where paths begin that are not served

CALLER_ONLY_PATHS = ("/metrics", "/docs", "/openapi.json", MCP_PATH)
"""Where paths begin that are served to callers only, and which LangGraph's server leaves open."""

_authenticator = read_authenticator(os.environ)
_mcp = McpEndpoint()


class RequestGuard:
    """Answers 404 where a path is shut, 413 to large bodies, 401 or 403 to strangers at guarded paths."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["path"].startswith(CLOSED_PATHS):
            await JSONResponse({"detail": "Not Found"}, 404)(scope, receive, send)
        elif scope["path"].startswith(CALLER_ONLY_PATHS) and (refused := _refuse_stranger(scope)):
            await refused(scope, receive, send)
        elif (read := await _read_body(scope, receive)) is None:
            too_large = {"detail": f"the request is larger than {MAX_BODY_BYTES} bytes"}
            await JSONResponse(too_large, 413, {"Connection": "close"})(scope, receive, send)
        else:
            await self.app(scope, _replay(read, receive), send)


def _refuse_stranger(scope: Scope) -> JSONResponse | None:
    try:
        _authenticator.name_of(scope)
    except Auth.exceptions.HTTPException as error:
        return JSONResponse({"detail": error.detail}, error.status_code)
    return None


async def _read_body(scope: Scope, receive: Receive) -> Message | None:
    """Read a body; None if it is too large. One that says so is not read at all."""
    said = dict(scope["headers"]).get(b"content-length", b"")
    if said.isdigit() and int(said) > MAX_BODY_BYTES:
        return None
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] != "http.request":  # the caller has gone
            return message
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_BODY_BYTES:
            return None
    return {"type": "http.request", "body": bytes(body), "more_body": False}


def _replay(read: Message, receive: Receive) -> Receive:
    left = [read]

    async def received() -> Message:
        return left.pop() if left else await receive()

    return received


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Serve MCP; collect garbage less often, never what a started server holds: that would stop all runs."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    async with _mcp.serve():
        yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


async def _tell_outage(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 503)


patch_inmem_runtime()
app = Starlette(
    routes=[Route(MCP_PATH, _mcp), *page_routes()],
    middleware=[Middleware(RequestGuard)],
    exception_handlers={CheckpointsUnavailable: _tell_outage},
    lifespan=lifespan,
)
