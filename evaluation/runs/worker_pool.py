"""Workers that ask the questions of one run, in this machine or on others.

A worker that is lost costs nothing but time: what it was asked is asked of another,
and its place is filled again. A question that was lost twice is asked of a worker that
is asked nothing else meanwhile; where that one is lost too, it is the question, which
gets the record of a failure.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager, nullcontext
from dataclasses import asdict
from math import ceil
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa import __version__
from kgqa.addresses import server_of_url
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asker, Subject, make_subject
from kgqa.evaluation.runs.event_loop import garbage_frozen
from kgqa.evaluation.runs.folder import listing_difference
from kgqa.evaluation.runs.records import AskedRecord, RunError, failed_record
from kgqa.graphs import own_method
from kgqa.kg.errors import KGError
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.errors import ModelError
from kgqa.priors.errors import EncoderError
from kgqa.runtime.resources import open_resources
from kgqa.runtime.wordings import wording_fingerprint

Sources = Mapping[str, str | None]
"""What a process answers from: version, model server, graph, whether it is listed, what was learned."""

MAX_LOSSES = 3
"""How often in a row: workers that a question may cost, starts of a worker, questions that are given up."""

MAX_WAIT_SECONDS = 60.0  # seconds that a run waits where no worker is left
RESTART_PAUSE_SECONDS = 0.5  # seconds before a start that failed is tried again
RESUME_HINT = "what is recorded stays, and the same command goes on"

T = TypeVar("T")

_QUESTION = TypeAdapter(Question)

_log = logging.getLogger(__name__)


class WorkerOrder(TypedDict):
    """What a worker is to ask, by names, which it opens for itself."""

    kgqa: str
    method: str | None
    model: str
    options: dict[str, Any]
    graphs: str | None


def make_order(subject: Subject) -> WorkerOrder:
    """Write down what a worker is to open."""
    options = subject.context.model_dump(mode="json", exclude={"model"})
    return {
        "kgqa": __version__,
        "method": subject.method,
        "model": subject.context.config()["model"],
        "options": options,
        "graphs": str(subject.graphs.path) if subject.graphs else None,
    }


async def read_sources(subject: Subject, graph: KnowledgeGraph) -> Sources:
    """Return what this process answers from, with None for what it does without or cannot know."""
    opened = await open_resources(subject.context_over(graph))
    server = getattr(opened.model, "url", None)
    library, exemplars = opened.library, opened.index or opened.exemplars
    own = own_method(subject.context.method)
    return {
        "kgqa": __version__,
        "model server": server_of_url(server) if server else None,
        "relations": "listed" if graph.relations else None,
        "graph": (subject.graphs or graph).fingerprint,
        "blueprints": f"{library.fingerprint[:16]}, tau {library.tau:g}" if library else None,
        "exemplars": exemplars.fingerprint[:16] if exemplars else None,
        "wording": wording_fingerprint(subject.context.prompts),
        **({"method": own.fingerprint} if own else {}),
    }


async def open_worker(order: WorkerOrder, held: ExitStack) -> tuple[Asker | None, Sources]:
    """Open what an order names, for as long as ``held`` is open; an error and no asker where it cannot be."""
    if order["kgqa"] != __version__:
        return None, {"error": f"it has kgqa {__version__}, the run {order['kgqa']}; install the same"}
    try:
        graphs = Path(order["graphs"]) if order["graphs"] else None
        asked = make_subject(order["method"] or "", None, order["model"], order["options"], 0, graphs)
        graph = await asked.open()
        said = await read_sources(asked, graph)
    except (ValueError, KGError, ModelError, EncoderError) as error:
        return None, {"error": str(error)}
    held.enter_context(garbage_frozen())
    return Asker(asked, graph), said


def write_question(question: Question) -> bytes:
    """Write a question as one line."""
    return json.dumps(asdict(question)).encode() + b"\n"


def read_question(line: bytes) -> Question:
    """Read what `write_question` has written."""
    return _QUESTION.validate_python(json.loads(line))


def find_mismatch(name: str, worker: Sources, head: Sources) -> str | None:
    """Say in one line why a worker cannot ask for the head of the run; None where it can."""
    if "error" in worker:
        return f"{name}: {worker['error']}"
    if how := listing_difference(worker, head):
        return f"{name}: the graph is slow to answer: {how}; ask again when the endpoint is quiet"
    for key in head:
        if worker.get(key) != head[key]:
            return f"{name} has another {key} than this process ({worker.get(key)}, not {head[key]})"
    return None


class WorkerLost(Exception):
    """A worker is gone, and what it was asked is not answered; the message says how."""


class Worker(Protocol):
    """Something that asks questions in a process of its own; it raises `WorkerLost` if it is gone."""

    @property
    def name(self) -> str:
        """Who it is, in messages."""

    async def open(self) -> Sources:
        """Open what the run names, and return what it answers from, or why it cannot."""

    async def ask(self, question: Question) -> AskedRecord:
        """Ask one question; see `Asker.ask`."""

    async def end(self) -> None:
        """End it; what it is still asking is lost."""


StartWorker = Callable[[int], Awaitable[Worker]]
"""Starts a worker at one of the places of a run; takes as long as there is no room. Raises `WorkerLost`."""


class WorkerPool:
    """Gives each question to the worker that has the fewest."""

    def __init__(
        self, start: StartWorker, size: int, concurrency: int, config: Mapping[str, Any], head: Sources
    ) -> None:
        self._start, self._places, self._config, self._head = start, size, config, head
        self._most = ceil(concurrency / size)  # what was lost is no reason to overload the others
        self._busy: dict[Worker, int] = {}
        self._there = 0
        self._kept: Worker | None = None
        self._alone = asyncio.Lock()
        self._given_up = 0
        self._changed = asyncio.Event()

    async def ask(self, question: Question) -> AskedRecord:
        """Ask one question; see `Asker.ask`."""
        for attempt in range(1, MAX_LOSSES + 1):
            alone = attempt == MAX_LOSSES
            async with self._alone if alone else nullcontext():
                worker = await self._until(self._idle if alone else self._fewest)
                self._busy[worker] += 1
                try:
                    asked = await worker.ask(question)
                    self._given_up = 0
                    return asked
                except WorkerLost as lost:
                    why = str(lost)
                    if self._busy.pop(worker, None):
                        _log.warning("%s is lost (%s); others are asked", worker.name, why)
                finally:
                    if alone:
                        self._kept = None
                    if worker in self._busy:
                        self._busy[worker] -= 1
                    self._tell()
        self._given_up += 1
        if self._given_up == MAX_LOSSES:
            raise RunError(f"workers are lost whatever they are asked ({why}); {RESUME_HINT}")
        lost_all = WorkerLost(f"{MAX_LOSSES} workers were lost that asked it: {why}")
        return failed_record(question, self._config, lost_all)

    def _fewest(self) -> Worker | None:
        """Return the worker that has the fewest questions, where one has room for another."""
        free = [worker for worker, n in self._busy.items() if n < self._most and worker is not self._kept]
        return min(free, key=self._busy.__getitem__, default=None)

    def _idle(self) -> Worker | None:
        """Keep a worker from being asked more, and give it as soon as it is asked nothing."""
        if self._kept not in self._busy:
            self._kept = min(self._busy, key=self._busy.__getitem__, default=None)
        return self._kept if self._kept and not self._busy[self._kept] else None

    async def _until(self, so: Callable[[], T | None]) -> T:
        """Wait until there is something, and return it."""
        while not (found := so()):
            await self._changed.wait()
        return found

    def _tell(self) -> None:
        """Let all who wait look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def fill(self, place: int) -> None:
        """Keep a place filled, as long as workers come to work there at all."""
        why, failures, new, again = "", 0, True, False
        while failures < MAX_LOSSES:
            failures += 1
            try:
                async with self._started(place) as worker:
                    said = await worker.open()
                    wrong = find_mismatch(worker.name, said, self._head)
                    if wrong and new and (again or not listing_difference(said, self._head)):
                        raise RunError(wrong)
                    again = bool(wrong)
                    if wrong:
                        _log.warning("%s", wrong)
                        raise WorkerLost(wrong)
                    failures, new = 0, False
                    self._busy[worker] = 0
                    self._tell()
                    await self._until(lambda: worker not in self._busy)
            except WorkerLost as lost:
                why = str(lost)
                await asyncio.sleep(RESTART_PAUSE_SECONDS)
        self._places -= 1
        if not self._places:
            raise RunError(f"no worker can be started ({why}); {RESUME_HINT}")

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

    async def watch(self) -> None:
        """End a run that has no worker for too long."""
        while True:
            await self._until(lambda: not self._there)
            try:
                async with asyncio.timeout(MAX_WAIT_SECONDS):
                    await self._until(lambda: self._there)
            except TimeoutError:
                raise RunError(f"no worker for {MAX_WAIT_SECONDS:g} s; {RESUME_HINT}") from None


@asynccontextmanager
async def open_pool(
    start: StartWorker, size: int, concurrency: int, config: Mapping[str, Any], head: Sources
) -> AsyncIterator[WorkerPool]:
    """Start so many workers and end them afterwards; a RunError breaks in where none is left."""
    opened = WorkerPool(start, size, concurrency, config, head)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(opened.fill(place)) for place in range(size)]
            tasks.append(group.create_task(opened.watch()))
            yield opened
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
