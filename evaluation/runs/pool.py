"""Workers that ask the questions of one run, in this machine or on others.

A worker that is lost costs nothing but time: what it was asked is asked of another,
and its place is filled again. A question that was lost twice is asked of a worker that
is asked nothing else meanwhile; where that one is lost too, it is the question, which
gets the record of a failure.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from math import ceil
from typing import Any, Protocol, TypeVar

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asked, failure
from kgqa.evaluation.runs.errors import RunError
from kgqa.evaluation.runs.listing import unlike
from kgqa.evaluation.runs.order import Holding, objection

T = TypeVar("T")

LOSSES = 3
"""How often in a row: workers that a question may cost, starts of a worker, questions that are given up."""

PATIENCE = 60.0
"""Seconds that a run waits where no worker is left."""

PAUSE = 0.5
"""Seconds before a start that failed is tried again."""

GOES_ON = "what is recorded stays, and the same command goes on"

_log = logging.getLogger(__name__)


class WorkerLost(Exception):
    """A worker is gone, and what it was asked is not answered; the message says how."""


class Worker(Protocol):
    """Something that asks questions in a process of its own."""

    @property
    def name(self) -> str:
        """Who it is, in messages."""

    async def open(self) -> Holding:
        """Open what the run names, and tell what it answers from, or why it cannot.

        Raises:
            WorkerLost: if it is gone.
        """

    async def ask(self, question: Question) -> Asked:
        """Ask one question; see `Asker.ask`.

        Raises:
            WorkerLost: if it is gone.
        """

    async def end(self) -> None:
        """End it; what it is still asking is lost."""


Start = Callable[[int], Awaitable[Worker]]
"""Starts a worker at one of the places of a run; takes as long as there is no room. Raises `WorkerLost`."""


class Pool:
    """Gives each question to the worker that has the fewest."""

    def __init__(
        self, start: Start, size: int, concurrency: int, config: Mapping[str, Any], head: Holding
    ) -> None:
        self._start, self._places, self._config, self._head = start, size, config, head
        self._most = ceil(concurrency / size)  # what was lost is no reason to overload the others
        self._busy: dict[Worker, int] = {}
        self._there = 0
        self._kept: Worker | None = None
        self._alone = asyncio.Lock()
        self._given_up = 0
        self._changed = asyncio.Event()

    async def ask(self, question: Question) -> Asked:
        """Ask one question; see `Asker.ask`.

        Raises:
            RunError: if workers are lost whatever they are asked.
        """
        for lost in range(LOSSES):
            try:
                asked = await self._once(question, alone=lost == LOSSES - 1)
            except WorkerLost as error:
                why = error
            else:
                self._given_up = 0
                return asked
        self._given_up += 1
        if self._given_up == LOSSES:
            raise RunError(f"workers are lost whatever they are asked ({why}); {GOES_ON}")
        return failure(question, self._config, WorkerLost(f"{LOSSES} workers were lost that asked it: {why}"))

    async def _once(self, question: Question, *, alone: bool) -> Asked:
        async with self._alone if alone else nullcontext():
            worker = await self._until(self._idle if alone else self._fewest)
            self._busy[worker] += 1
            try:
                return await worker.ask(question)
            except WorkerLost as lost:
                if self._busy.pop(worker, None):
                    _log.warning("%s is lost (%s); others are asked", worker.name, lost)
                raise
            finally:
                if alone:
                    self._kept = None
                if worker in self._busy:
                    self._busy[worker] -= 1
                self._tell()

    def _fewest(self) -> Worker | None:
        """Give the worker that has the fewest questions, where one has room for another."""
        free = [worker for worker, n in self._busy.items() if n < self._most and worker is not self._kept]
        return min(free, key=self._busy.__getitem__, default=None)

    def _idle(self) -> Worker | None:
        """Keep a worker from being asked more, and give it as soon as it is asked nothing."""
        if self._kept not in self._busy:
            self._kept = min(self._busy, key=self._busy.__getitem__, default=None)
        return self._kept if self._kept and not self._busy[self._kept] else None

    async def _until(self, so: Callable[[], T | None]) -> T:
        """Wait until there is something, and give it."""
        while not (found := so()):
            await self._changed.wait()
        return found

    def _tell(self) -> None:
        """Let all who wait look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def fill(self, place: int) -> None:
        """Keep a place filled, as long as workers come to work there at all.

        Raises:
            RunError: if the first is refused, or this was the last place.
        """
        why, failures, new, again = "", 0, True, False
        while failures < LOSSES:
            failures += 1
            try:
                async with self._started(place) as worker:
                    said = await worker.open()
                    wrong = objection(worker.name, said, self._head)
                    if wrong and new and (again or not unlike(said, self._head)):
                        raise RunError(wrong)
                    again = bool(wrong)
                    if wrong:
                        _log.warning("%s", wrong)
                        raise WorkerLost(wrong)
                    failures, new = 0, False
                    await self._employ(worker)
            except WorkerLost as lost:
                why = str(lost)
                await asyncio.sleep(PAUSE)
        self._places -= 1
        if not self._places:
            raise RunError(f"no worker can be started ({why}); {GOES_ON}")

    @asynccontextmanager
    async def _started(self, place: int) -> AsyncIterator[Worker]:
        worker = await self._start(place)
        self._there += 1
        self._tell()
        try:
            yield worker
        finally:
            self._there -= 1
            self._tell()
            await worker.end()

    async def _employ(self, worker: Worker) -> None:
        """Let a worker be asked until it is lost."""
        self._busy[worker] = 0
        self._tell()
        await self._until(lambda: worker not in self._busy)

    async def watch(self) -> None:
        """Wait for the end of the run, or of its patience.

        Raises:
            RunError: if there is no worker for so long.
        """
        while True:
            await self._until(lambda: not self._there)
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._until(lambda: self._there)
            except TimeoutError:
                raise RunError(f"no worker for {PATIENCE:g} s; {GOES_ON}") from None


@asynccontextmanager
async def pool(
    start: Start, size: int, concurrency: int, config: Mapping[str, Any], head: Holding
) -> AsyncIterator[Pool]:
    """Start so many workers and end them afterwards.

    Raises:
        RunError: in the midst of what is done meanwhile, if no worker is left.
    """
    opened = Pool(start, size, concurrency, config, head)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(opened.fill(place)) for place in range(size)]
            tasks.append(group.create_task(opened.watch()))
            yield opened
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
