"""Python as people use it: with and without async, in agents, in graphs of apps, with what they have open."""

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import pytest
import rdflib
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import kgqa
from kgqa.data import SAMPLE_GRAPH
from kgqa.graphs import METHODS, compose, cor, graph_of
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.store.directory import build_store
from kgqa.runtime.record_text import Answered
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.support.doubles import FAMILY, KEYS, QUESTION, children, shown, timeless

Write = Callable[..., Path]
Open = Callable[[str], SparqlGraph]
WHERE = "Where does Ada live?"
SEARCHING = ("compose", "cor", "cog", "vog", "pog", "pog_egp", "tog")  # what the offline model answers by


@dataclass
class Tenant:
    """The context of an app that knows nothing of kgqa."""

    user: str


class AppState(TypedDict, total=False):
    question: str
    topics: list[str]
    answers: list[Any]
    record: dict[str, Any]
    config: dict[str, Any]


def app(node: Any) -> Any:
    builder = StateGraph(AppState, Tenant)
    builder.add_node("look up", node)
    builder.add_edge(START, "look up")
    builder.add_edge("look up", END)
    return builder.compile(checkpointer=InMemorySaver())


def on_thread(**configurable: Any) -> Any:
    return {"configurable": {"thread_id": "1", **configurable}}


@pytest.fixture
def offline(turtle: Write) -> dict[str, Any]:
    return {"kg": str(turtle(FAMILY)), "model": "offline"}


@pytest.fixture(params=["waiting", "in a running loop"])
def caller(request: pytest.FixtureRequest) -> Callable[[Callable[[], Any]], Any]:
    """Call something that waits, from a script and from a loop that runs, as a notebook's does."""

    async def called(function: Callable[[], Any]) -> Any:
        return function()

    if request.param == "waiting":
        return lambda function: function()
    return lambda function: asyncio.run(called(function))


@pytest.mark.parametrize("method", SEARCHING)
def test_a_graph_works_without_async(offline: dict[str, Any], method: str, caller: Any) -> None:
    graph, given = graph_of(method), {"question": WHERE, "topics": ["Ada"]}
    awaited = asyncio.run(graph.ainvoke(given, context=offline))
    assert timeless(caller(lambda: graph.invoke(given, context=offline))) == timeless(awaited)
    steps = caller(lambda: list(graph.stream(given, context=offline, stream_mode="updates")))
    assert [[*step] for step in steps][-1] == ["answer"]
    both = caller(lambda: graph.batch([given, {"question": "Where does Ben live?"}], context=offline))
    assert [shown(record) for record in both] == [["Ulm"], ["Bonn"]]


@pytest.mark.parametrize("method", sorted({*METHODS}.difference(SEARCHING)))
def test_the_agent_and_methods_without_a_graph_work_without_async(
    offline: dict[str, Any], method: str, caller: Any
) -> None:
    graph, given = graph_of(method), {"question": WHERE}
    record = caller(lambda: graph.invoke(given, context=offline))
    assert timeless(record) == timeless(asyncio.run(graph.ainvoke(given, context=offline)))
    assert record["trace"]


def test_tools_work_without_async(graph: Open, caller: Any) -> None:
    tools = {tool.name: tool for tool in kgqa.make_tools(graph(FAMILY))}
    assert "Ulm <http://t/e/ulm>" in caller(lambda: tools["find_entities"].invoke({"name": "Ulm"}))
    call = {"type": "tool_call", "id": "1", "name": "describe_entity", "args": {"entity": "Ada"}}
    said: ToolMessage = caller(lambda: tools["describe_entity"].invoke(call))
    assert said.artifact.entity.name == "Ada"
    assert "no entity" in caller(lambda: tools["describe_entity"].invoke({"entity": "Zoe"}))
    assert asyncio.run(tools["find_entities"].ainvoke({"name": "Ulm"})).startswith("1 entity")


def test_steps_are_streamed_and_the_record_comes_last(offline: dict[str, Any], caller: Any) -> None:
    *steps, record = caller(lambda: list(kgqa.stream(WHERE, topics=["Ada"], **offline)))
    assert steps == record["trace"]
    assert timeless(record) == timeless(kgqa.ask(WHERE, topics=["Ada"], **offline))

    async def streamed() -> list[Any]:
        return [step async for step in kgqa.astream(WHERE, topics=["Ada"], **offline)]

    assert timeless(asyncio.run(streamed())[-1]) == timeless(record)


