"""The chat model of a run, for agents and chains that bring their own prompts.

Every call is checked against the budget and counted, as those of `NodeRuntime.prompt` are.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from pydantic import Field

from kgqa.models.errors import UnknownModel
from kgqa.models.interface import ConversationModel, Turn
from kgqa.models.messages import bound_message
from kgqa.runtime.node import NodeRuntime


class BudgetedChatModel(BaseChatModel):
    """The model of a run as a LangChain chat model; called in a thread, it works in the run's loop."""

    runtime: Any
    loop: Any
    tools: Sequence[Any] = ()
    options: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "kgqa"

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **options: Any
    ) -> "BudgetedChatModel":
        """Return the same model with tools that it may call."""
        return self.model_copy(update={"tools": tools, "options": options})

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        turn: Turn = await self.runtime.call_model(
            lambda model: model.turn(messages, self.tools, **self.options)
        )
        reply = json.dumps({"text": turn.message.text, "calls": turn.message.tool_calls})
        self.runtime.record_exchange("turn", messages[0].text, messages[-1].text, reply)
        message = bound_message(turn.message, taken={each.id for each in messages})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return asyncio.run_coroutine_threadsafe(self._agenerate(messages), self.loop).result()


async def budgeted_chat_model(runtime: NodeRuntime) -> BudgetedChatModel:
    """Return the chat model of a run; raise `UnknownModel` if its model answers prompts only."""
    model = (await runtime.open_resources()).model
    if not isinstance(model, ConversationModel):
        asks = {"agent": "the agent"}.get(runtime.context.method, runtime.context.method)
        raise UnknownModel(f"{asks} needs a chat model, and {model.name} is none; name one: provider:name")
    return BudgetedChatModel(runtime=runtime, loop=asyncio.get_running_loop(), cache=False)
