"""Asks the questions of a run: a method with its options, on a graph or on one for each, with a model."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from kgqa.api import KG, AnyModel, make_context, make_input
from kgqa.evaluation.datasets.format import DatasetError
from kgqa.evaluation.datasets.subgraphs import any_id, read_graph
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.records import AskedRecord, RunError, asked_record, failed_record, topic_refs
from kgqa.evaluation.simulation import SIMULATED, ErrorRates, SimulatedModel, parse_error_rates
from kgqa.graphs import graph_of, own_method
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.interface import Completion, Turn
from kgqa.models.registry import default_spec
from kgqa.prompts.base import Prompt, R
from kgqa.runtime.context import Context
from kgqa.runtime.graph_builder import MethodGraph, run_apart
from kgqa.runtime.resources import open_graph, open_resources, open_triples

OWN = "own"  # what ``--kg`` calls the graph, or the graphs, that a dataset is published with


class QuestionGraphs:
    """Opens the graph of a question; it goes with the question, so that memory holds those at hand."""

    def __init__(self, path: Path, context: Context) -> None:
        self.path, self._context = path, context

    @property
    def fingerprint(self) -> str:
        """A short hash of all of them: what they were made from, and by which version."""
        return hashlib.sha256(self.path.parent.name.encode()).hexdigest()[:16]

    async def open(self, id: str) -> KnowledgeGraph:
        """Open the graph of a question; raise KGUnavailable if it has none."""
        return await asyncio.to_thread(self._open, id)

    async def open_any(self) -> KnowledgeGraph:
        """Open one of them, so that what is wrong with model or options is told before any question."""
        return await self.open(await asyncio.to_thread(any_id, self.path))

    def _open(self, id: str) -> KnowledgeGraph:
        try:
            return open_triples(self._context, read_graph(self.path, id), f"the graph of {id}")
        except DatasetError as error:
            raise KGUnavailable(str(error)) from None


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

    @property
    def writes_sparql(self) -> bool:
        """Whether the model of this task's question drafts; see `QueryWriter`."""
        return self._current.get().writes_sparql

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer one prompt; see `Model`."""
        return await self._current.get().ask(prompt)

    async def turn(
        self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = (), **options: Any
    ) -> Turn:
        """Return the next message of a conversation; see `ConversationModel`."""
        return await self._current.get().turn(messages, tools, **options)


@dataclass(frozen=True)
class Subject:
    """A method's graph and context, and the errors of the simulated model where there is one.

    ``method`` is what another process loads the method by, None where it cannot.
    """

    context: Context
    graph: MethodGraph
    method: str | None
    simulated: tuple[ErrorRates, PerQuestionModel] | None = None
    graphs: QuestionGraphs | None = None  # where each question has a graph of its own
    options: Mapping[str, Any] = field(default_factory=dict)  # then: what the context was made of,
    model: AnyModel | None = None  # and with whom

    @property
    def named(self) -> bool:
        """Whether another process can load the method and open graph and model by their names."""
        given = self.context.given
        return bool(self.method) and given.graph is None and (bool(self.simulated) or given.model is None)

    async def open(self) -> KnowledgeGraph:
        """Open the graph, or that of any question, and the model, before any question is asked."""
        graph = await (self.graphs.open_any() if self.graphs else asyncio.to_thread(open_graph, self.context))
        await open_resources(self.context_over(graph))
        return graph

    def context_over(self, graph: KnowledgeGraph) -> Context:
        """Return the context, over the graph of one question where each has its own."""
        if self.graphs is None:
            return self.context
        return make_context(self.graph, self.options, graph, self.model)


def subject_of(context: Context, simulated: tuple[ErrorRates, PerQuestionModel] | None = None) -> Subject:
    """Return the subject of a run that a context describes."""
    own = own_method(context.method)
    loaded_by = context.method if own is None else own.named
    return Subject(context, graph_of(context.method), loaded_by, simulated)


def make_subject(
    method: str | MethodGraph,
    kg: KG | None,
    model: AnyModel | None,
    options: Mapping[str, Any],
    seed: int,
    graphs: Path | None = None,
) -> Subject:
    """Make the subject of a run: a method, its graph and its model; a RunError says what is not taken.

    ``graphs`` is the file of graphs, one for each question, that are asked in place of ``kg``. Blocks as
    `make_context` does.
    """
    spec = default_spec() if model is None else model
    simulated = None
    try:
        if isinstance(spec, str) and spec.strip().partition(":")[0] == SIMULATED:
            errors = parse_error_rates(spec, seed)
            simulated = errors, PerQuestionModel(str(errors))
            spec = simulated[1]
        subject = subject_of(make_context(method, options, kg, spec), simulated)
        if graphs is None:
            return subject
        asked = {key: value for key, value in options.items() if key != "kg"}
        own = QuestionGraphs(graphs, subject.context)
        return replace(subject, graphs=own, options=asked, model=spec)
    except ValueError as error:
        raise RunError(str(error)) from None


@dataclass(frozen=True)
class Asker:
    """Asks questions of a subject whose graph is open."""

    subject: Subject
    graph: KnowledgeGraph | None = None  # a simulated model needs it

    async def ask(self, question: Question) -> AskedRecord:
        """Ask one question; an exception that no method expects gives a record of its own."""
        graph, context = self.graph, self.subject.context
        config = context.config()
        try:
            if self.subject.graphs:
                graph = await self.subject.graphs.open(question.id)
                context = self.subject.context_over(graph)
            if self.subject.simulated and graph:
                errors, model = self.subject.simulated
                model.set(SimulatedModel(question, graph, errors))
            given = make_input(question.text, topic_refs(question), question.id)
            record = await run_apart(self.subject.graph, given, context)
            return asked_record({**record, "config": config} if self.subject.graphs else record)
        except Exception as error:  # a run goes on, whatever one question does
            return failed_record(question, config, error)