def test_a_stream_that_nobody_reads_to_its_end_ends(offline: dict[str, Any]) -> None:
    for step in kgqa.stream(WHERE, topics=["Ada"], **offline):
        assert step["node"] == "link"
        break
    assert shown(kgqa.ask(WHERE, topics=["Ada"], **offline)) == ["Ulm"]


def test_a_stream_refuses_what_ask_refuses() -> None:
    with pytest.raises(kgqa.OptionError, match="compose has no option 'dept'"):
        list(kgqa.stream(WHERE, dept=3))
    with pytest.raises(ValueError, match="the question is empty"):
        list(kgqa.stream(" "))


def test_a_tool_answers_in_words_with_the_record_as_its_artifact(
    offline: dict[str, Any], caller: Any
) -> None:
    tool = kgqa.as_tool(method="cor", depth=2, **offline)
    said = caller(lambda: tool.invoke({"question": WHERE}))
    assert said.splitlines()[:3] == ["Read as: what Ada lives in", "Ulm", "  Ada -lives_in-> Ulm"]
    assert said.splitlines()[3].startswith("  proved by the graph · cor, offline")
    call = {"type": "tool_call", "id": "1", "name": "ask", "args": {"question": WHERE, "topics": ["Ada"]}}
    message = asyncio.run(tool.ainvoke(call))
    assert (shown(message.artifact), message.artifact["config"]["depth"]) == (["Ulm"], 2)
    assert tool.invoke({"question": " "}) == "the question is empty; write what you want to know"


def test_tools_of_several_graphs_are_told_apart(offline: dict[str, Any]) -> None:
    tool = kgqa.as_tool(name="ask_family", description="Who lives where.", **offline)
    assert (tool.name, tool.description) == ("ask_family", "Who lives where.")
    assert kgqa.as_tool(**offline).description.startswith("Answer a question from the knowledge graph")


def test_a_tool_with_wrong_options_is_not_made() -> None:
    with pytest.raises(kgqa.OptionError, match="compose has no option 'dept'"):
        kgqa.as_tool(dept=3)
    with pytest.raises(ValueError, match="no method is called 'none'"):
        kgqa.as_node("none")


@pytest.mark.parametrize("context", [Tenant("me"), None])
def test_a_method_is_a_node_of_an_app_with_its_own_options(
    offline: dict[str, Any], context: Any, caller: Any
) -> None:
    graph = app(kgqa.as_node("cor", depth=2, **offline))
    given = {"question": WHERE, "topics": ["Ada"]}
    waited = caller(lambda: graph.invoke(given, on_thread(depth=7), context=context))
    assert (waited["answers"], waited["config"]["depth"]) == ([{"id": "http://t/e/ulm", "name": "Ulm"}], 2)
    assert (type(waited["record"]), set(waited["record"])) == (dict, KEYS)
    awaited = asyncio.run(graph.ainvoke(given, on_thread(), context=context))
    assert timeless(awaited["record"]) == timeless(waited["record"])


def test_the_steps_of_a_node_are_those_of_a_subgraph(offline: dict[str, Any]) -> None:
    graph = app(kgqa.as_node("cor", **offline))
    parts = graph.stream({"question": WHERE}, on_thread(), subgraphs=True, stream_mode="updates")
    assert [*dict.fromkeys(len(place) for place, _ in parts)] == [1, 0]


@pytest.mark.parametrize("slots", [False, True])
def test_an_app_whose_state_is_an_object_has_its_question_read(offline: dict[str, Any], slots: bool) -> None:
    @dataclass(slots=slots)
    class State:
        question: str = ""
        answers: Any = None

    builder = StateGraph(State)
    builder.add_node("look up", kgqa.as_node(**offline))
    builder.add_edge(START, "look up")
    assert builder.compile().invoke({"question": WHERE})["answers"][0]["name"] == "Ulm"
    with pytest.raises(ValueError, match=r"has no question"):
        builder.compile().invoke({"answers": []})
    with pytest.raises(ValueError, match=r"has no question"):
        kgqa.as_node(**offline).invoke(WHERE)


