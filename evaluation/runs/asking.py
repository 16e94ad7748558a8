"""Asks one question of a dataset and gives its record, whatever happens."""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from kgqa.api import question_input
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.records import Lines, crashed, lines, topics
from kgqa.evaluation.simulation import SimulatedModel
from kgqa.graphs import graph_of
from kgqa.models.port import Answered, Turn
from kgqa.prompts.base import Prompt, R
from kgqa.session.context import Context


class PerQuestion:
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

    async def ask(self, prompt: Prompt[R]) -> Answered[R]:
        """Answer one prompt; see `Model`."""
        return await self._current.get().ask(prompt)

    async def turn(
        self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = (), **options: Any
    ) -> Turn:
        """Give the next message of a conversation; see `Conversing`."""
        return await self._current.get().turn(messages, tools, **options)


class Asked(NamedTuple):
    """The record of a question and what is to be written of it."""

    record: Mapping[str, Any]
    lines: Lines


@dataclass(frozen=True)
class Asker:
    """Asks questions in one context; ``prepare`` is told of each before it is asked."""

    context: Context
    prepare: Callable[[Question], None]

    async def ask(self, question: Question) -> Asked:
        """Ask one question; an exception that no method expects gives a record of its own."""
        try:
            self.prepare(question)
            given = question_input(question.text, topics(question), question.id)
            record = await graph_of(self.context.method).ainvoke(given, context=self.context)
            return Asked(record, lines(record))
        except Exception as error:  # a run goes on, whatever one question does
            return failure(question, self.context.config(), error)


def failure(question: Question, config: Mapping[str, Any], error: Exception) -> Asked:
    """Give the record of a question that failed by an exception; see `crashed`."""
    record = crashed(question, config, error)
    return Asked(record, lines(record))
