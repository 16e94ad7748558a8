"""The simulated model of one question."""

import asyncio
import math
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from kgqa.evaluation.question import Question
from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.chat import turn
from kgqa.evaluation.simulation.draws import Draws
from kgqa.evaluation.simulation.errors import Errors
from kgqa.evaluation.simulation.handlers import HANDLERS
from kgqa.evaluation.simulation.oracle import Oracle
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.errors import MalformedReply, UnknownModel
from kgqa.models.parsing import checked
from kgqa.models.port import Answered, Turn
from kgqa.models.usage import Usage
from kgqa.prompts.base import Prompt, R

TOKEN = 4
"""Characters that are taken for one token."""


class SimulatedModel:
    """Answers the prompts of one question from its gold; see `Errors`.

    The same prompt has the same reply, whatever came before; another sample of it may be malformed
    where this one is not. A step costs one call, and as many tokens as the text of its prompt and
    reply has characters, divided by `TOKEN`: an estimate, good for comparing methods with each
    other. A malformed reply costs two calls: it was asked for again.

    Args:
        question: What is asked, and its gold.
        graph: Where it is asked; the model looks up there what else is right, uncounted.
        errors: How often it errs.
    """

    def __init__(self, question: Question, graph: KnowledgeGraph, errors: Errors) -> None:
        self._id = question.id
        self._errors = errors
        self._oracle = Oracle(question, graph)

    @property
    def name(self) -> str:
        """The spec that says how often it errs."""
        return str(self._errors)

    async def ask(self, prompt: Prompt[R]) -> Answered[R]:
        """Answer one prompt.

        Raises:
            UnknownModel: nobody has said how a simulated model answers this kind of prompt.
            MalformedReply: as often as ``format`` says.
            KGError: the graph cannot be reached.
        """
        handler = HANDLERS.get(type(prompt))
        if handler is None:
            known = ", ".join(sorted(kind.name for kind in HANDLERS))
            raise UnknownModel(f"no simulated model answers {prompt.name} prompts; it answers {known}")
        text = prompt.case()
        sample = getattr(prompt, "sample", 0)
        step = f"{prompt.name}\n{text}" + (f"\n{sample}" if sample else "")
        case = Case(self._oracle, self._errors, Draws(self._errors.seed, self._id, step))
        reply = checked(await handler(prompt, case), prompt)
        if self._errors.latency:
            await asyncio.sleep(self._errors.latency)
        asked = math.ceil((len(prompt.instructions) + len(text)) / TOKEN)
        said = math.ceil(len(reply.model_dump_json()) / TOKEN)
        if case.happens("format"):
            raise MalformedReply(
                f"{prompt.name}: the reply is malformed, as simulated", self._cost(asked, said, 2)
            )
        return Answered(reply, self._cost(asked, said))

    async def turn(
        self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = (), **options: Any
    ) -> Turn:
        """Give the next message of a conversation; see `chat`."""
        return await turn(messages, tools, self._oracle, self._errors, TOKEN, self._id)

    def _cost(self, asked: int, said: int, turns: int = 1) -> Usage:
        """Give the cost of so many turns; from the second on, what was said is shown again."""
        again = said * turns * (turns - 1) // 2
        return Usage(
            llm_calls=turns,
            input_tokens=asked * turns + again,
            output_tokens=said * turns,
            seconds=self._errors.latency * turns,
        )
