"""``kgqa`` in processes of their own, with so much room on the disk, and signals sent to them."""

import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from kgqa.tests.conftest import PREFIXES
from kgqa.tests.support import towns

ROOM = 1 << 40
"""Bytes that a file may have, unless told otherwise."""

_server = get_context("forkserver")
_server.set_forkserver_preload(
    ["kgqa.cli.main", "kgqa.evaluation.runs.evaluate", "kgqa.evaluation.runs.progress", "kgqa.graphs.cor"]
)


NO_DISK = 77
"""The exit status where this machine gives a process no disk of its own."""

_NEW_MOUNTS, _NEW_USER, _PRIVATE = 0x20000, 0x10000000, 0x44000  # of Linux: unshare(2), mount(2)


def mount_own_disk(folder: Path, options: bytes) -> None:
    """Mount a disk in memory that this process alone sees, and that goes with it; OSError if it may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    disk = (b"none", os.fsencode(folder), b"tmpfs", 0, options)
    failed = libc.unshare(_NEW_MOUNTS | (_NEW_USER if os.geteuid() else 0))
    for mount in ((b"none", b"/", None, _PRIVATE, None), disk):
        if failed := failed or libc.mount(*mount):
            raise OSError(ctypes.get_errno(), "no disk of its own")


def _main(arguments: list[str], room: int, folder: Path, out: str, home: bytes) -> None:
    """Run ``kgqa`` where no file can grow beyond ``room`` bytes, as on a disk that is full.

    There is to be room for what it says: some hundred bytes. With ``home``, options of a disk in memory,
    KGQA_HOME is such a disk.
    """
    if home:
        try:
            (folder / "home").mkdir(exist_ok=True)
            mount_own_disk(folder / "home", home)
        except (OSError, AttributeError):
            os._exit(NO_DISK)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    os.chdir(folder)
    os.environ["KGQA_HOME"] = str(folder / "home")
    for number, name in ((1, out), (2, "err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    from kgqa.cli.main import main

    sys.argv = ["kgqa", *arguments]
    main()


class Disk:
    """A folder with questions and a graph, on which commands run with so much room for each file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "towns.ttl").write_text(PREFIXES + towns.graph(), encoding="utf-8")
        towns.write(folder / "towns.jsonl")

    def start(
        self, *arguments: str, room: int = ROOM, out: str = "out", home: bytes = b""
    ) -> ForkServerProcess:
        """Start a command."""
        process = _server.Process(target=_main, args=([*arguments], room, self.folder, out, home))
        process.start()
        return process

    def run(self, *arguments: str, **given: Any) -> tuple[int, str]:
        """Return the exit status and what was said."""
        return self.ended(self.start(*arguments, **given))

    def ended(self, process: ForkServerProcess) -> tuple[int, str]:
        """Return the exit status of a command and what it said; it is killed if it does not end."""
        process.join(60)
        status = process.exitcode
        process.kill()
        said = (self.folder / "err").read_text()
        assert status is not None and "Traceback" not in said and "internal error" not in said, said
        return status, said

    def refused(self, *arguments: str, room: int, status: int = 2) -> None:
        """See that it ends in one line that names what cannot be written."""
        ended, said = self.run(*arguments, room=room)
        assert (ended, said.count("\n")) == (status, 1), said
        assert said.startswith("kgqa: cannot ") and "too large" in said.lower(), said

    @property
    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {"home", "out", "err"}


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.005)
