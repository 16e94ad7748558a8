"""Server programs in processes of their own, ended by their process id whatever a test does."""

import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

START = 60.0
"""Seconds a server may take until it answers."""

END = 10.0
"""Seconds a server may take to end by itself."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str], folder: Path, url: str, environment: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program in ``folder`` until the block ends; enters when ``url`` answers, or ``tcp://…`` listens.

    Raises:
        RuntimeError: if it does not start; the end of what it wrote is in the message.
    """
    log = folder / "server.log"
    with (
        log.open("wb") as written,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=written, stderr=written
        ) as process,
    ):
        try:
            _await_answer(url, process, log)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(END)
            except subprocess.TimeoutExpired:
                process.kill()


def _await_answer(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if url.startswith("tcp:"):
                parts = urlsplit(url)
                socket.create_connection((str(parts.hostname), int(parts.port or 0)), 5).close()
                return
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError as error:
            error.close()  # an answer, whatever it says
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"{process.args!r} did not start:\n{log.read_text(errors='replace')[-3000:]}")
