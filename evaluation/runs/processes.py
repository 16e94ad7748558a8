"""Several processes that ask the questions of one run: Python keeps a process to about one core.

Run as a program, this is one of them: a question in, the lines of its record out.
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from typing import Any, BinaryIO

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asker, Subject
from kgqa.evaluation.runs.event_loop import CORES, run_on_one_core
from kgqa.evaluation.runs.records import AskedRecord, json_line
from kgqa.evaluation.runs.worker_pool import (
    Sources,
    WorkerLost,
    WorkerOrder,
    WorkerPool,
    make_order,
    open_pool,
    open_worker,
    read_question,
    read_sources,
    write_question,
)

MAX_PROCESSES = 4  # processes of a run at most: each opens the graph for itself
CONCURRENCY_PER_PROCESS = 8  # questions at a time that a process is worth starting for
QUESTIONS_PER_PROCESS = 100  # questions in all that a process is worth starting for
MAX_MESSAGE_BYTES = 1 << 30  # bytes of the longest line that goes in or out
PROCESS_LOST = "the process has ended"

_log = logging.getLogger(__name__)


def count_processes(subject: Subject, questions: int, concurrency: int) -> int:
    """Return how many processes so many questions are worth; 0 where that of the run itself will do."""
    worth = min(concurrency // CONCURRENCY_PER_PROCESS, questions // QUESTIONS_PER_PROCESS)
    size = min(MAX_PROCESSES, len(CORES), worth)
    if size > 1 and not subject.named:
        _log.warning(
            "an open graph or model cannot go to other processes: this one asks alone; %d would ask if both "
            "had names",
            size,
        )
        return 0
    return size if size > 1 else 0


class WorkerProcess:
    """A process that has been started, and the questions that it was given."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.name = f"process {process.pid}"
        self._process = process
        self._waiting: dict[str, asyncio.Future[AskedRecord]] = {}
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> Sources:
        """Let it open what the run names; see `Worker`."""
        try:
            said: Sources = json.loads(await self._line())
        except ValueError:
            raise WorkerLost(PROCESS_LOST) from None
        self._reading = asyncio.create_task(self._read())
        return said

    async def ask(self, question: Question) -> AskedRecord:
        """Ask one question; see `Asker.ask`."""
        if self._reading is None or self._reading.done() or self._process.stdin is None:
            raise WorkerLost(PROCESS_LOST)
        self._process.stdin.write(write_question(question))
        future: asyncio.Future[AskedRecord] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = future
        return await future

    async def _read(self) -> None:
        """Hand out records as they come; at the end nobody waits on."""
        try:
            while True:
                times, line = await self._line(), await self._line()
                if not line.endswith(b"\n"):  # the process has ended, maybe within a line
                    break
                record = json.loads(line)
                future = self._waiting.pop(record["id"])
                if not future.done():
                    future.set_result(AskedRecord(record, times, line))
        except (ValueError, LookupError, TypeError):  # it does not say what it should
            self._process.kill()
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(WorkerLost(PROCESS_LOST))

    async def _line(self) -> bytes:
        return await self._process.stdout.readline() if self._process.stdout else b""

    async def end(self) -> None:
        """End the process; what it is still asking is lost."""
        ending = asyncio.ensure_future(_end_process(self._process, self._reading))
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await ending
            raise


def open_processes(
    subject: Subject, head: Sources, size: int, concurrency: int
) -> AbstractAsyncContextManager[WorkerPool]:
    """Start so many processes and end them afterwards."""
    order = make_order(subject)

    async def start(place: int) -> WorkerProcess:
        return WorkerProcess(await _start_process(order, place))

    return open_pool(start, size, concurrency, subject.context.config(), head)


@asynccontextmanager
async def open_asker(subject: Subject, processes: int, concurrency: int) -> AsyncIterator[Asker | WorkerPool]:
    """Open what a subject names, and so many processes that ask it; none, and this one asks.

    Raises:
        KGError: if the graph cannot be opened.
        ModelError: if the model cannot.
        RunError: if no process lives.
    """
    graph = await subject.open()
    if not processes:
        yield Asker(subject, graph)
        return
    async with open_processes(subject, await read_sources(subject, graph), processes, concurrency) as pool:
        yield pool


async def _start_process(order: WorkerOrder, place: int) -> asyncio.subprocess.Process:
    """Start a worker; one that is no longer wanted by the time it has begun is ended."""
    beginning = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", "-m", "kgqa.evaluation.runs.processes"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MAX_MESSAGE_BYTES,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the run, which lets the questions at hand end
        )
    )
    try:
        process = await asyncio.shield(beginning)
    except asyncio.CancelledError:
        await _end_process(await beginning, None)
        raise
    if process.stdin:
        process.stdin.write(json_line({"order": order, "place": place, "cores": CORES}))
    return process


async def _end_process(process: asyncio.subprocess.Process, reading: asyncio.Task[None] | None) -> None:
    """Kill a process, end what reads from it, and wait until its pipes are closed as well."""
    if process.returncode is None:
        process.kill()
    if reading:
        reading.cancel()
        await asyncio.wait([reading])
    await process.communicate()


def main() -> None:
    """Serve a run; the first line of the input says what to open, and which of the cores to keep to."""
    first = b""
    while (char := os.read(0, 1)) != b"\n":  # what comes after the line is read later
        if not char:  # the run has ended before it has said what to open
            return
        first += char
    given = json.loads(first)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no record
    run_on_one_core(_serve_questions(given, out), given["place"], tuple(given["cores"]))


async def _serve_questions(given: dict[str, Any], out: BinaryIO) -> None:
    loop, questions = asyncio.get_running_loop(), asyncio.StreamReader(MAX_MESSAGE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(questions), sys.stdin.buffer)
    with ExitStack() as held:
        asker, said = await open_worker(given["order"], held)
        _write_lines(json_line(said), out)
        if asker is None:
            return

        async def answer(asker: Asker, line: bytes) -> None:
            asked = await asker.ask(read_question(line))
            _write_lines(asked.times_line + asked.record_line, out)

        running: set[asyncio.Task[None]] = set()
        while (line := await questions.readline()).endswith(b"\n"):
            task = loop.create_task(answer(asker, line))
            running.add(task)
            task.add_done_callback(running.discard)
        for task in running:  # nothing waits for them any more
            task.cancel()


def _write_lines(lines: bytes, out: BinaryIO) -> None:
    try:
        out.write(lines)
        out.flush()
    except OSError:
        os._exit(1)


if __name__ == "__main__":
    main()
