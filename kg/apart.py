"""Runs queries that nobody vouches for in a process apart (`apart_child`), which is ended if need be.

A query that a model wrote, or whoever calls a tool, can run without end, take all memory, or abort
the process that runs it: pyoxigraph does so where it sorts values that have no order, and where a
query is nested deeper than its stack. Here that costs the query its answer and kgqa nothing; the
process is begun anew with the next one.
"""

import json
import os
import selectors
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import pyoxigraph as ox

from kgqa.kg import errors
from kgqa.kg.errors import KGRejected

MEMORY = 1 << 30
"""Bytes that a query may take beside the store's own."""

MOST = 1 << 26
"""Bytes of an answer at most."""

LOOK = 0.05
"""Seconds between two looks whether anyone still waits for the answer."""

_OWN = ("PYTHON", "LD_", "DYLD_")
"""What of the environment Python needs; keys and addresses are not for the process."""

_GIVEN_UP = (
    "the store gave the query up: it takes too much memory, is nested too deeply, "
    "or orders values that have no order; ask for less, or ORDER BY STR(...)"
)


class _Lost(Exception):
    """The process has ended."""


class Apart:
    """A process with a store, begun with the first query; one thread at a time may ask.

    Args:
        store: what is asked.
        folder: where it is on disk; None for a store in memory, which is copied.
    """

    def __init__(self, store: ox.Store, folder: Path | None) -> None:
        self._store, self._folder = store, folder
        self._process: _Process | None = None
        self._end: Callable[[], object] = lambda: None

    def ask(self, text: str, *, union: bool, limit: int | None, stop: Callable[[], None]) -> bytes:
        """Run a query, and give the answer in SPARQL's JSON.

        Args:
            text: the query.
            union: whether named graphs are one.
            limit: rows at most.
            stop: called time and again; what it raises ends the query.

        Raises:
            KGError: as `written.failure` has it; KGRejected also where the process could not bear it.
            OSError: if no process can be begun.
        """
        process = self._begun()
        try:
            stop()
            process.send({"query": text, "union": union, "limit": limit, "most": MOST})
            said, answer = process.receive(stop)
        except _Lost:
            self._over()
            raise KGRejected(_GIVEN_UP) from None
        except BaseException:
            self._over()
            raise
        if "failure" in said:
            raise getattr(errors, said["failure"])(said["reason"])
        return answer

    def _begun(self) -> "_Process":
        """Give the process, which has its store: however long that takes, it is for all queries."""
        if self._process is None:
            with nullcontext() if self._folder else _copied(self._store) as quads:
                self._process = process = _Process([] if quads is None else [quads])
                self._end = weakref.finalize(self, process.end)
                folder = self._folder and str(self._folder)
                try:
                    process.send({"folder": folder, "quads": quads, "memory": MEMORY})
                    process.receive(lambda: None)
                except _Lost:
                    self._over()
                    raise OSError("the process that runs queries does not begin") from None
        return self._process

    def _over(self) -> None:
        self._end()
        self._process = None


@contextmanager
def _copied(store: ox.Store) -> Iterator[int]:
    """Write a store to a file without a name, and give its handle."""
    with TemporaryFile() as file:
        store.dump(file, ox.RdfFormat.N_QUADS)
        file.seek(0)
        yield file.fileno()


class _Process:
    """A process, and its messages: lines of JSON, with so many ``bytes`` behind each that it sends.

    Args:
        handles: files that it may read.
    """

    def __init__(self, handles: Sequence[int]) -> None:
        own = {name: value for name, value in os.environ.items() if name.startswith(_OWN)}
        self._popen = subprocess.Popen(
            (sys.executable, "-P", "-m", "kgqa.kg.apart_child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**own, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            pass_fds=handles,
            start_new_session=True,  # Ctrl-C is for kgqa
        )

    def send(self, said: dict[str, Any]) -> None:
        """Send a message.

        Raises:
            _Lost: if the process has ended.
        """
        try:
            _pipe(self._popen.stdin).write(json.dumps(said).encode() + b"\n")
            _pipe(self._popen.stdin).flush()
        except BrokenPipeError:
            raise _Lost from None

    def receive(self, stop: Callable[[], None]) -> tuple[dict[str, Any], bytes]:
        """Wait for a message, and give it with what is behind it.

        Raises:
            _Lost: if the process has ended.
        """
        line = b""
        while b"\n" not in line:
            line += self._more(stop)
        head, _, rest = line.partition(b"\n")
        said, blocks, size = json.loads(head), [rest], len(rest)
        while size < said["bytes"]:
            blocks.append(self._more(stop))
            size += len(blocks[-1])
        return said, b"".join(blocks)

    def _more(self, stop: Callable[[], None]) -> bytes:
        file = _pipe(self._popen.stdout).fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(file, selectors.EVENT_READ)
            while not selector.select(LOOK):
                stop()
        if block := os.read(file, 1 << 20):
            return block
        raise _Lost

    def end(self) -> None:
        """End the process, whatever it is at."""
        self._popen.kill()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with suppress(OSError):
                _pipe(pipe).close()
        self._popen.wait()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("the process has no such pipe")
    return pipe
