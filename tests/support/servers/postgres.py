"""PostgreSQL (Debian's package postgresql) with a folder of a test's own."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from kgqa.tests.support.servers.processes import END, START, free_port

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))

USERS = ("postgres", "nobody")
"""Whom it runs as where the tests run as root, which PostgreSQL refuses."""

HASTY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "unix_socket_directories=")


def missing() -> str | None:
    """Say what is missing, for ``pytest.skip``; None if nothing is."""
    if not BINARIES:
        return "needs PostgreSQL (apt-get install postgresql)"
    if os.geteuid() == 0 and not (shutil.which("setpriv") and _user()):
        return "needs setpriv and a user other than root"
    absent = [
        name for name in ("psycopg", "psycopg_pool", "langgraph.checkpoint.postgres") if not _found(name)
    ]
    return f"needs the extra serve ({', '.join(absent)})" if absent else None


class Postgres:
    """A server with a folder of its own, which may be started again and again."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self.address = f"postgresql://kgqa@127.0.0.1:{self._port}/postgres"
        own = ("-U", "kgqa", "--auth=trust", "--no-sync", "--no-locale", "-E", "UTF8")
        made = _as_user("initdb", "-D", str(folder / "data"), *own)
        subprocess.run(made, cwd=folder, check=True, capture_output=True)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run it; at the end it does not wait for its clients."""
        log = self._folder / "server.log"
        given = (f"port={self._port}", "listen_addresses=127.0.0.1", *HASTY)
        options = [part for option in given for part in ("-c", option)]
        command = _as_user("postgres", "-D", str(self._folder / "data"), *options)
        with (
            log.open("wb") as written,
            subprocess.Popen(command, cwd=self._folder, stdout=written, stderr=written) as process,
        ):
            try:
                _await_answer(self._port, process, log)
                yield
            finally:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(END)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGQUIT)


@contextmanager
def prepared() -> Iterator[Postgres]:
    """Make a server, which does not run yet."""
    folder = Path(tempfile.mkdtemp(prefix="kgqa-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, _user())
    try:
        yield Postgres(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def started() -> Iterator[str]:
    """Run a server of its own; gives the address of its database."""
    with prepared() as server, server.running():
        yield server.address


def _as_user(program: str, *arguments: str) -> list[str]:
    command = [str(BINARIES[-1].with_name(program)), *arguments]
    if os.geteuid() != 0:
        return command
    user = pwd.getpwnam(_user() or "")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *command]


def _user() -> str | None:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in USERS if name in known), None)


def _found(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _await_answer(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    ready = [str(BINARIES[-1].with_name("pg_isready")), "-q", "-h", "127.0.0.1", "-p", str(port)]
    deadline = time.monotonic() + START
    while time.monotonic() < deadline and process.poll() is None:
        if subprocess.run(ready).returncode == 0:
            return
        time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text(errors='replace')[-3000:]}")
