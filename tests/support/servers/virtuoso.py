"""Virtuoso 7 (Debian's package virtuoso-opensource-7) with graphs of a test's own."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from kgqa.tests.support.servers import triples
from kgqa.tests.support.servers.processes import free_port, running

SERVER, CLIENT = "virtuoso-t", "isql-vt"

QUIET = ("ERRORS=STDOUT", "VERBOSE=OFF", "PROMPT=OFF", "BANNER=OFF")
"""Makes the client print errors, and rows without their heads, and nothing else."""

INI = """\
[Database]
DatabaseFile = v.db
ErrorLogFile = v.log
LockFile = v.lck
TransactionFile = v.trx
xa_persistent_file = v.pxa
[TempDatabase]
DatabaseFile = temporary.db
TransactionFile = temporary.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
DisableUnixSocket = 1
NumberOfBuffers = 4000
MaxDirtyBuffers = 3000
ServerThreads = 20
ThreadsPerQuery = 1
AsyncQueueMaxThreads = 2
DirsAllowed = .
[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerThreads = 20
[SPARQL]
ResultSetMaxRows = {rows}
MaxQueryExecutionTime = {seconds}
"""

LOAD = """\
ld_dir ('.', '{name}', '{graph}');
rdf_loader_run ();
SELECT ll_error FROM DB.DBA.LOAD_LIST WHERE ll_error IS NOT NULL;
"""


@dataclass(frozen=True)
class Virtuoso:
    """A server that runs in ``folder``."""

    folder: Path
    sql: int
    http: int

    @property
    def url(self) -> str:
        """Where it answers queries, over all its graphs and its own system triples."""
        return f"http://127.0.0.1:{self.http}/sparql"

    def load(self, files: Sequence[Path], graph: str) -> str:
        """Load files as ``graph``; gives the URL at which this graph alone is asked.

        Raises:
            RuntimeError: if it does not load.
        """
        name = f"{quote(graph, safe='')}.nt"
        triples.write(files, self.folder / name)
        said = self.run(LOAD.format(name=name, graph=graph))
        (self.folder / name).unlink()
        if said:
            raise RuntimeError(f"{graph} did not load: {said}")
        return f"{self.url}?default-graph-uri={quote(graph, safe='')}"

    def run(self, commands: str) -> str:
        """Run SQL; gives what is said to it."""
        command = [CLIENT, f"127.0.0.1:{self.sql}", "dba", "dba", *QUIET]
        ran = subprocess.run(command, input=commands, capture_output=True, text=True, check=True)
        return ran.stdout.strip()


def missing() -> str | None:
    """Say what is missing, for ``pytest.skip``; None if nothing is."""
    absent = [program for program in (SERVER, CLIENT) if shutil.which(program) is None]
    return f"needs Debian's virtuoso-opensource-7 ({', '.join(absent)})" if absent else None


@contextmanager
def started(folder: Path, *, rows: int = 100_000, seconds: int = 3_600) -> Iterator[Virtuoso]:
    """Run a server without graphs, which keeps its database in ``folder`` until it ends.

    Args:
        folder: An empty folder.
        rows: What it cuts every answer to, without a word.
        seconds: What it refuses a query for, by an estimate that is another each time.
    """
    server = Virtuoso(folder, free_port(), free_port())
    ini = INI.format(sql=server.sql, http=server.http, rows=rows, seconds=seconds)
    (folder / "v.ini").write_text(ini, encoding="ascii")
    command = [SERVER, "+configfile", "v.ini", "+foreground"]
    try:
        with running(command, folder, f"{server.url}?query=ASK%7B%7D"):
            yield server
    finally:
        for database in folder.glob("*.db"):  # 50 MB and more
            database.unlink()


@contextmanager
def serving(
    folder: Path,
    files: Sequence[Path],
    *,
    graph: str = "http://kgqa.test/",
    rows: int = 100_000,
    seconds: int = 3_600,
) -> Iterator[str]:
    """Serve files as one graph; gives the URL at which it is asked."""
    with started(folder, rows=rows, seconds=seconds) as server:
        yield server.load(files, graph)
