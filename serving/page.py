"""The server's page: a few files of ours, read once; none of them holds any data."""

import json
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kgqa.runtime.record_text import (
    DECIDED_BY,
    DID_YOU_MEAN,
    MAX_ANSWERS_SHOWN,
    MAX_OTHER_ANSWERS,
    OUTAGES,
    OUTCOME_LABELS,
    READ_AS,
)

FOLDER = Path(__file__).with_name("web")

MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".LICENSE": "text/plain"}

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""What the page may do: run and show what this server sends, and ask this server. Nobody may frame it."""


def page_routes() -> list[Route]:
    """Return a route for each file of the page, with the page itself at ``/``; blocking."""
    files = {file.relative_to(FOLDER).as_posix(): file for file in sorted(FOLDER.rglob("*"))}
    contents = {name: file.read_bytes() for name, file in files.items() if file.suffix in MEDIA_TYPES}
    return [_route(name, content) for name, content in {**contents, "words.js": _words()}.items()]


def _words() -> bytes:
    """Return a script with words for outcomes, readings and who has decided, as the command line has them."""
    words = {
        "OUTCOME_LABELS": OUTCOME_LABELS,
        "OUTAGES": OUTAGES,
        "DECIDED_BY": DECIDED_BY,
        "READ_AS": READ_AS,
        "DID_YOU_MEAN": DID_YOU_MEAN,
        "MAX_OTHER_ANSWERS": MAX_OTHER_ANSWERS,
        "MAX_ANSWERS_SHOWN": MAX_ANSWERS_SHOWN,
    }
    return "".join(f"export const {name} = {json.dumps(said)};\n" for name, said in words.items()).encode()


def _route(name: str, content: bytes) -> Route:
    media_type = MEDIA_TYPES[Path(name).suffix]
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    path = "/" if name == "index.html" else f"/page/{name}"

    async def serve(request: Request) -> Response:
        headers = {**HEADERS, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=media_type, headers=headers)

    return Route(path, serve)
