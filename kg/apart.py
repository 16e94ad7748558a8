"""Runs queries that nobody vouches for in a process apart (`apart_child`), which is ended if need be.

A query that a model wrote, or whoever calls a tool, can run without end, take all memory, or abort
the process that runs it: pyoxigraph does so where it sorts values that have no order, and where a
query is nested deeper than its stack. Here that costs the query its answer and kgqa nothing; the
process is begun anew with the next one.
"""

import atexit
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pyoxigraph as ox

from kgqa.kg import errors
from kgqa.kg.child import Child, Lost
from kgqa.kg.errors import KGRejected, KGUnavailable
from kgqa.kg.files import read_file

MEMORY = 1 << 30
"""Bytes that a query may take beside the store's own."""

MOST = 1 << 26
"""Bytes of an answer at most."""

_GIVEN_UP = (
    "the store gave the query up: it takes too much memory, is nested too deeply, "
    "or orders values that have no order; ask for less, or ORDER BY STR(...)"
)

_REPLACED = "the store was replaced since it was opened; start kgqa again"

_NO_COPY = (
    "the graph cannot be copied to where temporary files go, for queries from outside ({reason}); "
    "make room there, set TMPDIR to another folder, or build a folder by `kgqa kg load` and open that"
)


class Apart:
    """A process with a store, begun with the first query; one thread at a time may ask.

    A store in memory is copied to a temporary folder with the first query, which takes some 8 seconds
    for a million triples; to begin the process anew takes none.

    Args:
        store: what is asked.
        folder: where it is on disk; None for a store in memory.
    """

    def __init__(self, store: ox.Store, folder: Path | None) -> None:
        self._store, self._folder = store, folder
        self._mark = _mark(folder)
        self._copy: Path | None = None
        self._process: Child | None = None
        self._end: Callable[[], object] = lambda: None
        self._remove = self._end

    def ask(self, text: str, *, union: bool, limit: int | None, stop: Callable[[], None]) -> bytes:
        """Run a query, and give the answer in SPARQL's JSON.

        Args:
            text: the query.
            union: whether named graphs are one.
            limit: rows at most.
            stop: called time and again; what it raises ends the query.

        Raises:
            KGError: as `written.failure` has it; KGRejected also where the process could not bear it,
                KGUnavailable where the store is another by now, or cannot be copied.
            OSError: if no process can be begun.
        """
        process = self._begun()
        stop()
        try:
            process.send({"query": text, "union": union, "limit": limit, "most": MOST})
            said, answer = process.receive(stop)
        except Lost:
            self._over()
            raise KGRejected(_GIVEN_UP) from None
        except BaseException:
            self._over()
            raise
        if "failure" in said:
            raise getattr(errors, said["failure"])(said["reason"])
        return answer

    def _begun(self) -> Child:
        """Give the process, which has its store: however long that takes, it is for all queries."""
        if self._process is None:
            try:
                self._process = self._opened(self._folder) if self._folder else self._copied()
            except BaseException:
                self._over()
                raise
        return self._process

    def _opened(self, folder: Path) -> Child:
        process, reason = self._start(folder)
        if _mark(folder) != self._mark:
            raise KGUnavailable(_REPLACED)
        if reason:
            raise KGUnavailable(reason)
        return process

    def _copied(self) -> Child:
        """Begin the process with a copy of the store; one that cannot be used is made anew next time."""
        try:
            process, reason = self._start(self._copy) if self._copy else self._copying()
        except OSError as error:
            reason = str(error)
        if reason:
            self._end()  # it may still write there
            self._remove()
            self._copy = None
            raise KGUnavailable(_NO_COPY.format(reason=reason.rpartition(": ")[2]))
        return process

    def _copying(self) -> tuple[Child, str]:
        """Begin the process, and write it the store."""
        folder = self._copy = Path(tempfile.mkdtemp(prefix="kgqa-store-"))
        remove = partial(shutil.rmtree, folder, ignore_errors=True)
        atexit.register(remove)  # the end of Python stops a thread that is at it half-way
        self._remove = weakref.finalize(self, _done, remove)
        ends = os.pipe()
        with os.fdopen(ends[0], "rb") as receiving, os.fdopen(ends[1], "wb", 1 << 16) as sending:

            def write() -> None:
                receiving.close()
                with suppress(BrokenPipeError), sending:  # the process has ended, or says why it will
                    self._store.dump(sending, ox.RdfFormat.N_QUADS)

            return self._start(folder, receiving.fileno(), write)

    def _start(
        self, folder: Path, quads: int | None = None, write: Callable[[], None] = lambda: None
    ) -> tuple[Child, str]:
        """Begin the process; gives also why it cannot open the folder, or nothing.

        Args:
            folder: of a store; an empty one if there are ``quads``.
            quads: the handle from which the process reads the store.
            write: called while it does.
        """
        process = Child("kgqa.kg.apart_child", [] if quads is None else [quads])
        self._end = weakref.finalize(self, process.end)
        given = {"folder": str(folder), "quads": quads, "temporary": self._folder is None, "memory": MEMORY}
        try:
            process.send(given)
            write()
            said, _ = process.receive(lambda: None)
        except Lost:
            return process, "the process that runs queries does not begin"
        return process, said.get("reason", "")

    def _over(self) -> None:
        self._end()
        self._process = None


def _done(remove: Callable[[], None]) -> None:
    """Do now what was to be done at the end of Python."""
    remove()
    atexit.unregister(remove)


def _mark(folder: Path | None) -> bytes:
    """Give what tells a store from any other; an inode's number does not, being given again."""
    if folder is None:
        return b""
    try:
        return read_file(folder / "IDENTITY", 1 << 10)
    except OSError:
        return b""
