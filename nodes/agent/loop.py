"""The loop of a tool-calling agent: LangChain's, with our budget and trace around each turn.

To be imported in a thread: LangChain's agents take long to load.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from kgqa.nodes.agent.answer import FollowedChain, chains_of_call, extend_from_topic, merge_chains
from kgqa.prompts.act import REMINDER, Answer, EntityRef
from kgqa.runtime.node import NodeRuntime

TOOL_NAMES = (
    "find_entities",
    "describe_entity",
    "list_relations",
    "follow_relation",
    "extend_chain",
    "follow_chain",
    "filter_chain",
)
"""What an agent is given: all that reads the graph in its own terms, and no SPARQL."""

MAX_TRACED_CHARS = 200  # characters of an argument or a text that the trace shows


class AgentLoop(AgentMiddleware[Any, Any]):
    """Counts the turns of the model, holds the budget, and notes what the tools have shown.

    Calls of one turn run one after the other, so that a limit is checked before each. On the last turn that
    depth or budget leaves, only the answer can be given. ``entries`` are for the trace: each turn of the
    model, each call of a tool. ``followed`` are the chains that the agent has followed, in order.
    """

    def __init__(self, runtime: NodeRuntime, topics: Sequence[Entity]) -> None:
        super().__init__()
        self.entries: list[dict[str, Any]] = []
        self.followed: list[FollowedChain] = []
        self._runtime, self._topics = runtime, topics
        self._turns = 0
        self._reminded = False
        self._one_call = asyncio.Lock()

    async def run(
        self, chat: BaseChatModel, tools: Mapping[str, BaseTool], opening: str, instructions: str
    ) -> list[EntityRef] | None:
        """Let the agent work until it answers; None where it does not."""
        agent: Any = create_agent(
            chat,
            [tools[name] for name in TOOL_NAMES],
            system_prompt=instructions,
            middleware=[self],
            response_format=ToolStrategy(Answer),
            checkpointer=False,
            name="agent_loop",
        )
        done = await agent.ainvoke({"messages": [HumanMessage(opening)]})
        answer: Answer | None = done.get("structured_response")
        return None if answer is None else answer.answers

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
        """Take a turn of the model, and tell what was said, which tools were called, what it cost."""
        spend, limit = self._runtime.spend, self._runtime.context.budget.llm_calls
        before = spend.copy()
        calls = self._runtime.spent_before["llm_calls"] + spend["llm_calls"]
        last = self._turns + 1 >= self._runtime.context.depth or (limit is not None and calls + 1 >= limit)
        response = await handler(request.override(tools=[]) if last else request)
        self._turns += 1
        said: Any = response.result[0]
        entry: dict[str, Any] = {"calls": [call["name"] for call in said.tool_calls]}
        if text := one_line(str(said.text), MAX_TRACED_CHARS):
            entry["said"] = text
        if spend["cached_calls"] > before["cached_calls"]:
            entry["cached"] = True
        else:
            read = spend["input_tokens"] - before["input_tokens"]
            entry["tokens"] = [read, spend["output_tokens"] - before["output_tokens"]]
        self.entries.append(entry)
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
        call, failure = request.tool_call, {}
        name, arguments = call["name"], call["args"]
        async with self._one_call:
            try:
                async with self._runtime.meter_queries():
                    message: ToolMessage = await handler(request)
            except (KGTimeout, KGRejected) as error:
                self._runtime.record_failure(error)
                failure = {"failure": type(error).__name__, "error": str(error)}
                message = ToolMessage(str(error), tool_call_id=call["id"] or "", name=name, status="error")
            except KGError as error:
                self.entries.append({"tool": name, "error": str(error)})
                raise
            if message.status != "error":
                fresh = chains_of_call(name, arguments, message.artifact)
                self.followed += merge_chains(
                    [extend_from_topic(chain, self.followed, self._topics) for chain in fresh]
                )
            heads = (line.rstrip(":") for line in message.text.splitlines() if not line.startswith("- "))
            came = one_line("; ".join(heads), MAX_TRACED_CHARS)
            shown = {key: one_line(str(value), MAX_TRACED_CHARS) for key, value in arguments.items()}
            outcome = "error" if message.status == "error" else "came"
            self.entries.append({"tool": name, "arguments": shown, outcome: came, **failure})
        return message
