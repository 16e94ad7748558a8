"""The loop of a tool-calling agent: LangChain's, with our budget and trace around each turn.

To be imported in a thread: LangChain's agents take long to load.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, hook_config
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest

from kgqa.kg.errors import KGError, KGRejected, KGTimeout
from kgqa.kg.terms import Entity, one_line
from kgqa.nodes.agent.state import FollowedChain, chains_of_call, extend_from_topic, merge_chains
from kgqa.prompts.act import INSTRUCTIONS, REMINDER, Answer, EntityRef
from kgqa.runtime.node import NodeRuntime

MAX_TRACED_CHARS = 200
"""Characters of an argument or a text that the trace shows."""


@dataclass
class Seen:
    """What an agent has done so far."""

    turns: list[dict[str, Any]] = field(default_factory=list)
    """For the trace: each turn of the model, each call of a tool."""
    ways: list[FollowedChain] = field(default_factory=list)


class Loop(AgentMiddleware[Any, Any]):
    """Counts the turns of the model, holds the budget, and notes what the tools have shown.

    Calls of one turn run one after the other, so that a limit is checked before each. On the last
    turn that depth or budget leaves, only the answer can be given.
    """

    def __init__(self, runtime: NodeRuntime, topics: Sequence[Entity], seen: Seen) -> None:
        super().__init__()
        self._runtime, self._topics, self._seen = runtime, topics, seen
        self._turns = 0
        self._reminded = False
        self._one = asyncio.Lock()

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        """End where the depth is reached."""
        if self._turns < self._runtime.context.depth:
            return None
        self._runtime.trace["limit"] = "depth"
        return {"jump_to": "end"}

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Take a turn of the model."""
        spend = self._runtime.spend
        before = (spend["input_tokens"], spend["output_tokens"], spend["cached_calls"])
        response = await handler(request.override(tools=[]) if self._is_last() else request)
        self._turns += 1
        self._seen.turns.append(_turn_entry(response.result, before, spend))
        return response

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: AgentState[Any], runtime: Any) -> dict[str, Any] | None:
        """Remind a model, once, that text without a call says nothing."""
        said = next(m for m in reversed(state["messages"]) if isinstance(m, AIMessage))
        if said.tool_calls or self._reminded:
            return None
        self._reminded = True
        return {"messages": [HumanMessage(REMINDER)], "jump_to": "model"}

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage:
        """Call a tool; that a query took too long or is refused is told to the model."""
        call, note = request.tool_call, {}
        async with self._one:
            try:
                async with self._runtime.meter_queries():
                    message: ToolMessage = await handler(request)
            except (KGTimeout, KGRejected) as error:
                self._runtime.record_failure(error)
                note = {"failure": type(error).__name__, "error": str(error)}
                message = ToolMessage(
                    str(error), tool_call_id=call["id"] or "", name=call["name"], status="error"
                )
            except KGError as error:
                self._seen.turns.append({"tool": call["name"], "error": str(error)})
                raise
            self._note(call, message, note)
        return message

    def _is_last(self) -> bool:
        limit, runtime = self._runtime.context.budget.llm_calls, self._runtime
        spent = runtime.spent_before["llm_calls"] + runtime.spend["llm_calls"]
        return self._turns + 1 >= runtime.context.depth or (limit is not None and spent + 1 >= limit)

    def _note(self, call: Any, message: ToolMessage, note: dict[str, Any]) -> None:
        if message.status != "error":
            fresh = chains_of_call(call["name"], call["args"], message.artifact)
            self._seen.ways += merge_chains(
                [extend_from_topic(way, self._seen.ways, self._topics) for way in fresh]
            )
        heads = (line.rstrip(":") for line in message.text.splitlines() if not line.startswith("- "))
        came = one_line("; ".join(heads), MAX_TRACED_CHARS)
        told = {"error": came} if message.status == "error" else {"came": came}
        arguments = {key: one_line(str(value), MAX_TRACED_CHARS) for key, value in call["args"].items()}
        self._seen.turns.append({"tool": call["name"], "arguments": arguments, **told, **note})


async def acted(
    chat: BaseChatModel, tools: list[BaseTool], opening: str, loop: Loop
) -> list[EntityRef] | None:
    """Let an agent work until it answers; None where it does not.

    Raises:
        BudgetExceeded: where nothing is left for the next turn or call.
        KGError, ModelError: where graph or model fail for good.
    """
    agent: Any = create_agent(
        chat,
        tools,
        system_prompt=INSTRUCTIONS,
        middleware=[loop],
        response_format=ToolStrategy(Answer),
        checkpointer=False,
        name="agent_loop",
    )
    done = await agent.ainvoke({"messages": [HumanMessage(opening)]})
    answer: Answer | None = done.get("structured_response")
    return None if answer is None else answer.answers


def _turn_entry(messages: Sequence[Any], before: tuple[int, int, int], spend: Any) -> dict[str, Any]:
    """Tell of a turn: what was said beside calls, which tools were called, what it cost."""
    said = messages[0]
    text, called = one_line(str(said.text), MAX_TRACED_CHARS), [call["name"] for call in said.tool_calls]
    told = {"calls": called, **({"said": text} if text else {})}
    if spend["cached_calls"] > before[2]:
        return {**told, "cached": True}
    return {**told, "tokens": [spend["input_tokens"] - before[0], spend["output_tokens"] - before[1]]}
