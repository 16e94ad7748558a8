"""``kgqa eval`` in processes of their own, to be killed and interrupted.

A fork server that has imported kgqa once makes them: a process is there in hundredths
of a second. What goes on in one is the command itself, except for the delays and
deaths that are asked for.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

_server = get_context("forkserver")
_server.set_forkserver_preload(
    [
        "kgqa.cli.main",
        "kgqa.evaluation.runs.progress",
        "kgqa.evaluation.runs.evaluate",
        "kgqa.evaluation.runs.progress",
        "kgqa.graphs.cor",
        "numpy.random",
    ]
)


@dataclass(frozen=True)
class Plan:
    """What is different in a child from the command as it is."""

    delay: float = 0.0
    """Seconds that the model takes for each prompt."""
    dies_at_line: int | None = None
    """In the middle of writing this line, counted over both logs, it is killed."""
    dies_at_replace: int | None = None
    """Before it replaces a file for this time (positive), or after it (negative)."""


class Child:
    """A running command; what it prints goes to the files ``out`` and ``err`` of a folder."""

    def __init__(self, process: ForkServerProcess, folder: Path) -> None:
        self._process, self._folder = process, folder

    def signal(self, number: int) -> None:
        """Send a signal; a process that has ended already does not mind."""
        if self._process.pid and self._process.exitcode is None:
            os.kill(self._process.pid, number)

    def status(self) -> int:
        """Wait for the end and give the exit status; that of a kill is negative."""
        self._process.join(60)
        status = self._process.exitcode
        assert status is not None, "it does not end"
        return status

    @property
    def asking(self) -> int:
        """Prompts that wait for their delay, or waited."""
        return len(list(self._folder.glob("asking-*")))

    @property
    def out(self) -> str:
        return (self._folder / "out").read_text()

    @property
    def err(self) -> str:
        return (self._folder / "err").read_text()


Start = Callable[..., Child]


@contextmanager
def children(folder: Path) -> Iterator[Start]:
    """Return what starts children; those that still run at the end are killed."""
    started: list[ForkServerProcess] = []

    def start(arguments: list[str], plan: Plan = Plan()) -> Child:
        own = folder / f"child{len(started)}"
        own.mkdir()
        process = _server.Process(target=_main, args=(arguments, plan, own))
        process.start()
        started.append(process)
        return Child(process, own)

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.join()
            process.close()


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.005)


def _main(arguments: list[str], plan: Plan, folder: Path) -> None:
    from kgqa.cli.main import main
    from kgqa.evaluation.runs import asking, records

    os.environ["KGQA_HOME"] = str(folder)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
    if plan.delay:
        _delayed(asking.PerQuestionModel, plan.delay, folder)
    _deadly_line(records.AppendLog, plan.dies_at_line)
    _deadly_replace(records.os, plan.dies_at_replace)
    sys.argv = ["kgqa", *arguments]
    main()


def _delayed(model: Any, delay: float, folder: Path) -> None:
    ask, numbers = model.ask, count()

    async def later(self: Any, prompt: Any) -> Any:
        (folder / f"asking-{next(numbers)}").touch()
        await asyncio.sleep(delay)
        return await ask(self, prompt)

    model.ask = later


def _deadly_line(log: Any, at: int | None) -> None:
    write, lines = log.append, 0

    def written(self: Any, line: bytes) -> None:
        nonlocal lines
        lines += 1
        if lines == at:
            os.write(self._file, line[: len(line) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        write(self, line)

    log.append = written


def _deadly_replace(module: Any, at: int | None) -> None:
    replace, times = os.replace, 0

    def replaced(old: Any, new: Any) -> None:
        nonlocal times
        times += 1
        if times == at:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(old, new)
        if times == -(at or 0):
            os.kill(os.getpid(), signal.SIGKILL)

    module.replace = replaced
