"""``langgraph dev`` in a process of its own, in a folder that mirrors this checkout."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[3]

START = 60.0
"""Seconds the server may take until it answers."""

KEPT = ("PATH", "PYTHONPATH", "LANG", "TMPDIR", "SYSTEMROOT", "KGQA_HOME", "KGQA_THREADS")
"""What the server inherits of the environment; no keys, no settings."""


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    url: str
    log: Path
    pid: int


def missing() -> str | None:
    """Say what is missing, for ``pytest.skip``; None if nothing is."""
    needed = ("langgraph_cli", "langgraph_api", "langgraph_runtime_inmem", "langgraph_sdk")
    absent = [name for name in needed if find_spec(name) is None]
    return f"needs langgraph-cli[inmem] and langgraph-sdk ({', '.join(absent)})" if absent else None


@contextmanager
def serving(folder: Path, *arguments: str, **environment: str) -> Iterator[Server]:
    """Run the server; blocking calls are errors there, and checkpoints hold plain types only.

    It serves the ``langgraph.json`` of the checkout from links in ``folder``, so that
    it finds no one's ``.env`` and leaves its threads behind in ``folder``.
    """
    root, log, port = folder / "root", folder / "server.log", free_port()
    _mirror(root)
    command = [
        sys.executable,
        "-m",
        "langgraph_cli",
        "dev",
        "--no-browser",
        "--no-reload",
        "--port",
        str(port),
        *arguments,
    ]
    with (
        log.open("w") as written,
        subprocess.Popen(
            command, cwd=root, env=_environment(folder) | environment, stdout=written, stderr=written
        ) as process,
    ):
        try:
            server = Server(f"http://127.0.0.1:{port}", log, process.pid)
            _await_ok(server, process)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _mirror(root: Path) -> None:
    root.mkdir()
    for entry in ROOT.iterdir():
        if not entry.name.startswith("."):
            (root / entry.name).symlink_to(entry)


def _environment(folder: Path) -> dict[str, str]:
    return {
        "KGQA_HOME": str(folder / "kgqa"),
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        "HOME": str(folder),
        "KGQA_MODEL": "offline",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_STRICT_MSGPACK": "true",
        "LANGSMITH_TRACING": "false",
    }


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _await_ok(server: Server, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/ok", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{server.log.read_text()[-3000:]}")
