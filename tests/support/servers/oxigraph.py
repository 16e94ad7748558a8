"""Oxigraph's server (``oxigraph`` on PyPI) with the graph of a test."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from kgqa.tests.support.servers import triples
from kgqa.tests.support.servers.processes import free_port, running


def missing() -> str | None:
    """Say what is missing, for ``pytest.skip``; None if nothing is."""
    return None if _program() else "needs oxigraph (on PyPI)"


@contextmanager
def serving(
    folder: Path, files: Sequence[Path], *, graph: str = "http://kgqa.test/", seconds: int = 30
) -> Iterator[str]:
    """Serve files as one graph; gives the URL at which it is asked.

    Args:
        folder: An empty folder, for what it stores.
        files: RDF files.
        graph: The name of the graph.
        seconds: What a query may take.
    """
    program, name, address = _program() or "oxigraph", "graph.nt", f"127.0.0.1:{free_port()}"
    triples.write(files, folder / name)
    load = [program, "load", "--location", "store", "--file", name, "--graph", graph]
    subprocess.run(load, cwd=folder, check=True, capture_output=True)
    serve = [program, "serve-read-only", "--location", "store", "--bind", address]
    url = f"http://{address}/query"
    with running([*serve, "--timeout-s", str(seconds)], folder, url):
        yield f"{url}?default-graph-uri={quote(graph, safe='')}"


def _program() -> str | None:
    """Find the program beside the Python that runs, or on the path."""
    beside = os.path.dirname(sys.executable)
    return shutil.which("oxigraph", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
