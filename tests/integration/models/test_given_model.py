"""A chat model of LangChain over HTTP: asked as it was made, from any loop; an agent that asks kgqa."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI

import kgqa
from kgqa.graphs import graph_of
from kgqa.tests.support.agents import called
from kgqa.tests.support.doubles import FAMILY, shown
from kgqa.tests.support.model_stub import Stub, failed, said

RIVER = '{"answers": ["Danube"]}'


@pytest.fixture
def model(stub: Stub) -> ChatOpenAI:
    return ChatOpenAI(model="stub", base_url=stub.url, api_key="none", temperature=0.7, max_retries=0)


def invoke(question: str, method: str, **context: Any) -> Any:
    return asyncio.run(graph_of(method).ainvoke({"question": question}, context=context))  # type: ignore[arg-type]


def test_it_is_asked_as_it_was_made_from_one_loop_after_another(stub: Stub, model: Any) -> None:
    stub.say(said(RIVER))
    for ask in (kgqa.ask, lambda *a, **b: asyncio.run(kgqa.aask(*a, **b)), invoke, kgqa.ask):
        record = ask("Which river?", method="io", model=model)
        assert (shown(record), record["config"]["model"]) == (["Danube"], "openai:stub")
        assert record["usage"]["input_tokens"] == 10
    kgqa.ask(
        "Which river?", method="io", model=model, temperature=0.1, max_tokens=9, model_arguments={"seed": 3}
    )
    *own, given = [(each["temperature"], each.get("seed")) for each in stub.requests]
    assert (set(own), given) == ({(0.7, None)}, (0.1, 3))
    assert 9 in stub.requests[-1].values()


def test_many_questions_of_which_some_fail_have_a_record_each(stub: Stub, model: Any) -> None:
    def reply(request: dict[str, Any]) -> Any:
        return failed(400) if "odd" in str(request["messages"]) else said(RIVER)

    stub.replies = reply
    records = kgqa.batch([f"Which {'odd ' * (n == 2)}river {n}?" for n in range(5)], method="io", model=model)
    assert [record["outcome"] for record in records] == [
        "parametric",
        "parametric",
        "model_unavailable",
        "parametric",
        "parametric",
    ]


@pytest.mark.parametrize("waits", [True, False])
def test_an_agent_asks_with_the_tool(
    stub: Stub, model: Any, turtle: Callable[[str], Path], waits: bool
) -> None:
    stub.say(called(("ask", {"question": "Where does Ada live?"})), said("In Ulm."))
    agent = create_agent(model, tools=[kgqa.as_tool(kg=str(turtle(FAMILY)), model="offline")])
    given: Any = {"messages": [("user", "Where does Ada live?")]}
    messages = (agent.invoke(given) if waits else asyncio.run(agent.ainvoke(given)))["messages"]
    assert messages[-1].text == "In Ulm."
    (told,) = [message for message in messages if isinstance(message, ToolMessage)]
    assert told.text.splitlines()[:3] == ["Read as: what Ada lives in", "Ulm", "  Ada -lives_in-> Ulm"]
    assert shown(told.artifact) == ["Ulm"]
