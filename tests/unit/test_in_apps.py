"""Apps of LangGraph that ask kgqa: what they keep, what they stop for, and who listens to them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import ToolMessage

import kgqa
from kgqa.graphs import chat
from kgqa.tests.support import apps
from kgqa.tests.support.doubles import FAMILY

SAVERS = [
    pytest.param(apps.memory, True, id="memory-waiting"),
    pytest.param(apps.memory, False, id="memory"),
    pytest.param(apps.sqlite, True, id="sqlite-waiting"),
    pytest.param(apps.asynchronous_sqlite, False, id="sqlite"),
]


@pytest.fixture
def options(turtle: Callable[[str], Path]) -> dict[str, Any]:
    return {"kg": str(turtle(FAMILY)), "model": "offline"}


@pytest.fixture
def kept(tmp_path: Path) -> str:
    return str(tmp_path / "kept.sqlite")


ASKED = [
    pytest.param(asking, *saver.values, id=f"{asking.__name__}-{saver.id}")
    for saver in SAVERS
    # an app that waits has no asynchronous nodes
    for asking in (apps.WAITING if saver.values[1] else [*apps.WAITING, *apps.ASYNCHRONOUS])
]


@pytest.mark.parametrize(("asking", "opened", "waits"), ASKED)
async def test_an_edited_question_is_asked_and_no_run_of_ours_is_kept(
    asking: Any, opened: apps.Open, waits: bool, options: dict[str, Any], kept: str
) -> None:
    async with opened(kept) as saver:
        assert await apps.answers_after_edit(apps.app(asking, options, saver), waits=waits) == ["Bonn"]
        assert await apps.places(saver, waits=waits) == {""}


@pytest.mark.parametrize(("opened", "waits"), SAVERS)
async def test_a_node_is_a_subgraph_whose_record_is_kept(
    opened: apps.Open, waits: bool, options: dict[str, Any], kept: str
) -> None:
    async with opened(kept) as saver:
        graph = apps.app_of_node(options, saver)
        assert await apps.answers_after_edit(graph, waits=waits) == ["Ulm"]
        assert await apps.places(saver, waits=waits) == {"", "look up"}
        again = await apps.run(graph, {"question": apps.SECOND}, waits=waits)
        assert again["record"]["answers"][0]["name"] == "Bonn"


@pytest.mark.parametrize(("opened", "waits"), SAVERS)
async def test_an_agent_with_memory_asks_with_the_tool(
    opened: apps.Open, waits: bool, options: dict[str, Any], kept: str
) -> None:
    async with opened(kept) as saver:
        agent: Any = create_agent(apps.agent_chat(), tools=[kgqa.as_tool(**options)], checkpointer=saver)
        ended = await apps.run(agent, {"messages": [("user", apps.FIRST)]}, waits=waits)
        (told,) = [each for each in ended["messages"] if isinstance(each, ToolMessage)]
        assert told.text.splitlines()[1] == "Ulm"
        assert await apps.places(saver, waits=waits) == {""}


@pytest.mark.parametrize(("opened", "waits"), SAVERS)
async def test_a_conversation_is_kept_message_by_message(
    opened: apps.Open, waits: bool, options: dict[str, Any], kept: str
) -> None:
    async with opened(kept) as saver:
        conversation = chat.graph.builder.compile(checkpointer=saver)
        for said, told in ((apps.FIRST, "Ada lives in Ulm."), ("And Ben?", "Ben lives in Bonn.")):
            ended = await apps.run(conversation, {"messages": [("user", said)]}, waits=waits, **options)
            assert ended["messages"][-1].text.splitlines()[0] == told
        assert await apps.places(saver, waits=waits) == {""}


class Listener(BaseCallbackHandler):
    """Who listens to an app: the runs it hears of, each under that which it is part of."""

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self.parents: dict[Any, Any] = {}

    def on_chain_start(self, *_: Any, run_id: Any, parent_run_id: Any = None, **more: Any) -> None:
        self.names[run_id], self.parents[run_id] = str(more["name"]), parent_run_id

    def on_chat_model_start(self, *_: Any, run_id: Any, parent_run_id: Any = None, **__: Any) -> None:
        self.names[run_id], self.parents[run_id] = "model", parent_run_id

    def path(self, name: str) -> list[str]:
        """The runs that a run is part of, the outermost first."""
        run = next(run for run, called in self.names.items() if called == name)
        found = [name]
        while run := self.parents[run]:
            found.append(self.names[run])
        return found[::-1]


@pytest.mark.parametrize("asking", [apps.ask, apps.aask, apps.stream, apps.astream])
async def test_who_listens_to_an_app_hears_what_it_asks(asking: Any) -> None:
    model = FakeListChatModel(responses=['{"answers": ["Danube"]}'])
    listener = Listener()
    async with apps.memory("") as saver:
        graph = apps.app(asking, {"method": "io", "model": model}, saver)
        await graph.ainvoke({"question": apps.FIRST}, {**apps.THREAD, "callbacks": [listener]})
    inside = listener.path("model")
    assert inside[:3] == ["LangGraph", "look up", "io"]


@pytest.mark.parametrize("asking", [apps.ask, apps.aask])
@pytest.mark.parametrize("subgraphs", [False, True])
async def test_what_a_model_says_to_us_is_no_message_of_the_app(asking: Any, subgraphs: bool) -> None:
    model = FakeListChatModel(responses=['{"answers": ["Danube"]}'])
    async with apps.memory("") as saver:
        graph = apps.app(asking, {"method": "io", "model": model}, saver)
        modes: Any = {"stream_mode": ["messages", "updates"], "subgraphs": subgraphs}
        parts = [part async for part in graph.astream({"question": apps.FIRST}, apps.THREAD, **modes)]
    assert [part[-2] for part in parts] == ["updates"]


async def test_a_stream_that_nobody_reads_to_its_end_ends_in_an_app(options: dict[str, Any]) -> None:
    async def first(question: str, given: apps.Options) -> Any:
        steps: Any = kgqa.astream(question, **given)
        step = await anext(steps)
        await steps.aclose()
        return step

    async with apps.memory("") as saver:
        graph = apps.app(first, options, saver)
        ended = await graph.ainvoke({"question": apps.FIRST}, apps.THREAD)
    assert [each.value for each in ended["__interrupt__"]] == ["is it right?"]
