"""The chat model of a run, for agents and chains that bring their own prompts.

Every call is checked against the budget and counted, as `Run.ask` does it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from pydantic import Field

from kgqa.models.errors import ModelError, UnknownModel
from kgqa.models.port import Conversing
from kgqa.models.usage import Usage
from kgqa.session.resources import resources
from kgqa.session.step import BudgetExceeded, Run


class Speaker(BaseChatModel):
    """The model of a run as LangChain knows chat models; in a thread, it speaks by way of the run's loop."""

    run: Any
    model: Any
    loop: Any
    tools: Sequence[Any] = ()
    options: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "kgqa"

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **options: Any
    ) -> "Speaker":
        """Give the same model with tools that it may call."""
        return self.model_copy(update={"tools": tools, "options": options})

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = await _spoken(self.run, self.model, messages, self.tools, self.options)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return asyncio.run_coroutine_threadsafe(self._agenerate(messages), self.loop).result()


async def speaker(run: Run) -> Speaker:
    """Give the chat model of a run.

    Raises:
        UnknownModel: if the model of the run answers prompts only, as the offline model does.
    """
    model = (await resources(run.context)).model
    if not isinstance(model, Conversing):
        line = f"{model.name} cannot be spoken to by {run.context.method}; name a chat model: provider:name"
        raise UnknownModel(line)
    return Speaker(run=run, model=model, loop=asyncio.get_running_loop(), cache=False)


async def _spoken(
    run: Run, model: Conversing, messages: list[BaseMessage], tools: Sequence[Any], options: Mapping[str, Any]
) -> AIMessage:
    """Give the next message.

    Raises:
        BudgetExceeded: before the call, if nothing is left for it.
        ModelUnavailable: if the model cannot be reached.
    """
    run._check("llm_calls", "tokens")
    try:
        async with run._deadline():
            turn = await model.turn(messages, tools, **options)
    except ModelError as error:
        run._count(error.usage)
        raise
    except BudgetExceeded as error:
        run._count(getattr(error.__cause__, "usage", Usage()))
        raise
    run._count(turn.usage)
    return turn.message
