"""A sandbox for queries that nobody vouches for: a process of its own, which is ended if need be.

A query that a model or the caller of a tool wrote can run without end, take all memory, or abort
the process that runs it: pyoxigraph does so where it sorts values that have no order, and where a
query is nested deeper than its stack. Here that costs the query its answer and kgqa nothing; the
process is begun anew with the next one.

The first line of JSON that the process is given tells of the store; each after it is a query. The
answer to each is a line of JSON with so many ``bytes`` behind it. It ends when nobody asks any more.
"""

import atexit
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, TypeAlias, cast

import pyoxigraph as ox

from kgqa.builds import make_scratch
from kgqa.kg import errors
from kgqa.kg.errors import KGRejected, KGUnavailable
from kgqa.kg.sparql.decoding import serialise_answer, to_kg_error
from kgqa.locks import renew_in_child

_Message: TypeAlias = dict[str, Any]

POLL_SECONDS = 0.05  # seconds between two looks whether anyone still waits for a message

_PASSED_VARIABLES = ("PYTHON", "LD_", "DYLD_")
"""What of the environment Python needs; keys and addresses are not for the process."""


MAX_QUERY_MEMORY_BYTES = 1 << 30  # bytes that a query may take beside the store's own
MAX_RESULT_BYTES = 1 << 26

COPY_PREFIX = "kgqa-store-"

_QUERY_KILLED = (
    "the store gave the query up: it takes too much memory, is nested too deeply, "
    "or orders values that have no order; ask for less, or ORDER BY STR(...)"
)

_STORE_REMOVED = "the store was removed since it was opened; start kgqa again"

_COPY_FAILED = (
    "the graph cannot be copied to where temporary files go, for queries from outside ({reason}); "
    "make room there, set TMPDIR to another folder, or build a folder by `kgqa kg load` and open that"
)


