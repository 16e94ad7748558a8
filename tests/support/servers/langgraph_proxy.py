"""The proxy of the deployment before servers on this machine, with the deployment's own settings."""

import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kgqa.tests.support.servers.langgraph import ROOT, Server, free_port, serving

PROGRAM = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")

SETTINGS = ROOT / "serving" / "haproxy.cfg"


@contextmanager
def serving_all(folder: Path, count: int, *arguments: str, **environment: str) -> Iterator[list[Server]]:
    """Run several servers; they start side by side, each in a folder of its own."""
    folders = [folder / str(number) for number in range(1, count + 1)]
    for each in folders:
        each.mkdir()
    with ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        starting = [serving(each, *arguments, **environment) for each in folders]
        yield list(pool.map(stack.enter_context, starting))


@contextmanager
def proxied(folder: Path, servers: Sequence[Server]) -> Iterator[str]:
    """Run the proxy before some servers; gives its address."""
    assert PROGRAM is not None
    port, file = free_port(), folder / "haproxy.cfg"
    file.write_text(settings(port, servers), encoding="utf-8")
    with subprocess.Popen([PROGRAM, "-db", "-f", str(file)], stdout=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _await_ok(url, process)
            yield url
        finally:
            process.terminate()


def settings(port: int, servers: Sequence[Server]) -> str:
    """Return the deployment's settings with other addresses."""
    text = SETTINGS.read_text(encoding="utf-8").replace("bind :2024", f"bind 127.0.0.1:{port}")
    for number, server in enumerate(servers, start=1):
        text = text.replace(f"kgqa-kgqa-{number}:2024", server.url.removeprefix("http://"))
    return re.sub(r"\n *server \d+ kgqa-.*", "", text)


def _await_ok(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/ok", timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the proxy did not start ({process.poll()})")
