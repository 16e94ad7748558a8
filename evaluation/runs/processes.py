"""Several processes that ask the questions of one run: Python keeps a process to about one core."""

import asyncio
import json
import os
import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asked
from kgqa.evaluation.runs.child import LONGEST
from kgqa.evaluation.runs.loop import CORES
from kgqa.evaluation.runs.order import Holding, Order, order_of
from kgqa.evaluation.runs.pool import Pool, WorkerLost, pool
from kgqa.evaluation.runs.records import Lines
from kgqa.evaluation.runs.subject import Subject

MOST = 4
"""Processes of a run at most: each opens the graph for itself."""

AT_A_TIME = 8
"""Questions at a time that a process is worth starting for."""

SHARE = 100
"""Questions in all that a process is worth starting for."""


def how_many(subject: Subject, questions: int, concurrency: int) -> int:
    """Tell how many processes so many questions are worth; 0 where that of the run itself will do."""
    worth = min(MOST, len(CORES), concurrency // AT_A_TIME, questions // SHARE)
    return worth if subject.named and worth > 1 else 0


class Process:
    """A process that has been started, and the questions that it was given."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[str, asyncio.Future[Asked]] = {}
        self._reading: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """Who it is, in messages."""
        return f"process {self._process.pid}"

    async def open(self) -> Holding:
        """Let it open what the run names; see `Worker`.

        Raises:
            WorkerLost: if the process is gone.
        """
        try:
            said: Holding = json.loads(await self._line())
        except ValueError:
            raise _lost() from None
        self._reading = asyncio.create_task(self._read())
        return said

    async def ask(self, question: Question) -> Asked:
        """Ask one question; see `Asker.ask`.

        Raises:
            WorkerLost: if the process is gone.
        """
        if self._reading is None or self._reading.done() or self._process.stdin is None:
            raise _lost()
        self._process.stdin.write(json.dumps(asdict(question)).encode() + b"\n")
        future: asyncio.Future[Asked] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = future
        return await future

    async def _read(self) -> None:
        """Hand out records as they come; at the end nobody waits on."""
        try:
            while asked := await self._record():
                future = self._waiting.pop(asked.record["id"])
                if not future.done():
                    future.set_result(asked)
        except (ValueError, LookupError, TypeError):
            self._process.kill()  # it does not say what it should
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(_lost())

    async def _record(self) -> Asked | None:
        """Read the next record; None where the process has ended, maybe within a line."""
        lines = Lines(await self._line(), await self._line())
        return Asked(json.loads(lines.record), lines) if lines.record.endswith(b"\n") else None

    async def _line(self) -> bytes:
        return await self._process.stdout.readline() if self._process.stdout else b""

    async def end(self) -> None:
        """End the process; what it is still asking is lost."""
        if self._reading:
            self._reading.cancel()
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


def processes(
    subject: Subject, head: Holding, size: int, concurrency: int
) -> AbstractAsyncContextManager[Pool]:
    """Start so many processes and end them afterwards."""
    order = order_of(subject)

    async def start(place: int) -> Process:
        return Process(await _start(order, place))

    return pool(start, size, concurrency, subject.context.config(), head)


async def _start(order: Order, place: int) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-P", "-m", "kgqa.evaluation.runs.child"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LONGEST,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,  # Ctrl-C is for the run, which lets the questions at hand end
    )
    if process.stdin:
        given = {"order": order, "place": place, "cores": CORES}
        process.stdin.write(json.dumps(given).encode() + b"\n")
    return process


def _lost() -> WorkerLost:
    return WorkerLost("the process has ended")
