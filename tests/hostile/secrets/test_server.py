"""The server with keys in all its settings: none of them comes out, and nothing goes out unasked."""

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kgqa.serving.settings import tracing_requested
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.secrets.conftest import Planted, echo
from kgqa.tests.hostile.secrets.guard import attempts, watched
from kgqa.tests.hostile.secrets.planted import PARTS, everything, leaks
from kgqa.tests.integration.serving.asking import INPUT
from kgqa.tests.support.servers import langgraph as servers
from kgqa.tests.support.servers.faults import Answer
from kgqa.tests.support.servers.proxy import Proxy

pytestmark = pytest.mark.skipif(bool(servers.missing()), reason=str(servers.missing()))


@dataclass
class Caller:
    """Calls a server, and keeps all that it says."""

    url: str
    heard: list[bytes] = field(default_factory=list)

    def __call__(self, path: str, body: Any = None, key: str = PARTS["caller"]) -> Any:
        given = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "x-api-key": key}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, given, headers)) as answer:
                self.heard += [str(answer.headers).encode(), answer.read()]
        except urllib.error.HTTPError as error:
            self.heard += [str(error.headers).encode(), error.read()]
        try:
            return json.loads(self.heard[-1])
        except ValueError:
            return None


@pytest.fixture
def smith() -> Iterator[Proxy]:
    """What passes for LangSmith, and takes whatever comes."""
    with Proxy("http://127.0.0.1:1") as smith:
        smith.faults = lambda request: (
            lambda exchange: Answer(200, (("Content-Type", "application/json"),), b"{}")
        )
        yield smith


def settings(planted: Planted, smith: Proxy, folder: Path, url: str) -> dict[str, str]:
    return {
        **watched(folder, os.environ.get("PYTHONPATH", "")),
        **{name: PARTS[name] for name in ("OPENAI_API_KEY", "LANGSMITH_API_KEY", "HF_TOKEN")},
        "KGQA_ALLOW_KG": f"{url},sample",
        "KGQA_ALLOW_MODEL": planted.model,
        "KGQA_API_KEYS": f"me:{PARTS['caller']}",
        "KGQA_CACHE": str(folder / "replies.sqlite"),
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        "LANGSMITH_ENDPOINT": smith.url,
        "LOG_LEVEL": "DEBUG",
        "OPENAI_BASE_URL": planted.model_url,
    }


def test_a_server_gives_no_key_away_and_calls_nobody(
    planted: Planted, smith: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    url = planted.graph_url()
    plain = servers._environment
    monkeypatch.setattr(servers, "_environment", lambda folder: untold(plain(folder)))
    folder = tmp_path / "server"
    folder.mkdir()
    with servers.serving(folder, **settings(planted, smith, folder, url)) as server:
        caller = Caller(server.url)
        asked = {"assistant_id": "cor", "input": INPUT, "context": {"budget": {"llm_calls": 9}}}
        thread = caller("/threads", {})["thread_id"]
        assert caller(f"/threads/{thread}/runs/wait", asked)["outcome"] == "grounded"
        planted.faults(model=echo(500))
        failed = {**asked, "input": {**INPUT, "question": "And where do her children live?"}}
        assert caller("/runs/wait", failed)["outcome"] == "model_unavailable"
        secret = {"kg": f"http://x:{PARTS['graph password']}@127.0.0.1:1/other", "model": url}
        caller("/runs/wait", {**asked, "context": {"kg": secret["kg"]}})
        caller("/runs/wait", {**asked, "context": {"model": secret["model"]}})
        caller("/threads", {}, key="a-key-that-nobody-has")
        for path in ("/ok", "/info", "/metrics", "/docs", "/openapi.json", "/no/such/path"):
            caller(path)
        caller(f"/threads/{thread}/state")
        caller(f"/threads/{thread}/history", {"limit": 20})
        caller(f"/threads/{thread}/runs")
        for path in ("/assistants/search", "/threads/search"):
            found = caller(path, {"limit": 50})
        for assistant in caller("/assistants/search", {"limit": 3}):
            caller(f"/assistants/{assistant['assistant_id']}/schemas")
            caller(f"/assistants/{assistant['assistant_id']}/graph")
        lines = subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True).stdout
    assert found and len(caller.heard) > 40
    assert leaks(b"\n".join(caller.heard)) == []
    assert leaks(lines) == []
    assert leaks(server.log.read_bytes()) == []
    assert leaks(everything(folder)) == []
    assert [request.target for request in smith.requests if request.method == "POST"] == []
    assert INPUT["question"] not in repr(smith.requests)
    assert attempts(folder) == ""
    tried(inputs=4, faults=1, questions=2, records=2)


def untold(environment: dict[str, str]) -> dict[str, str]:
    """Leave out what says that nothing is to be traced: that has to go without saying."""
    return {name: value for name, value in environment.items() if name != "LANGSMITH_TRACING"}


BEFORE, AFTER = {"PATH": "/bin"}, {"LANGSMITH_LANGGRAPH_API_VARIANT": "local_dev", "REDIS_URI": "fake"}

ON = {"LANGSMITH_TRACING": "true"}


@pytest.mark.parametrize(
    ("environment", "file", "asked"),
    [
        (BEFORE | AFTER, None, False),
        (BEFORE | AFTER | ON, None, False),  # the server's own doing
        (BEFORE | ON | AFTER, None, True),
        (BEFORE | {"LANGCHAIN_TRACING_V2": "True"} | AFTER, None, True),
        (BEFORE | {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "true"} | AFTER, None, False),
        (BEFORE | AFTER | ON, "LANGSMITH_TRACING=true\n", True),
        (BEFORE | AFTER, "LANGSMITH_TRACING=false\n", False),
        (BEFORE | ON | AFTER, "LANGSMITH_TRACING\n", False),
        (BEFORE | ON, None, True),
    ],
)
def test_tracing_is_for_whoever_asks(
    environment: dict[str, str], file: str | None, asked: bool, tmp_path: Path
) -> None:
    if file:
        (tmp_path / ".env").write_text(file)
    assert tracing_requested(environment, tmp_path / ".env") is asked
