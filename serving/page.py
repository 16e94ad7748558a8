"""The server's page: a few files of ours, read once; none of them holds any data."""

from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

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
    files = [file for file in FOLDER.rglob("*") if file.suffix in MEDIA_TYPES]
    return [_route(file) for file in sorted(files)]


def _route(file: Path) -> Route:
    content, media_type = file.read_bytes(), MEDIA_TYPES[file.suffix]
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    path = "/" if file.name == "index.html" else f"/page/{file.relative_to(FOLDER).as_posix()}"

    async def serve(request: Request) -> Response:
        headers = {**HEADERS, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=media_type, headers=headers)

    return Route(path, serve)