def side_by_side(state: Any, **nodes: Any) -> Any:
    builder = StateGraph(state)
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(START, name)
    return builder.compile()


@pytest.mark.parametrize("waits", [True, False])
def test_nodes_of_one_step_write_their_records_under_keys_of_their_own(
    offline: dict[str, Any], waits: bool
) -> None:
    class State(TypedDict, total=False):
        question: str
        topics: list[str]
        id: str
        answers: list[Any]
        by_cor: dict[str, Any]
        by_pog: dict[str, Any]

    names = ("cor", "pog")
    nodes = {name: kgqa.as_node(name, key=f"by_{name}", **offline) for name in names}
    graph, given = side_by_side(State, **nodes), {"question": WHERE, "topics": ["Ada"], "id": "7"}
    ended = graph.invoke(given) if waits else asyncio.run(graph.ainvoke(given))
    assert {name: shown(ended[f"by_{name}"]) for name in names} == {"cor": ["Ulm"], "pog": ["Ulm"]}
    assert {ended[f"by_{name}"]["id"] for name in names} == {"7"}
    assert set(ended) == {*given, "by_cor", "by_pog"}


def test_nodes_of_one_step_may_share_a_key_that_joins_records(turtle: Write, offline: dict[str, Any]) -> None:
    class State(TypedDict, total=False):
        question: str
        record: Annotated[list[Any], lambda held, new: [*(held or []), new]]

    other = str(turtle(FAMILY.replace("r:lives_in e:ulm .\ne:ben", "r:lives_in e:bonn .\ne:ben"), "b.ttl"))
    here, there = (kgqa.as_node(**{**offline, "kg": kg}) for kg in (offline["kg"], other))
    ended = side_by_side(State, here=here, there=there).invoke({"question": WHERE})
    assert sorted(shown(record)[0] or "" for record in ended["record"]) == ["Bonn", "Ulm"]


def test_a_node_leaves_what_it_reads_for_the_next_question(offline: dict[str, Any]) -> None:
    graph = app(kgqa.as_node(**offline))
    asked = [graph.invoke({"question": f"Where does {name} live?"}, on_thread()) for name in ("Ada", "Ben")]
    assert [state["record"]["topics"][0]["name"] for state in asked] == ["Ada", "Ben"]
    assert [state["answers"][0]["name"] for state in asked] == ["Ulm", "Bonn"]