def start_module(module: str, handles: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """Run ``python -m module``, with pipes for what it reads and writes, and these files open, too.

    Raises:
        OSError: if no process can be begun.
    """
    own = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_VARIABLES)}
    return subprocess.Popen(  # noqa: S603  # Python itself, and a module that kgqa names
        (sys.executable, "-P", "-m", module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**own, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        pass_fds=handles,
        start_new_session=True,  # Ctrl-C is for kgqa
    )


class ProcessEnded(Exception):
    """The process has ended."""


class ChildProcess:
    """A process, and its messages: lines of JSON, with so many ``bytes`` behind each that it sends.

    Raises:
        OSError: if no process can be begun.
    """

    def __init__(self, module: str, handles: Sequence[int] = ()) -> None:
        self._popen = start_module(module, handles)
        self._input = cast(IO[bytes], self._popen.stdin)
        self._output = cast(IO[bytes], self._popen.stdout)

    def send(self, message: _Message) -> None:
        """Send a message; raise ProcessEnded if the process has ended."""
        try:
            self._input.write(json.dumps(message).encode() + b"\n")
            self._input.flush()
        except BrokenPipeError:
            raise ProcessEnded from None

    def receive(self, stop: Callable[[], None]) -> tuple[_Message, bytes]:
        """Wait for a message; return it with what is behind it.

        Raises:
            ProcessEnded: if the process has ended.
        """
        line = b""
        while b"\n" not in line:
            line += self._read(stop)
        head, _, rest = line.partition(b"\n")
        message, blocks, size = json.loads(head), [rest], len(rest)
        while size < message["bytes"]:
            blocks.append(self._read(stop))
            size += len(blocks[-1])
        return message, b"".join(blocks)

    def _read(self, stop: Callable[[], None]) -> bytes:
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            while not selector.select(POLL_SECONDS):
                stop()
        if block := os.read(self._output.fileno(), 1 << 20):
            return block
        raise ProcessEnded

    def end(self) -> None:
        """End the process, whatever it is at."""
        self._popen.kill()
        for pipe in (self._input, self._output):
            with suppress(OSError):
                pipe.close()
        self._popen.wait()


class QuerySandbox:
    """A process with a store, begun with the first query; one thread at a time may ask.

    A store in memory is copied to a temporary folder with the first query, which takes some 8 seconds
    for a million triples; to begin the process anew takes none. It has no ``folder``.
    """

    def __init__(self, store: ox.Store, folder: Path | None) -> None:
        self._store, self._folder = store, folder
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Have no process yet; whose this one was forked from goes on with its own."""
        self._copy: Path | None = None
        self._process: ChildProcess | None = None
        self._end: Callable[[], object] = lambda: None
        self._remove = self._end

    def ask(self, text: str, *, union: bool, limit: int | None, stop: Callable[[], None]) -> bytes:
        """Run a query, over all named graphs in ``union``, and return the answer in SPARQL's JSON.

        ``stop`` is called time and again; what it raises ends the query.

        Raises:
            KGError: as `to_kg_error` has it; KGRejected also where the process could not bear it,
                KGUnavailable where the store was removed, or cannot be copied.
            OSError: if no process can be begun.
        """
        process = self._get_process()
        stop()
        try:
            process.send({"query": text, "union": union, "limit": limit, "most": MAX_RESULT_BYTES})
            reply, answer = process.receive(stop)
        except ProcessEnded:
            self._stop()
            raise KGRejected(_QUERY_KILLED) from None
        except BaseException:
            self._stop()
            raise
        if "failure" in reply:
            raise getattr(errors, reply["failure"])(reply["reason"])
        return answer

    def _get_process(self) -> ChildProcess:
        """Return the process, which has its store: however long that takes, it is for all queries."""
        if self._process is None:
            try:
                self._process = self._start_on_folder(self._folder) if self._folder else self._start_on_copy()
            except BaseException:
                self._stop()
                raise
        return self._process

    def _start_on_folder(self, folder: Path) -> ChildProcess:
        process, reason = self._start(folder)
        if reason:
            raise KGUnavailable(reason if folder.is_dir() else _STORE_REMOVED)
        return process

    def _start_on_copy(self) -> ChildProcess:
        """Begin the process with a copy of the store; one that cannot be used is made anew next time."""
        try:
            process, reason = self._start(self._copy) if self._copy else self._copy_store()
        except OSError as error:
            reason = str(error)
        if reason:
            self._end()  # it may still write there
            self._remove()
            self._copy = None
            raise KGUnavailable(_COPY_FAILED.format(reason=reason.rpartition(": ")[2]))
        return process

    def _copy_store(self) -> tuple[ChildProcess, str]:
        """Begin the process, and write it the store."""
        held = make_scratch(Path(tempfile.gettempdir()), COPY_PREFIX)  # goes with the next one at the latest
        folder = self._copy = held.path
        atexit.register(held.remove)  # the end of Python stops a thread that is at it half-way
        self._remove = weakref.finalize(self, _remove_now, held.remove)
        ends = os.pipe()
        with os.fdopen(ends[0], "rb") as receiving, os.fdopen(ends[1], "wb", 1 << 16) as sending:

            def write() -> None:
                receiving.close()
                with suppress(BrokenPipeError), sending:  # the process has ended, or says why it will
                    self._store.dump(sending, ox.RdfFormat.N_QUADS)

            return self._start(folder, receiving.fileno(), write)

    def _start(
        self, folder: Path, quads: int | None = None, write: Callable[[], None] = lambda: None
    ) -> tuple[ChildProcess, str]:
        """Begin the process; return also why it cannot open the folder, or nothing.

        It reads the store from the handle ``quads``, while ``write`` is called; its folder is empty then.
        """
        process = ChildProcess("kgqa.kg.store.sandbox", [] if quads is None else [quads])
        self._end = weakref.finalize(self, process.end)
        given = {
            "folder": str(folder),
            "quads": quads,
            "temporary": self._folder is None,
            "memory": MAX_QUERY_MEMORY_BYTES,
        }
        try:
            process.send(given)
            write()
            reply, _ = process.receive(lambda: None)
        except ProcessEnded:
            return process, "the process that runs queries does not begin"
        return process, reply.get("reason", "")

    def _stop(self) -> None:
        self._end()
        self._process = None


def _remove_now(remove: Callable[[], None]) -> None:
    """Do now what was to be done at the end of Python."""
    remove()
    atexit.unregister(remove)


def main() -> None:
    """Open the store, then answer a query at a time."""
    given: _Message = json.loads(sys.stdin.buffer.readline())
    messages: SimpleQueue[_Message] = SimpleQueue()
    threading.Thread(target=_read_messages, args=(messages, given), daemon=True).start()
    try:
        store = _open_child_store(given["folder"], given["quads"])
    except Exception as error:
        _report_error(error)
        os._exit(1)
    _limit_memory(given["memory"])
    _reply({}, b"")
    while True:
        asked = messages.get()
        try:
            answer = _answer_query(store, asked)
        except Exception as error:
            _report_error(error)
        else:
            _reply({}, answer)


def _read_messages(messages: "SimpleQueue[_Message]", given: _Message) -> None:
    """Take messages, and end the process, whatever it is at, when nobody can send any.

    kgqa has ended then, perhaps without a chance to remove a store that was meant for this process.
    """
    while line := sys.stdin.buffer.readline():
        messages.put(json.loads(line))
    try:
        if given["temporary"]:
            shutil.rmtree(given["folder"], ignore_errors=True)
    finally:
        os._exit(0)


def _open_child_store(folder: str, quads: int | None) -> ox.Store:
    """Open a folder, or fill it from a file that is open already."""
    if quads is None:
        return ox.Store.read_only(folder)
    store = ox.Store(folder)
    with os.fdopen(quads, "rb") as file:
        store.bulk_load(file, ox.RdfFormat.N_QUADS)
    store.flush()
    return store


def _limit_memory(memory: int) -> None:
    """Leave so many bytes to take beyond what is taken, where the system tells that; dump no core."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            limit = int(file.read().split()[0]) * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (OSError, ValueError):
        return


def _answer_query(store: ox.Store, asked: dict[str, Any]) -> bytes:
    left = asked["most"]

    def step(size: int) -> None:
        nonlocal left
        left -= size
        if left < 0:
            raise KGRejected(f"the answer is longer than {asked['most']:,} bytes; ask for less")

    answer = store.query(asked["query"], use_default_graph_as_union=asked["union"])
    return serialise_answer(answer, asked["limit"], step)


def _report_error(error: Exception) -> None:
    known = to_kg_error(error)
    _reply({"failure": type(known).__name__, "reason": str(known)}, b"")


def _reply(reply: dict[str, str], content: bytes) -> None:
    line = json.dumps({**reply, "bytes": len(content)}).encode()
    sys.stdout.buffer.write(line + b"\n" + content)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
