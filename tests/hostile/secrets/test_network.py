"""Nothing is called but what was named: every command and method asks this machine only."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_socket import SocketConnectBlockedError

from kgqa.graphs import METHODS
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.secrets.everything_child import run
from kgqa.tests.hostile.secrets.guard import attempts, watched
from kgqa.tests.hostile.secrets.planted import PARTS
from kgqa.tests.support import towns
from kgqa.tests.support.model_stub import Stub, said, stubbed

LOOPBACK = pytest.mark.allow_hosts(["127.0.0.1", "::1"])

MODELLED = ["ask", "Which currency is used in Peru?", "--model", "openai:stub-of-network", "--format", "json"]

RESTING = {0, 1}
"""What a command ends with that has gone through: whatever the stub says, there is a record."""


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A model that says nothing of use; beside it keys that would let others be called."""
    with stubbed() as stub:
        stub.say(said('{"answers": ["sol"]}'))
        for name in ("LANGSMITH_API_KEY", "OPENAI_API_KEY", "HF_TOKEN"):
            monkeypatch.setenv(name, PARTS[name])
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
            monkeypatch.delenv(name, raising=False)
        yield stub


def commands(folder: Path) -> list[list[str]]:
    """Return every command; each kind of model answers some questions."""
    questions = str(towns.write(folder / "towns.jsonl"))
    evaluated = [
        "--dataset",
        questions,
        "--kg",
        str(folder / "graph.ttl"),
        "--model",
        "simulated:accuracy=0.5",
    ]
    return [
        *([*MODELLED, "--method", method] for method in METHODS),
        ["ask", "What is the capital of Mongolia?"],
        ["methods"],
        ["kg", "info", "sample"],
        ["kg", "load", str(folder / "graph.ttl"), "--out", str(folder / "store")],
        ["eval", *evaluated, "--out", str(folder / "run")],
        ["score", str(folder / "run" / "results.jsonl"), "--dataset", questions],
        ["report", str(folder / "run"), "--out", str(folder / "report.html")],
        ["calibrate", *evaluated],
        ["blueprints", "build", "--dataset", questions, "--out", str(folder / "library")],
        ["blueprints", "show", str(folder / "library"), "Which river flows through Ulm?"],
        [
            "exemplars",
            "build",
            "--dataset",
            questions,
            "--kg",
            str(folder / "graph.ttl"),
            "--out",
            str(folder / "known"),
        ],
    ]


def test_no_command_reaches_out(
    stub: Stub, turtle: Callable[[str], Path], tmp_path: Path, tried: Tried
) -> None:
    turtle(towns.graph())
    lines = commands(tmp_path)
    watch = watched(tmp_path, os.pathsep.join(filter(None, sys.path)))
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "kgqa.tests.hostile.secrets.everything_child"],
        input="\n".join(map(json.dumps, lines)),
        env={**os.environ, **watch},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    statuses = json.loads(ended.stderr.rpartition("ended: ")[2])
    odd = [(line, status) for line, status in zip(lines, statuses, strict=True) if status not in RESTING]
    assert odd == [], ended.stderr[-2000:]
    assert (tmp_path / "report.html").exists()
    assert attempts(tmp_path) == ""
    tried(questions=len(METHODS) + 1, records=len(METHODS) + 1)


@LOOPBACK
@pytest.mark.parametrize("method", METHODS)
def test_no_method_reaches_out(method: str, stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*MODELLED, "--method", method]) in RESTING
    assert json.loads(capsys.readouterr().out)["method"] == method
    assert stub.requests


@LOOPBACK
@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_the_tests_would_see_it() -> None:
    with socket.socket() as other, pytest.raises(SocketConnectBlockedError):
        other.connect(("192.0.2.1", 443))


def test_the_guard_would_see_it(tmp_path: Path) -> None:
    watch = watched(tmp_path, "")
    code = "import socket\ntry: socket.create_connection(('192.0.2.1', 9), 0.1)\nexcept OSError: pass"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **watch}, check=True)
    assert "socket.connect 192.0.2.1" in attempts(tmp_path)


def test_a_key_alone_installs_no_tracer(stub: Stub) -> None:
    from langchain_core.callbacks import CallbackManager
    from langsmith.utils import get_env_var, tracing_is_enabled

    get_env_var.cache_clear()
    assert not tracing_is_enabled()
    assert CallbackManager.configure().handlers == []
