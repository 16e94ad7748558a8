"""A tiny HTTP server that says what a test tells it to, as an OpenAI-compatible one would."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


def said(text: str | None, usage: bool = True, finish: str = "stop") -> Answer:
    """A chat completion of 10 + 4 tokens."""
    message = {"role": "assistant", "content": text}
    body: dict[str, Any] = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    return Answer(body=body)


def failed(status: int, message: str = "no", **headers: str) -> Answer:
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return Answer(status, {"error": {"message": message, "type": "stub", "code": None}}, named)


class Stub:
    """Gives its answers in order, the last for ever, or what ``replies`` says; keeps the requests' JSON."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.refuse_schemas = False
        self.replies: Callable[[dict[str, Any]], Answer] | None = None
        self.url = ""

    def say(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def answer(self, request: dict[str, Any]) -> Answer:
        self.requests.append(request)
        if self.refuse_schemas and "response_format" in request:
            return failed(400, "unknown field: response_format")
        if self.replies:
            return self.replies(request)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def stubbed() -> Iterator[Stub]:
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            answer = stub.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            time.sleep(answer.delay)
            body = answer.body.encode() if isinstance(answer.body, str) else json.dumps(answer.body).encode()
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                self.wfile.flush()
            except OSError:  # the client gave up
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
