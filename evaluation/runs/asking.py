"""Asks the questions of a run: a method with its options, on a graph, with a model."""

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from kgqa.api import KG, make_context, make_input
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.question_graphs import QuestionGraphs
from kgqa.evaluation.runs.records import AskedRecord, RunError, asked_record, failed_record, topic_refs
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
        """Return the next message of a conversation; see `ConversationModel`."""
        return await self._current.get().turn(messages, tools, **options)


@dataclass(frozen=True)
class Subject:
    """A context, and the errors of the simulated model where there is one."""

    context: Context
    simulated: tuple[ErrorRates, PerQuestionModel] | None = None
    named: bool = True  # whether another process can open graph and model by their names
    graphs: QuestionGraphs | None = None  # where each question has a graph of its own
    options: Mapping[str, Any] = field(default_factory=dict)  # what the context was made of

    async def open(self) -> KnowledgeGraph:
        """Open the graph, or that of any question, and the model, before any question is asked."""
        graph = await (self.graphs.open_any() if self.graphs else asyncio.to_thread(open_graph, self.context))
        await open_resources(self.context_over(graph))
        return graph

    def context_over(self, graph: KnowledgeGraph) -> Context:
        """Return the context, over the graph of one question where each has its own."""
        if self.graphs is None:
            return self.context
        return make_context(self.context.method, {**self.options, "kg": graph})


def make_subject(
    method: str,
    kg: KG | None,
    model: str | Model | None,
    options: Mapping[str, Any],
    seed: int,
    graphs: Path | None = None,
) -> Subject:
    """Make the subject of a run: a method, its graph and its model; a RunError says what is not taken.

    ``graphs`` is the file of graphs, one for each question, that are asked in place of ``kg``.
    """
    given = dict(options)
    if kg is not None:
        given["kg"] = kg
    spec = default_spec() if model is None else model
    simulated = None
    try:
        if isinstance(spec, str) and spec.strip().partition(":")[0] == SIMULATED:
            errors = parse_error_rates(spec, seed)
            simulated = errors, PerQuestionModel(str(errors))
            spec = simulated[1]
        given["model"] = spec
        context = make_context(method, given)
        named = context.given.graph is None and (bool(simulated) or context.given.model is None)
        own = QuestionGraphs(graphs, context) if graphs else None
        return Subject(context, simulated, named, own, given)
    except ValueError as error:
        raise RunError(str(error)) from None


@dataclass(frozen=True)
class Asker:
    """Asks questions of a subject whose graph is open."""

    subject: Subject
    graph: KnowledgeGraph

    async def ask(self, question: Question) -> AskedRecord:
        """Ask one question; an exception that no method expects gives a record of its own."""
        graph, config = self.graph, self.subject.context.config()
        try:
            if self.subject.graphs:
                graph = await self.subject.graphs.open(question.id)
            if self.subject.simulated:
                errors, model = self.subject.simulated
                model.set(SimulatedModel(question, graph, errors))
            context = self.subject.context_over(graph)
            given = make_input(question.text, topic_refs(question), question.id)
            record = await graph_of(context.method).ainvoke(given, context=context)
            return asked_record({**record, "config": config} if self.subject.graphs else record)
        except Exception as error:  # a run goes on, whatever one question does
            return failed_record(question, config, error)
