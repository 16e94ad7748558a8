"""A server that behaves like the Hugging Face hub, and like GitHub's raw files: what clients of both ask for.

Large files are sent from another path, as the hub sends them from its network, after a redirect that states
their SHA-256 and size; small ones at once, with the id that git has for them. `Hub` says what to do wrong.
"""

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "1234567890abcdef1234567890abcdef12345678"


@dataclass
class Hub:
    """What a server has and does."""

    files: dict[str, bytes]  # of one repository of data sets, by path
    repository: str = "rmanluo/RoG-webqsp"
    licence: str | None = "cc-by-4.0"
    large: int = 1 << 10  # bytes from which on a file is large
    cut_after: int | None = None  # bytes of a large file after which the first connection breaks
    slow: float = 0.0  # seconds between two blocks of a large file
    longer: int = 0  # bytes that it sends of a large file beyond its end
    ranges: bool = True  # whether it can send the rest of a file
    token: str | None = None  # what lets in; None lets all in
    stated: dict[str, str] = field(default_factory=dict)  # checksums that it states, where they are wrong
    asked: list[tuple[str, str, str | None]] = field(
        default_factory=list
    )  # method, path and range of requests
    url: str = ""
    block: int = 1 << 12


def git_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait for word of its head
    hub: Hub

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def log_message(self, *args: object) -> None:
        pass

    def _answer(self, *, body: bool) -> None:
        hub, path = self.hub, unquote(urlsplit(self.path).path)
        hub.asked.append((self.command, path, self.headers.get("Range")))
        let_in = hub.token is None or self.headers.get("Authorization") == f"Bearer {hub.token}"
        if not (let_in or path.startswith("/cdn/")):
            return self._send(401, b"{}", {"X-Error-Code": "GatedRepo"}, body=body)
        if match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(/revision/.+)?", path):
            if match[1] != hub.repository:
                return self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, body=body)
            kind = {"Content-Type": "application/json"}
            return self._send(200, json.dumps(self._info()).encode(), kind, body=body)
        if path.startswith("/cdn/"):
            return self._send_part(hub.files[path.removeprefix("/cdn/")] + b"x" * hub.longer, body=body)
        resolve = f"/datasets/{hub.repository}/resolve/{COMMIT}/"
        raw = re.match(rf"/{hub.repository}/[0-9a-f]{{40}}/", path)
        name = path.removeprefix(resolve) if path.startswith(resolve) else path[raw.end() :] if raw else ""
        if name not in hub.files:
            return self._send(404, b"", {"X-Error-Code": "EntryNotFound"}, body=body)
        data = hub.files[name]
        about = {"X-Repo-Commit": COMMIT}
        if raw or len(data) < hub.large:
            return self._send_part(data, {**about, "ETag": f'"{git_id(data)}"'}, body=body)
        about |= {"X-Linked-Etag": f'"{self._sha256(name)}"', "X-Linked-Size": str(len(data))}
        self._send(302, b"", {**about, "Location": f"{hub.url}/cdn/{name}"}, body=body)

    def _sha256(self, name: str) -> str:
        return self.hub.stated.get(name) or hashlib.sha256(self.hub.files[name]).hexdigest()

    def _info(self) -> dict[str, object]:
        siblings: list[dict[str, object]] = []
        for name, data in self.hub.files.items():
            each: dict[str, object] = {"rfilename": name, "size": len(data), "blobId": git_id(data)}
            if len(data) >= self.hub.large:
                each["lfs"] = {"sha256": self._sha256(name), "size": len(data), "pointerSize": 130}
            siblings.append(each)
        card = {"license": self.hub.licence} if self.hub.licence else {}
        return {"id": self.hub.repository, "sha": COMMIT, "siblings": siblings, "cardData": card, "tags": []}

    def _send_part(self, data: bytes, about: dict[str, str] | None = None, *, body: bool) -> None:
        start = 0
        status, about = 200, {**(about or {}), "Accept-Ranges": "bytes"}
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if asked and self.hub.ranges:
            start = int(asked[1])
            if start >= len(data):
                return self._send(416, b"", {"Content-Range": f"bytes */{len(data)}"}, body=body)
            status = 206
            about["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self._send(status, data[start:], about, body=body, slow=self.hub.slow)

    def _send(
        self, status: int, data: bytes, about: dict[str, str], *, body: bool, slow: float = 0.0
    ) -> None:
        self.send_response(status)
        for key, value in about.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if not body:
            return
        for place in range(0, len(data), self.hub.block):
            if status < 300 and self.hub.cut_after is not None and place >= self.hub.cut_after:
                self.hub.cut_after = None
                self.close_connection = True
                return
            try:
                self.wfile.write(data[place : place + self.hub.block])
                self.wfile.flush()
            except OSError:  # whoever asked is gone
                self.close_connection = True
                return
            time.sleep(slow)


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve on a free port of this machine."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
