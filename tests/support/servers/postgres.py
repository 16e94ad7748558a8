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


@contextmanager
def started() -> Iterator[str]:
    """Run a server of its own; gives the address of its database."""
    folder, port = Path(tempfile.mkdtemp(prefix="kgqa-postgres-")), free_port()
    if os.geteuid() == 0:
        shutil.chown(folder, _user())
    data, log = folder / "data", folder / "server.log"
    options = [
        part for option in (f"port={port}", "listen_addresses=127.0.0.1", *HASTY) for part in ("-c", option)
    ]
    try:
        subprocess.run(
            _as_user(
                "initdb",
                "-D",
                str(data),
                "-U",
                "kgqa",
                "--auth=trust",
                "--no-sync",
                "--no-locale",
                "-E",
                "UTF8",
            ),
            cwd=folder,
            check=True,
            capture_output=True,
        )
        with (
            log.open("wb") as written,
            subprocess.Popen(
                _as_user("postgres", "-D", str(data), *options), cwd=folder, stdout=written, stderr=written
            ) as process,
        ):
            try:
                _await_answer(port, process, log)
                yield f"postgresql://kgqa@127.0.0.1:{port}/postgres"
            finally:
                process.send_signal(signal.SIGINT)  # ends it without waiting for its clients
                try:
                    process.wait(END)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGQUIT)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
