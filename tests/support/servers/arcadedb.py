"""ArcadeDB, a property graph with users that speaks Cypher over Bolt: ``arcadedb-embedded`` on PyPI.

It is sought in the folder that ``KGQA_ARCADEDB`` names (``jars`` and ``jre``), else where the package is
installed.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from neo4j import GraphDatabase
from neo4j.exceptions import Neo4jError

from kgqa.tests.support.servers.processes import START, free_port, running

DATABASE, EMPTY = "movies", "nothing"
READER, STRANGER, PASSWORD = "ada", "bob", "s3cr3t-word"
"""A user who may read the databases, and one who may not; root may do anything."""


def missing() -> str | None:
    """Say what is missing, for ``pytest.skip``; None if nothing is."""
    return None if _folder() else "needs arcadedb-embedded (on PyPI), or its folder in KGQA_ARCADEDB"


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve two databases without nodes; gives the host and port of Bolt."""
    package = _folder() or Path()
    bolt, http = free_port(), free_port()
    users = f"[{READER}:{PASSWORD}:admin,{STRANGER}:{PASSWORD}]"
    settings = {
        "arcadedb.server.rootPath": folder,
        "arcadedb.server.databaseDirectory": folder / "databases",
        "arcadedb.server.logsDirectory": folder,
        "arcadedb.server.rootPassword": PASSWORD,
        "arcadedb.server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "arcadedb.bolt.host": "127.0.0.1",
        "arcadedb.bolt.port": bolt,
        "arcadedb.server.httpIncomingHost": "127.0.0.1",
        "arcadedb.server.httpIncomingPort": http,
        "arcadedb.server.defaultDatabases": f"{EMPTY}{users};{DATABASE}{users}",
    }
    java = [str(package / "jre" / "bin" / "java"), "-Xmx512m", "--add-modules", "jdk.incubator.vector"]
    opened = [
        f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in ("java.nio", "java.util.concurrent.atomic")
    ]
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    started = ["-cp", str(package / "jars" / "*"), "com.arcadedb.server.ArcadeDBServer"]
    at = f"127.0.0.1:{bolt}"
    with running([*java, *opened, *defined, *started], folder, f"tcp://{at}"):
        _await_database(at)
        yield at


def _await_database(at: str) -> None:
    """Wait for the databases, which are made last of all."""
    end = time.monotonic() + START
    while True:
        try:
            return write(at, [("MATCH (n) RETURN count(n)", {})])
        except Neo4jError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def address(at: str, user: str = READER, database: str = DATABASE) -> str:
    """Return the address of a database for a user, whose nodes are told apart by their keys."""
    return f"neo4j://{user}:{PASSWORD}@{at}/{database}?id=key"


def write(at: str, queries: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Run queries that write."""
    with (
        GraphDatabase.driver(f"bolt://{at}", auth=("root", PASSWORD)) as driver,
        driver.session(database=DATABASE) as session,
    ):
        for query, values in queries:
            session.run(query, values).consume()


def _folder() -> Path | None:
    named = os.environ.get("KGQA_ARCADEDB")
    spec = find_spec("arcadedb_embedded")
    folders = [Path(named)] if named else []
    folders += [Path(spec.origin).parent] if spec and spec.origin else []
    return next((each for each in folders if (each / "jre" / "bin" / "java").is_file()), None)
