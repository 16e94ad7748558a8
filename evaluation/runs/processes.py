"""Several processes that ask the questions of one run: Python keeps a process to about one core."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asked
from kgqa.evaluation.runs.child import LONGEST, QUESTION
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
    """Tell how many processes a run is worth; 1 means that it needs none but its own."""
    if not subject.named:
        return 1
    return max(1, min(MOST, len(CORES), concurrency // AT_A_TIME, questions // SHARE))


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
        future: asyncio.Future[Asked] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = future
        self._process.stdin.write(QUESTION.dump_json(question) + b"\n")
        return await future

    async def _read(self) -> None:
        out = self._process.stdout
        while out and (times := await out.readline()) and (record := await out.readline()):
            asked = Asked(json.loads(record), Lines(times, record))
            future = self._waiting.pop(asked.record["id"])
            if not future.done():
                future.set_result(asked)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(_gone())

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
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-P", "-m", "kgqa.evaluation.runs.child", json.dumps(order)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LONGEST,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,  # Ctrl-C is for the run, which lets the questions at hand end
    )


def _gone() -> RunError:
    return RunError("a process of the run is gone; what is recorded stays, and the same command goes on")
