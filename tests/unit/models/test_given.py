"""Chat models that the caller has opened: which loop or thread they are asked in."""

import asyncio
import threading
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

import kgqa


class AsyncModel(BaseChatModel):
    """Answers in a loop alone, and remembers in which."""

    asked: list[tuple[Any, int]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "async"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.asked.append((asyncio.get_running_loop(), threading.get_ident()))
        return said()


class BothModel(AsyncModel):
    """Answers in threads as well."""

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.asked.append((None, threading.get_ident()))
        return said()


def said() -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=AIMessage('{"answers": ["Ulm"]}'))])


async def test_it_is_asked_in_the_loop_of_whoever_waits() -> None:
    for model in (AsyncModel(), BothModel()):
        record = await kgqa.aask("Where does Ada live?", method="io", model=model)
        assert [answer["name"] for answer in record["answers"]] == ["Ulm"]
        assert model.asked == [(asyncio.get_running_loop(), threading.get_ident())]


def test_another_loop_asks_it_in_threads_where_it_can_be() -> None:
    both, only = BothModel(), AsyncModel()
    for model in (both, only):
        asyncio.run(kgqa.aask("Where does Ada live?", method="io", model=model))
        assert kgqa.ask("Where does Ben live?", method="io", model=model)["answers"]
        asyncio.run(kgqa.aask("Where does Cleo live?", method="io", model=model))
    assert [loop is None for loop, _ in both.asked] == [False, True, True]
    assert len(only.asked) == 3
