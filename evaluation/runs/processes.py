"""Several processes that ask the questions of one run: Python keeps a process to about one core."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict
from typing import Any

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asked
from kgqa.evaluation.runs.child import LONGEST
from kgqa.evaluation.runs.errors import RunError
from kgqa.evaluation.runs.loop import CORES
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
        self._reading = asyncio.create_task(self._read())

    @property
    def busy(self) -> int:
        """How many questions it is asking."""
        return len(self._waiting)

    async def ask(self, question: Question) -> Asked:
        """Ask one question; see `Asker.ask`.

        Raises:
            RunError: if the process is gone.
        """
        if self._reading.done() or self._process.stdin is None:
            raise _gone()
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
                    future.set_exception(_gone())

    async def _record(self) -> Asked | None:
        """Read the next record; None where the process has ended, maybe within a line."""
        if self._process.stdout is None:
            return None
        lines = Lines(await self._process.stdout.readline(), await self._process.stdout.readline())
        return Asked(json.loads(lines.record), lines) if lines.record.endswith(b"\n") else None

    async def end(self) -> None:
        """End the process; what it is still asking is lost."""
        self._reading.cancel()
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


class Pool:
    """Gives each question to the process that has the fewest."""

    def __init__(self, processes: list[Process]) -> None:
        self._processes = processes

    async def ask(self, question: Question) -> Asked:
        """Ask one question; see `Process.ask`."""
        return await min(self._processes, key=lambda process: process.busy).ask(question)


@asynccontextmanager
async def pool(subject: Subject, size: int) -> AsyncIterator[Pool]:
    """Start so many processes and end them afterwards."""
    async with AsyncExitStack() as started:
        processes = []
        for place in range(size):
            process = Process(await _start(subject, place))
            started.push_async_callback(process.end)
            processes.append(process)
        yield Pool(processes)


async def _start(subject: Subject, place: int) -> asyncio.subprocess.Process:
    config: dict[str, Any] = subject.context.config()
    options = subject.context.model_dump(mode="json", exclude={"model"})
    order = {
        "method": config["method"],
        "model": config["model"],
        "options": options,
        "place": place,
        "cores": CORES,
    }
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
        process.stdin.write(json.dumps(order).encode() + b"\n")
    return process


def _gone() -> RunError:
    return RunError("a process of the run is gone; what is recorded stays, and the same command goes on")
