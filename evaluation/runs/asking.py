"""Asks the questions of a run: a method with its options, on a graph, with a model."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from kgqa.addresses import redact_url
from kgqa.api import KG, make_context, make_input
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.jsonl import RunError
from kgqa.evaluation.runs.records import RecordLines, crash_record, record_lines, topic_refs
from kgqa.evaluation.simulation import SIMULATED, ErrorRates, SimulatedModel, parse_error_rates
from kgqa.graphs import graph_of
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.interface import Completion, Model, Turn
from kgqa.models.registry import default_spec
from kgqa.prompts.base import Prompt, R
from kgqa.runtime.context import Context
from kgqa.runtime.resources import open_graph, open_resources


class PerQuestionModel:
    """A model of one name that is another for each question, as one that answers from gold must be.

    It is handed over once for all questions; the task of a question and the tasks
    that this one starts ask the model that was set in it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._current: ContextVar[SimulatedModel] = ContextVar(name)

    def set(self, model: SimulatedModel) -> None:
        """Let ``model`` answer the prompts of this task from now on."""
        self._current.set(model)

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer one prompt; see `Model`."""
        return await self._current.get().ask(prompt)

    async def turn(
        self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = (), **options: Any
    ) -> Turn:
        """Return the next message of a conversation; see `Conversing`."""
        return await self._current.get().turn(messages, tools, **options)


class AskedRecord(NamedTuple):
    """The record of a question and what is to be written of it."""

    record: Mapping[str, Any]
    lines: RecordLines


@dataclass(frozen=True)
class Asker:
    """Asks questions in one context; ``prepare`` is told of each before it is asked."""

    context: Context
    prepare: Callable[[Question], None]

    async def ask(self, question: Question) -> AskedRecord:
        """Ask one question; an exception that no method expects gives a record of its own."""
        try:
            self.prepare(question)
            given = make_input(question.text, topic_refs(question), question.id)
            record = await graph_of(self.context.method).ainvoke(given, context=self.context)
            return AskedRecord(record, record_lines(record))
        except Exception as error:  # a run goes on, whatever one question does
            return failed_record(question, self.context.config(), error)


def failed_record(question: Question, config: Mapping[str, Any], error: Exception) -> AskedRecord:
    """Return the record of a question that failed by an exception; see `crashed`."""
    record = crash_record(question, config, error)
    return AskedRecord(record, record_lines(record))


async def ask_all(
    questions: Sequence[Question],
    ask: Callable[[Question], Awaitable[None]],
    *,
    concurrency: int,
    stop: asyncio.Event,
) -> None:
    """Ask the questions in their order, ``concurrency`` of them at a time.

    Once ``stop`` is set no question is begun any more; those that are running end
    as they would have.

    Raises:
        Exception: the first that ``ask`` raises; whatever is running then is cancelled.
    """
    waiting = iter(questions)

    async def worker() -> None:
        for question in waiting:
            if stop.is_set() or _is_cancelled():
                return
            await ask(question)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(questions))):
                group.create_task(worker())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


def _is_cancelled() -> bool:
    """Tell a task that was cancelled while it awaited something that does not pass that on.

    One of these is `asyncio.wait_for` of Python 3.11, where its future is done already.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@dataclass(frozen=True)
class Subject:
    """A context, and the errors of the simulated model where there is one."""

    context: Context
    simulated: tuple[ErrorRates, PerQuestionModel] | None = None
    named: bool = True
    """Whether another process can open graph and model by their names."""

    async def open(self) -> KnowledgeGraph:
        """Open the graph and the model, once, before any question is asked.

        Raises:
            KGError: if the graph cannot be opened.
            UnknownModel: if the model cannot.
        """
        graph = await asyncio.to_thread(open_graph, self.context)
        await open_resources(self.context)
        return graph

    async def server(self) -> str | None:
        """Return the address that model calls go to; None where there is none, or its package keeps it."""
        url = getattr((await open_resources(self.context)).model, "url", None)
        return redact_url(url) if url else None

    async def learned(self) -> dict[str, str | None]:
        """Tell what was learned from training questions from anything else; None without it."""
        opened = await open_resources(self.context)
        library, exemplars = opened.library, opened.index or opened.exemplars
        return {
            "blueprints": f"{library.fingerprint[:16]}, tau {library.tau:g}" if library else None,
            "exemplars": exemplars.fingerprint[:16] if exemplars else None,
        }

    def asker(self, graph: KnowledgeGraph) -> Asker:
        """Return who asks the questions."""

        def prepare(question: Question) -> None:
            if self.simulated:
                errors, model = self.simulated
                model.set(SimulatedModel(question, graph, errors))

        return Asker(self.context, prepare)


def make_subject(
    method: str,
    kg: KG | None,
    model: str | Model | None,
    options: Mapping[str, Any],
    seed: int,
) -> Subject:
    """Make the subject of a run: a method, its graph and its model.

    Raises:
        RunError: in one line, for an unknown method, an option or a simulation that is not taken.
    """
    given = dict(options)
    if kg is not None:
        given["kg"] = kg
    spec = default_spec() if model is None else model
    simulated = None
    try:
        if isinstance(spec, str) and spec.strip().partition(":")[0] == SIMULATED:
            simulated = _make_simulated(spec, seed)
            spec = simulated[1]
        given["model"] = spec
        context = make_context(method, given)
        named = context.given.graph is None and (bool(simulated) or context.given.model is None)
        return Subject(context, simulated, named)
    except ValueError as error:
        raise RunError(str(error)) from None


def _make_simulated(spec: str, seed: int) -> tuple[ErrorRates, PerQuestionModel]:
    errors = parse_error_rates(spec, seed)
    return errors, PerQuestionModel(str(errors))
