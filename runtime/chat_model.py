"""The chat model of a run, for agents and chains that bring their own prompts.

Every call is checked against the budget and counted, as those of `NodeRuntime.prompt` are.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
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
    """The model of a run as LangChain knows chat models; in a thread, it speaks by way of the run's loop."""

    run: Any
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
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn: Turn = await self.run.call_model(lambda model: model.turn(messages, self.tools, **self.options))
        message = bound_message(turn.message, taken={each.id for each in messages})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return asyncio.run_coroutine_threadsafe(self._agenerate(messages), self.loop).result()


async def budgeted_chat_model(run: NodeRuntime) -> BudgetedChatModel:
    """Return the chat model of a run.

    Raises:
        UnknownModel: if the model of the run answers prompts only, as the offline model does.
    """
    model = (await run.open_resources()).model
    if not isinstance(model, ConversationModel):
        asks = {"agent": "the agent"}.get(run.context.method, run.context.method)
        raise UnknownModel(f"{asks} needs a chat model, and {model.name} is none; name one: provider:name")
    return BudgetedChatModel(run=run, loop=asyncio.get_running_loop(), cache=False)
