"""A server, and two who call it: what they send, no answer is late or a failure of the server."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from kgqa.serving.checkpoints import SQLITE_FILE
from kgqa.tests.integration.serving.asking import FAMILY, MODEL, Reader, reading
from kgqa.tests.support.servers.langgraph import Server, serving

ALICE, BOB = "a-key-of-alice-0123", "a-key-of-bob-012345"

ASKED = {"question": "Where does Ada live?", "topics": ["Ada"]}

SECONDS = 30.0
"""That an answer may take; most take a hundredth of one."""

JSON = {"content-type": "application/json"}


class Caller:
    """Calls the server as whoever has a key; no answer is late or a 500."""

    def __init__(self, server: Server, key: str, steps: Path) -> None:
        self.server, self.key, self._steps = server, key, steps
        self._client = httpx.Client(base_url=server.url, headers={"x-api-key": key}, timeout=30)
        self.calls = 0

    def __call__(self, method: str, path: str, **given: Any) -> httpx.Response:
        started = time.perf_counter()
        answer = self._client.request(method, path, **given)
        assert answer.status_code < 500, (method, path[:80], str(given)[:200])
        assert time.perf_counter() - started < SECONDS, (path[:80], str(given)[:200])
        self.calls += 1
        return answer

    def ask(self, **given: Any) -> httpx.Response:
        return self("POST", "/runs/wait", json={"assistant_id": "cor", "input": ASKED, **given})

    def thread(self) -> str:
        return str(self("POST", "/threads", json={}).json()["thread_id"])

    def begin(self, thread: str, **given: Any) -> str:
        """Begin a run that waits for the language model, which `Reader` may hold."""
        body = {"assistant_id": "cor", "input": ASKED, "context": {"model": MODEL}, **given}
        return str(self("POST", f"/threads/{thread}/runs", json=body).json()["run_id"])

    def kept(self, thread: str, run: str = "") -> int:
        """Return how many steps and writes are kept of a thread, those of a run if one is named."""
        with closing(sqlite3.connect(self._steps)) as database:
            of_run = "SELECT checkpoint_id FROM checkpoints WHERE CAST(metadata AS TEXT) LIKE ?"
            counted = [
                f"SELECT count(*) FROM {table} WHERE thread_id = ? AND checkpoint_id IN ({of_run})"  # noqa: S608
                for table in ("checkpoints", "writes")
            ]
            lone = "SELECT count(*) FROM writes WHERE thread_id = ? AND checkpoint_id NOT IN ({of_run})"
            counted.append(lone.format(of_run="SELECT checkpoint_id FROM checkpoints WHERE ? != ''"))
            return sum(database.execute(each, (thread, f"%{run}%")).fetchone()[0] for each in counted)

    def close(self) -> None:
        self._client.close()


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with reading() as reader:
        yield reader


@pytest.fixture(scope="module")
def callers(tmp_path_factory: pytest.TempPathFactory, reader: Reader) -> Iterator[tuple[Caller, Caller]]:
    graph: Path = tmp_path_factory.mktemp("graph") / "family.ttl"
    graph.write_text(FAMILY, encoding="utf-8")
    settings = {"KGQA_API_KEYS": f"alice:{ALICE},bob:{BOB}", "KGQA_KG": str(graph), "KGQA_THREADS": "1"}
    checkpoints = tmp_path_factory.mktemp("checkpoints")
    settings |= {"KGQA_ALLOW_MODEL": f"offline,{MODEL}", "KGQA_CHECKPOINTS": str(checkpoints)}
    settings |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": reader.url}
    with serving(tmp_path_factory.mktemp("server"), **settings) as server:
        alice, bob = (Caller(server, key, checkpoints / SQLITE_FILE) for key in (ALICE, BOB))
        opening = {"json": ONE, "headers": {"x-api-key": ALICE}, "timeout": 60}
        assert httpx.post(f"{server.url}/runs/wait", **opening).is_success  # opens graph and encoder
        yield alice, bob
        alice.close()
        bob.close()


ONE = {"assistant_id": "cor", "input": ASKED}
