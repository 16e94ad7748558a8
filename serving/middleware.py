"""The outermost door of the server: what it lets in at all.

LangGraph's own server for development has routes that no key guards: one empties its
memory, one shows any thread, one starts a deployment. They are shut here. Others
tell how busy it is or what may be asked; they are for its callers.
"""

import gc
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import jsonschema_rs
import orjson
from langgraph.errors import EmptyInputError, InvalidUpdateError
from langgraph_sdk import Auth
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgqa.serving.checkpoint_outages import CheckpointsUnavailable
from kgqa.serving.graph_routes import GRAPH_PATH, graph_routes
from kgqa.serving.mcp_endpoint import MCP_PATH, McpEndpoint
from kgqa.serving.page import page_routes
from kgqa.serving.request_checks import RequestRefused, check_command, refusal
from kgqa.serving.server_patches import patch_inmem_runtime, patch_protocol
from kgqa.serving.settings import read_authenticator
from kgqa.serving.text2sparql import TEXT2SPARQL_PATH, text2sparql_route

MAX_BODY_BYTES = 2_000_000
"""Bytes of a request's body at most; an edited state may be long, a question is not."""

COLLECTION_THRESHOLDS = (50_000, 20, 50)
"""Objects between two collections of garbage, some 10 MB, and collections between two that look further.

With Python's own, a run spends 3 % of its time on looking.
"""

CLOSED_PATHS = ("/internal", "/deploy")  # where paths begin that are not served

CALLER_ONLY_PATHS = ("/metrics", "/docs", "/openapi.json", MCP_PATH, TEXT2SPARQL_PATH, f"{GRAPH_PATH}/")
"""Where paths begin that are served to callers only, and which LangGraph's server leaves open."""

NO_BODY_STATUSES = (204, 304)

_authenticator = read_authenticator(os.environ)
_mcp = McpEndpoint()


PROTOCOL_PATH = re.compile(r"/threads/(?P<thread>[^/]+)/(?:commands|stream/events)")
"""Where the streaming protocol is spoken, which looks at no thread's id."""

TOO_LARGE = f"the request is larger than {MAX_BODY_BYTES} bytes"


class RequestGuard:
    """Answers 404 where a path is shut, 413 to large bodies, 401 or 403 to strangers at guarded paths.

    What a WebSocket brings is held to the same bound, and commands to what their protocol reads.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] == "websocket":
            if not _names_thread(scope):
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self.app(scope, _guard_messages(receive, send), send)
        elif scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["path"].startswith(CLOSED_PATHS):
            await refusal("Not Found", 404)(scope, receive, send)
        elif scope["path"].startswith(CALLER_ONLY_PATHS) and (refused := _refuse_stranger(scope)):
            await refused(scope, receive, send)
        elif (read := await _read_body(scope, receive)) is None:
            await refusal(TOO_LARGE, 413, {"Connection": "close"})(scope, receive, send)
        elif not _names_thread(scope):
            await refusal("Invalid thread ID: must be a UUID", 422)(scope, receive, send)
        elif scope["path"].endswith("/commands") and (problem := _refuse_command(read.get("body", b""))):
            await JSONResponse(problem, 422)(scope, receive, send)
        else:
            await self.app(scope, _replay(read, receive), send)


def _names_thread(scope: Scope) -> bool:
    """Return whether a path of the streaming protocol names what may be a thread; any other path does."""
    if not (spoken := PROTOCOL_PATH.fullmatch(scope["path"])):
        return True
    try:
        UUID(spoken["thread"])
    except ValueError:
        return False
    return True


def _refuse_command(sent: str | bytes) -> dict[str, Any] | None:
    """Return the protocol's answer to a command that is refused; None for any other.

    It is read as LangGraph's server reads it, so that nothing is one thing here and another there.
    """
    try:
        command = orjson.loads(sent)
    except orjson.JSONDecodeError:
        return None  # it says so itself
    try:
        check_command(command)
    except RequestRefused as error:
        id = command["id"] if isinstance(command.get("id"), int) else None
        return {"type": "error", "id": id, "error": "invalid_argument", "message": str(error)}
    return None


def _guard_messages(receive: Receive, send: Send) -> Receive:
    """Return what receives the messages of a WebSocket: it is closed by one that is too large or no text."""

    async def received() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            text = message.get("text")
            if text is None or len(text.encode("utf-8", "surrogatepass")) > MAX_BODY_BYTES:
                code, why = (1003, "commands are text") if text is None else (1009, TOO_LARGE)
                await send({"type": "websocket.close", "code": code, "reason": why})
                return {"type": "websocket.disconnect", "code": code}
            if (problem := _refuse_command(text)) is None:
                return message
            await send({"type": "websocket.send", "text": json.dumps(problem)})

    return received


def _refuse_stranger(scope: Scope) -> JSONResponse | None:
    try:
        _authenticator.name_of(scope)
    except Auth.exceptions.HTTPException as error:
        return refusal(error.detail, error.status_code)
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
    return refusal(error, 503)


async def _say_in_one_line(request: Request, error: Exception) -> Response:
    """Answer a request that LangGraph's server refuses; it would say why in several lines."""
    status, said, headers = 400, str(error), None
    if isinstance(error, HTTPException):
        status, said, headers = error.status_code, str(error.detail), error.headers
    elif isinstance(error, jsonschema_rs.ValidationError):
        place = ".".join(map(str, error.instance_path))
        status, said = 422, f"{place}: {error.message}" if place else error.message
    if status in NO_BODY_STATUSES:
        return Response(status_code=status, headers=headers)
    return refusal(said, status, headers)


REFUSALS = (HTTPException, ValueError, InvalidUpdateError, EmptyInputError, jsonschema_rs.ValidationError)

patch_inmem_runtime()
patch_protocol()
app = Starlette(
    routes=[Route(MCP_PATH, _mcp), text2sparql_route(), *graph_routes(), *page_routes()],
    middleware=[Middleware(RequestGuard)],
    exception_handlers={**dict.fromkeys(REFUSALS, _say_in_one_line), CheckpointsUnavailable: _tell_outage},
    lifespan=lifespan,
)