def test_a_methods_graph_is_a_subgraph_of_an_app_with_its_own_context(
    offline: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_KG", offline["kg"])
    given = {"question": WHERE, "topics": ["Ada"]}
    ended = app(cor.graph).invoke(given, on_thread(depth=2), context=Tenant("me"))
    assert (ended["answers"][0]["name"], ended["config"]["depth"]) == ("Ulm", 2)
    awaited = asyncio.run(app(cor.graph).ainvoke(given, on_thread(), context=Tenant("me")))
    assert (awaited["answers"][0]["name"], awaited["config"]["depth"]) == ("Ulm", 4)


def test_options_are_read_from_configurable_too(offline: dict[str, Any]) -> None:
    config = on_thread(**offline, width=2, user="me")
    record = compose.graph.invoke({"question": WHERE}, config)
    assert (shown(record), record["config"]["width"]) == (["Ulm"], 2)
    given = compose.graph.invoke({"question": WHERE}, config, context={**offline, "width": 5})
    assert given["config"]["width"] == 5
    with pytest.raises(kgqa.OptionError, match="option width"):
        compose.graph.invoke({"question": WHERE}, on_thread(**offline, width="wide"))


def test_a_context_that_is_none_is_refused(offline: dict[str, Any]) -> None:
    with pytest.raises(kgqa.OptionError, match="it cannot be of type Tenant"):
        cor.graph.invoke({"question": WHERE}, context=Tenant("me"))


def test_a_record_is_the_plain_record_of_the_graph(offline: dict[str, Any]) -> None:
    record = kgqa.ask(WHERE, topics=["Ada"], id="7", **offline)
    assert isinstance(record, Answered)
    plain = asyncio.run(
        compose.graph.ainvoke({"question": WHERE, "topics": ["Ada"], "id": "7"}, context=offline)
    )
    assert type(plain) is dict
    assert timeless(record) == timeless(plain)
    assert json.loads(json.dumps(record)) == record


def test_a_chat_model_is_taken_as_it_is() -> None:
    chat = FakeListChatModel(responses=['{"answers": ["Danube"]}'])
    record = kgqa.ask("On which river does Ulm lie?", method="io", model=chat)
    assert (shown(record), record["config"]["model"]) == (["Danube"], "fakelistchatmodel")
    assert record["usage"]["llm_calls"] == 1


def test_a_chat_model_keeps_its_own_ways_but_for_options_that_are_given() -> None:
    seen: list[dict[str, Any]] = []

    class Chat(FakeListChatModel):
        temperature: float = 0.9
        max_tokens: int = 7

        def _call(self, *args: Any, **kwargs: Any) -> str:
            seen.append({"temperature": self.temperature, "max_tokens": self.max_tokens})
            return super()._call(*args, **kwargs)

    chat = Chat(responses=['{"answers": ["Danube"]}'])
    kgqa.ask(WHERE, method="io", model=chat)
    kgqa.ask(WHERE, method="io", model=chat, temperature=0.1)
    assert seen == [{"temperature": 0.9, "max_tokens": 7}, {"temperature": 0.1, "max_tokens": 7}]


def test_a_graph_of_rdflib_is_taken_as_it_is() -> None:
    triples = rdflib.Graph().parse(data=PREFIXES + FAMILY, format="turtle")
    assert shown(kgqa.ask(WHERE, kg=triples, model="offline")) == ["Ulm"]
    triples.set(
        (
            rdflib.URIRef("http://t/e/ada"),
            rdflib.URIRef("http://t/r/lives_in"),
            rdflib.URIRef("http://t/e/bonn"),
        )
    )
    assert shown(kgqa.ask(WHERE, kg=triples, model="offline")) == ["Bonn"]


def test_a_data_frame_of_triples_is_taken_as_it_is() -> None:
    frame = pd.DataFrame([("Ada", "lives in", "Ulm"), ("Ben", "lives in", "Bonn")])
    assert shown(kgqa.ask(WHERE, kg=frame, model="offline")) == ["Ulm"]
    with pytest.raises(kgqa.OptionError, match="three columns: subject, relation, object; not 2"):
        kgqa.ask(WHERE, kg=frame[[0, 1]], model="offline")


def test_a_list_of_triples_is_taken_as_it_is() -> None:
    triples = [("Ada", "lives in", "Ulm"), ["Ben", "age", 7]]
    assert shown(kgqa.ask(WHERE, kg=triples, model="offline")) == ["Ulm"]
    assert shown(kgqa.ask("What is the age of Ben?", kg=tuple(triples), model="offline")) == ["7"]
    with pytest.raises(kgqa.OptionError, match="triple 1 has no object that is a text, number or date"):
        kgqa.ask(WHERE, kg=[*triples[:1], ("Ben", "age", None)], model="offline")


@pytest.mark.parametrize(("kind", "says"), [("DiGraph", "relation"), ("MultiGraph", "type")])
def test_a_graph_of_networkx_is_taken_as_it_is(kind: str, says: str) -> None:
    network = getattr(pytest.importorskip("networkx"), kind)()
    network.add_edge(1, 2, **{says: "lives in"}, weight=0.5)
    network.add_node(1, label="Ada", age=30, type="Person", tags=["x"])
    network.add_node(2, name="Ulm", area=None)
    for question, answer in (
        (WHERE, "Ulm"),
        ("What is the age of Ada?", "30"),
        ("How many persons are there?", "1"),
    ):
        assert shown(kgqa.ask(question, kg=network, model="offline")) == [answer]
    network.add_edge(2, 3)
    with pytest.raises(
        kgqa.OptionError, match="the edge from 2 to 3 has no relation; give it one of the attr"
    ):
        kgqa.ask(WHERE, kg=network, model="offline")


def test_an_open_graph_is_taken_as_it_is(graph: Open) -> None:
    assert shown(kgqa.ask(QUESTION, topics=["Ada"], method="cor", kg=graph(FAMILY), model=children())) == [
        "Ben",
        "Cleo",
    ]


@pytest.mark.parametrize("form", [str, Path, lambda path: [str(path)], lambda path: (path,)])
def test_a_graph_is_opened_by_one_name_or_several(turtle: Write, form: Callable[[Path], Any]) -> None:
    kg = form(turtle(FAMILY))
    assert shown(kgqa.ask(WHERE, kg=kgqa.open_graph(kg), model="offline")) == ["Ulm"]
    assert shown(kgqa.ask(WHERE, kg=kg, model="offline")) == ["Ulm"]


def test_the_sample_is_opened_by_its_name() -> None:
    opened = [kgqa.open_graph("sample"), kgqa.open_graph(["sample"])]
    assert {graph.fingerprint for graph in opened} == {kgqa.open_graph(SAMPLE_GRAPH).fingerprint}
    with pytest.raises(KGUnavailable, match=r"no\.nt"):
        kgqa.open_graph("no.nt")


@pytest.mark.parametrize("option", ["kg", "model"])
def test_what_is_no_graph_and_no_model_is_refused(option: str) -> None:
    with pytest.raises(kgqa.OptionError, match=f"option {option}: a name, or what is open already, not int"):
        kgqa.ask(WHERE, **{option: 7})


def test_a_file_that_changed_is_read_anew(turtle: Write, offline: dict[str, Any]) -> None:
    assert shown(kgqa.ask(WHERE, **offline)) == ["Ulm"]
    turtle(FAMILY.replace("r:lives_in e:ulm .\ne:ben", "r:lives_in e:bonn .\ne:ben"))
    assert shown(kgqa.ask(WHERE, **offline)) == ["Bonn"]


def test_an_open_run_keeps_its_graph(turtle: Write, offline: dict[str, Any]) -> None:
    steps: Iterator[dict[str, Any]] = kgqa.stream("Where do Ada's children live?", method="cor", **offline)
    assert next(steps)["node"] == "link"
    turtle(FAMILY.replace("e:bonn", "e:rome").replace("Bonn", "Rome"))
    assert shown(kgqa.ask("Where does Ben live?", **offline)) == ["Rome"]
    *_, record = steps
    assert "Rome" not in shown(record)
    assert "Bonn" in shown(record)


@pytest.mark.parametrize("topic", [{}, {"label": "Ada"}, {"id": None, "name": None}, {"name": ""}])
def test_a_topic_without_name_and_id_is_refused(offline: dict[str, Any], topic: Any) -> None:
    with pytest.raises(ValueError, match="a topic has an 'id' or a 'name', not"):
        kgqa.ask(WHERE, topics=[topic], **offline)


def test_threads_may_ask_one_graph_at_once(offline: dict[str, Any]) -> None:
    asked = [WHERE, "Where does Ben live?"] * 8
    with ThreadPoolExecutor(8) as threads:
        records = list(threads.map(lambda question: kgqa.ask(question, **offline), asked))
    assert [shown(record) for record in records] == [["Ulm"], ["Bonn"]] * 8


def test_public_names_are_there() -> None:
    for name in kgqa.__all__:
        assert getattr(kgqa, name) is not None
    assert [name for name in dir(kgqa) if not name.startswith("_")] == sorted(kgqa.__all__)


def test_a_folder_that_was_built_anew_is_read_anew(turtle: Write, tmp_path: Path) -> None:
    folder, asked = tmp_path / "built", {"kg": str(tmp_path / "built"), "model": "offline"}
    build_store([turtle(FAMILY)], folder)
    assert shown(kgqa.ask(WHERE, **asked)) == ["Ulm"]
    steps = kgqa.stream(WHERE, **asked)
    next(steps)
    build_store([turtle(FAMILY.replace("r:lives_in e:ulm .\ne:ben", "r:lives_in e:bonn .\ne:ben"))], folder)
    assert shown(kgqa.ask(WHERE, **asked)) == ["Bonn"]
    assert shown([*steps][-1]) == ["Ulm"]
