"""A language model over HTTP that knows the gold: the replies to a dataset's prompts, each after a pause.

The replies are made beforehand by a simulated model that never errs, so that what a
call costs is its pause and the wire. It runs in a process of its own.

    python -m kgqa.benchmarks._gold_server REPLIES SECONDS

``REPLIES`` is a JSON object from `key` to text. The first line that is printed is the
address; ``/v1/chat/completions`` answers, or says 404 to a prompt that is not known;
``/count`` gives the number of replies so far.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import kgqa
from kgqa.evaluation.question import Question
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.interface import Completion
from kgqa.prompts.base import Prompt, R


def key(instructions: str, case: str) -> str:
    """Name a prompt."""
    return sha256(json.dumps([instructions, case]).encode()).hexdigest()


@dataclass
class Gold:
    """The replies to the prompts of some questions, and the calls and steps that each question takes."""

    replies: dict[str, str] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)


class _Writing(SimulatedModel):
    """Writes down what it says."""

    def __init__(self, question: Question, graph: KnowledgeGraph, gold: Gold) -> None:
        super().__init__(question, graph, ErrorRates())
        self._question, self._gold = question, gold

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        answered = await super().ask(prompt)
        self._gold.replies[key(prompt.instructions, prompt.case())] = answered.reply.model_dump_json()
        self._gold.calls[self._question.id] += 1
        return answered


async def written(questions: Sequence[Question], graph: KnowledgeGraph, method: str) -> Gold:
    """Ask all questions once and keep what the model says."""
    gold = Gold()
    for question in questions:
        gold.calls[question.id] = 0
        model = _Writing(question, graph, gold)
        given: dict[str, Any] = {"topics": topics_of(question), "model": model, "kg": graph}
        record = await kgqa.aask(question.text, method=method, **given)
        gold.steps[question.id] = len(record["trace"])
    return gold


def topics_of(question: Question) -> list[Any]:
    """Return the topics of a question as a graph takes them."""
    return [{"id": topic.id, "name": topic.name} for topic in question.topics]


@contextmanager
def speaking(gold: Gold, seconds: float, folder: Path) -> Iterator[str]:
    """Run the server of some replies in a process of its own; gives its address."""
    file = folder / "replies.json"
    file.write_text(json.dumps(gold.replies), encoding="utf-8")
    command = [sys.executable, "-m", "kgqa.benchmarks._gold_server", str(file), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def completion(text: str) -> bytes:
    """Write a reply as OpenAI's servers do; tokens are not counted."""
    return json.dumps(
        {
            "id": "gold",
            "object": "chat.completion",
            "created": 1,
            "model": "gold",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
    ).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    replies: dict[str, bytes]
    seconds: float
    numbers = count(1)
    spoken = 0
    lock = threading.Lock()

    def do_POST(self) -> None:
        """Answer a prompt after the pause."""
        due = time.monotonic() + self.seconds
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = self.replies.get(key(*(message["content"] for message in asked["messages"][:2])))
        if said is None or len(asked["messages"]) != 2:
            self._send(404, b'{"error": {"message": "this prompt has no gold reply"}}')
            return
        time.sleep(max(0.0, due - time.monotonic()))
        with self.lock:
            type(self).spoken += 1
        self._send(200, said)

    def do_GET(self) -> None:
        """Say how many replies there were."""
        self._send(200, str(self.spoken).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


def main() -> None:
    """Serve until the process is ended."""
    file, seconds = sys.argv[1:]
    replies = json.loads(Path(file).read_text(encoding="utf-8"))
    _Handler.replies = {name: completion(text) for name, text in replies.items()}
    _Handler.seconds = float(seconds)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
