"""Servers that repeat all that they are sent, behind addresses full of keys."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kgqa.retries import RetryPolicy
from kgqa.tests.hostile.secrets.planted import PARTS, address
from kgqa.tests.integration.serving import asking
from kgqa.tests.support.model_stub import said
from kgqa.tests.support.servers import oxigraph
from kgqa.tests.support.servers.faults import Answer, Fault
from kgqa.tests.support.servers.proxy import Proxy

NOWHERE = "http://127.0.0.1:1"

AT_ONCE = ("Retry-After", "0")


def echo(status: int, *headers: tuple[str, str]) -> Fault:
    """An error that says all that the request held, also as it was before it was written for the wire."""

    def fault(exchange: Any) -> Answer:
        request = exchange.request
        sent = [request.target, *request.headers.values(), *(PARTS[name] for name in PARTS)]
        body = json.dumps({"error": {"message": f"no: {sent}", "code": None}}).encode()
        return Answer(status, (("Content-Type", "application/json"), AT_ONCE, *headers), body)

    return fault


def reply(exchange: Any) -> Answer:
    """A chat completion that follows the chain of `asking`."""
    asked = json.loads(exchange.request.body)["messages"][-1]["content"]
    body = json.dumps(said(json.dumps(asking._reply(str(asked)))).body).encode()
    return Answer(200, (("Content-Type", "application/json"),), body)


@dataclass
class Planted:
    """A model, a graph, a third server that nobody named, and a folder with all that is written."""

    folder: Path
    models: Proxy
    graphs: Proxy
    elsewhere: Proxy
    _others: int = 0

    @property
    def model_url(self) -> str:
        """The address of the model's server, with user, password and key."""
        return address(self.models.url, "model")

    @property
    def model(self) -> str:
        """The model's name, which no other test opens: what is open stays open, with its address."""
        return f"openai:{self.models.url.rpartition(':')[2]}"

    def graph_url(self) -> str:
        """The address of the graph, with user, password and key, not asked before."""
        self._others += 1
        return f"{address(self.graphs.url, 'graph')}&n={self._others}"

    def faults(self, model: Fault = reply, graph: Fault | None = None) -> None:
        """Let the servers do this from now on."""
        self.models.faults = lambda request: model
        self.graphs.faults = lambda request: graph


@pytest.fixture
def family(tmp_path: Path) -> Path:
    path = tmp_path / "family.ttl"
    path.write_text(asking.FAMILY)
    return path


@pytest.fixture
def planted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: Path,
    oxigraph_server: Callable[[list[Path]], str],
) -> Iterator[Planted]:
    if reason := oxigraph.missing():
        pytest.skip(reason)
    graph = oxigraph_server([family])
    folder = tmp_path / "there"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(RetryPolicy, "_wait", lambda self, state: 0.0)
    with Proxy(f"{NOWHERE}/v1") as models, Proxy(graph) as graphs, Proxy(NOWHERE) as elsewhere:
        planted = Planted(folder, models, graphs, elsewhere)
        planted.faults()
        set_all(monkeypatch, planted)
        yield planted


def set_all(monkeypatch: pytest.MonkeyPatch, planted: Planted) -> None:
    """Set keys in the environment, as users do."""
    for name in ("OPENAI_API_KEY", "LANGSMITH_API_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, PARTS[name])
    monkeypatch.setenv("OPENAI_BASE_URL", planted.model_url)
    monkeypatch.setenv("KGQA_API_KEYS", f"somebody:{PARTS['caller']}")
    monkeypatch.setenv("KGQA_CACHE", str(planted.folder / "replies.sqlite"))
    monkeypatch.setenv("KGQA_CHECKPOINTS", f"postgresql://me:{PARTS['database password']}@127.0.0.1:1/base")
    monkeypatch.setenv("KGQA_HOME", str(planted.folder / "home"))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """A file that gets every line that any package logs, down to the finest."""
    path, root = tmp_path / "all.log", logging.getLogger()
    handler = logging.FileHandler(path)
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield path
    root.setLevel(before)
    root.removeHandler(handler)
    handler.close()
