"""The simulated model of one question, and which handler answers which prompt."""

import asyncio
import math
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from kgqa.evaluation.question import Question
from kgqa.evaluation.simulation import (
    chain_replies,
    draft_replies,
    frontier_replies,
    plan_replies,
    query_replies,
    verdict_replies,
)
from kgqa.evaluation.simulation.chat import count_chars, next_message
from kgqa.evaluation.simulation.error_rates import Draws, ErrorRates
from kgqa.evaluation.simulation.oracle import Case, Oracle
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.errors import MalformedReply, UnknownModel
from kgqa.models.interface import Completion, Turn, Usage
from kgqa.models.parsing import check_reply
from kgqa.prompts.base import Prompt, R
from kgqa.prompts.target import find_reply, replies_in

HANDLERS = replies_in(
    chain_replies,
    query_replies,
    draft_replies,
    verdict_replies,
    frontier_replies,
    plan_replies,
)
CHARS_PER_TOKEN = 4  # characters that are taken for one token


class SimulatedModel:
    """Answers the prompts of one question from its gold; see `ErrorRates`.

    The same prompt has the same reply, whatever came before; another sample of it may be malformed
    where this one is not. A step costs one call, and as many tokens as the text of its prompt and
    reply has characters, divided by `CHARS_PER_TOKEN`: an estimate, good for comparing methods with each
    other. A malformed reply costs two calls: it was asked for again.
    What it looks up in the graph is not counted.
    """

    def __init__(self, question: Question, graph: KnowledgeGraph, errors: ErrorRates) -> None:
        self._id = question.id
        self._errors = errors
        self._oracle = Oracle(question, graph)

    @property
    def name(self) -> str:
        """The spec that says how often it errs."""
        return str(self._errors)

    @property
    def writes_sparql(self) -> bool:
        """Whether it drafts where a method lets it choose: a question for rows, which no chains say."""
        return self._oracle.question.asks_rows

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer one prompt; as often as ``format`` says, the reply is malformed."""
        text = prompt.case()
        sample = getattr(prompt, "sample", 0)
        step = f"{prompt.name}\n{text}" + (f"\n{sample}" if sample else "")
        case = Case(self._oracle, self._errors, Draws(self._errors.seed, self._id, step))
        if (reply_to := find_reply(prompt, HANDLERS)) is None:
            raise UnknownModel(f"no simulated model answers {prompt.name} prompts; give them an answer")
        reply = check_reply(await reply_to(prompt, case), prompt)
        if self._errors.latency:
            await asyncio.sleep(self._errors.latency)
        asked, said = len(prompt.instructions) + len(text), len(reply.model_dump_json())
        if case.happens("format"):
            reason = f"{prompt.name}: the reply is malformed, as simulated"
            raise MalformedReply(reason, self._cost(asked, said, 2))
        return Completion(reply, self._cost(asked, said))

    async def turn(
        self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = (), **options: Any
    ) -> Turn:
        """Return the next message of a conversation; see `chat`."""
        message = await next_message(messages, tools, self._oracle, self._errors, self._id)
        if self._errors.latency:
            await asyncio.sleep(self._errors.latency)
        return Turn(message, self._cost(count_chars(messages, tools), count_chars([message])))

    def _cost(self, asked_chars: int, said_chars: int, turns: int = 1) -> Usage:
        """Return the cost of so many turns; from the second on, what was said is shown again."""
        asked, said = (math.ceil(chars / CHARS_PER_TOKEN) for chars in (asked_chars, said_chars))
        return Usage(
            llm_calls=turns,
            input_tokens=asked * turns + said * turns * (turns - 1) // 2,
            output_tokens=said * turns,
            seconds=self._errors.latency * turns,
        )
