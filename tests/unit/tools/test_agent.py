"""What a tool-calling agent is shown, and that a plain LangChain agent can use it."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Entity
from kgqa.tests.unit.tools.conftest import Tools

ARGUMENTS = {
    "find_entities": ["name", "limit"],
    "link_entities": ["question"],
    "describe_entity": ["entity", "limit"],
    "list_relations": ["entities"],
    "follow_relation": ["entities", "relation"],
    "follow_relations": ["steps"],
    "extend_chain": ["topic", "hops", "held"],
    "follow_chain": ["topic", "hops", "held"],
    "visit_chains": ["chains", "ends", "hops"],
    "cross_mediators": ["chains", "pair_inverses"],
    "trace_chain": ["topic", "hops", "ends", "held"],
    "check_ends": ["topic", "hops", "ends", "held"],
    "chain_attributes": ["chains", "near"],
    "filter_chain": ["topic", "hops", "conditions", "extreme", "meeting", "held"],
    "list_schema": [],
    "run_select": ["query"],
}


def test_the_tools_and_their_arguments(tools: Tools) -> None:
    assert {name: list(tool.args) for name, tool in tools.items()} == ARGUMENTS


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_tool_says_what_it_does_and_what_each_argument_is(tools: Tools, name: str) -> None:
    shown = convert_to_openai_tool(tools[name])["function"]
    assert shown["name"] == name
    assert shown["description"].endswith(".")
    assert "Args:" not in shown["description"]
    assert all(argument["description"] for argument in shown["parameters"]["properties"].values())


def may_be_left_out(name: str, argument: str) -> bool:
    return argument in ("limit", "held", "pair_inverses", "relations", "near", "extreme", "meeting") or (
        name == "visit_chains" and argument in ("ends", "hops")
    )


@pytest.mark.parametrize("name", ARGUMENTS)
def test_only_what_restricts_an_answer_may_be_left_out(tools: Tools, name: str) -> None:
    required = convert_to_openai_tool(tools[name])["function"]["parameters"].get("required", [])
    assert required == [argument for argument in ARGUMENTS[name] if not may_be_left_out(name, argument)]


class CallingModel(BaseChatModel):
    """Calls one tool, then answers with what the tool has said."""

    call: dict[str, Any]
    offered: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "calling"

    def bind_tools(self, tools: Any, **_: Any) -> "CallingModel":
        self.offered[:] = [tool.name for tool in tools if isinstance(tool, BaseTool)]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        reply = AIMessage("", tool_calls=[{**self.call, "id": "1", "type": "tool_call"}])
        if isinstance(last, ToolMessage):
            reply = AIMessage(f"I was told: {last.text}")
        return ChatResult(generations=[ChatGeneration(message=reply)])


async def transcript(tools: Tools, name: str, **arguments: Any) -> list[BaseMessage]:
    agent = create_agent(CallingModel(call={"name": name, "args": arguments}), list(tools.values()))
    done = await agent.ainvoke({"messages": [("user", "Where do Ada's children live?")]})
    messages: list[BaseMessage] = done["messages"]
    return messages


async def test_an_agent_follows_a_chain_and_answers(tools: Tools) -> None:
    _, _, told, answer = await transcript(
        tools, "follow_chain", topic="Ada Lovelace", hops=["child", "lives_in"]
    )
    assert answer.text == "I was told: 1 node at the end:\n- Ulm <http://t/e/ulm>"
    assert isinstance(told, ToolMessage)
    assert list(told.artifact) == [Candidate(Entity("http://t/e/ulm"))]


async def test_an_agent_is_offered_every_tool(tools: Tools) -> None:
    model = CallingModel(call={"name": "find_entities", "args": {"name": "Ulm"}})
    await create_agent(model, list(tools.values())).ainvoke({"messages": [("user", "Ulm?")]})
    assert model.offered == list(ARGUMENTS)


async def test_wrong_arguments_are_told_to_the_agent(tools: Tools) -> None:
    *_, told, _ = await transcript(tools, "follow_chain", topic="Ada Lovelace", hops="child")
    assert isinstance(told, ToolMessage)
    assert told.status == "error"
    assert "hops: Input should be a valid list" in told.text
