"""The real ``langgraph dev``, asked over HTTP as Studio asks it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import kgqa
from kgqa.data import SAMPLE_GRAPH
from kgqa.graphs import METHODS, graph_of
from kgqa.tests.integration.serving.asking import FAMILY
from kgqa.tests.support.servers.langgraph import ROOT, Server, missing, serving

WHY_NOT = missing()

pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=str(WHY_NOT))

GRAPHS = json.loads((ROOT / "langgraph.json").read_text())["graphs"]

INPUT = {"question": "Where does Ada live?", "topics": ["Ada"]}

ALL_MODEL = {"io", "cot", "sc", "agent", "sparql_qa"}
"""Methods that the offline model, which knows no facts and does not chat, is of no use to."""

OFF = ["claim", "exemplars", "smart_lookahead"]  # passed: it is no claim, and their options are off
STEPS = ["link", *OFF, "retrieve_relations", "prune", "expand", "verify", "answer"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Any]:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server.url) as opened:
        yield opened


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path: Path = tmp_path_factory.mktemp("graph") / "family.ttl"
    path.write_text(FAMILY)
    return {"kg": [str(path)], "model": "offline"}


@pytest.fixture(scope="module")
def thread(client: Any, context: dict[str, Any]) -> tuple[str, list[Any]]:
    """A thread with one run on it, and the updates that the run streamed."""
    thread = str(client.threads.create()["thread_id"])
    parts = list(client.runs.stream(thread, "cor", input=INPUT, context=context, stream_mode="updates"))
    return thread, [part.data for part in parts if part.event == "updates"]


@pytest.fixture(scope="module")
def history(client: Any, thread: tuple[str, list[Any]]) -> list[Any]:
    """The states of the thread, the last one first."""
    states: list[Any] = client.threads.get_history(thread[0], limit=50)
    return states


def before(node: str, history: list[Any]) -> Any:
    return next(state for state in history if state["next"] == [node])


def error_of(reply: dict[str, Any]) -> str:
    return str(reply["__error__"]["message"])


def test_every_graph_is_listed(client: Any) -> None:
    listed = {
        assistant["graph_id"]: assistant["description"]
        for assistant in client.assistants.search(limit=len(GRAPHS))
    }
    assert listed == {name: graph["description"] for name, graph in GRAPHS.items()}


def test_every_method_is_served() -> None:
    assert set(GRAPHS) == {*METHODS, "chat"}


@pytest.mark.parametrize("kind", ["input", "output", "context"])
@pytest.mark.parametrize("method", GRAPHS)
def test_schemas_describe_every_field(client: Any, method: str, kind: str) -> None:
    fields = schemas(client, method)[f"{kind}_schema"]["properties"]
    assert fields
    assert [name for name, field in fields.items() if not described(field)] == []


@pytest.mark.parametrize("method", METHODS)
def test_the_schema_of_the_state_describes_the_working_memory(client: Any, method: str) -> None:
    schema = schemas(client, method)["state_schema"]
    assert {"stack", "memory", "chain", "candidates", "trace"} <= schema["properties"].keys()
    assert all(described(schema["$defs"][name]) for name in ("Chain", "VerifiedChain", "Candidate"))


def schemas(client: Any, method: str) -> dict[str, Any]:
    [assistant] = client.assistants.search(graph_id=method)
    found: dict[str, Any] = client.assistants.get_schemas(assistant["assistant_id"])
    return found


def described(field: dict[str, Any]) -> bool:
    return bool(field.get("description"))


@pytest.mark.parametrize("method", METHODS)
def test_a_run_gives_the_record(client: Any, context: dict[str, Any], method: str) -> None:
    record = client.runs.wait(None, method, input=INPUT, context=context)
    assert record.keys() == kgqa.Record.__annotations__.keys()
    assert [entry["node"] for entry in record["trace"]][-1] == last_step(method)
    found = [{"id": "http://t/e/ulm", "name": "Ulm"}]
    outcome = "model_unavailable" if method in ALL_MODEL else "grounded"
    assert (record["method"], record["outcome"]) == (method, outcome)
    assert record["answers"] == (found if outcome == "grounded" else [])


def last_step(method: str) -> str:
    return list(graph_of(method).nodes)[-1]


def test_updates_name_the_steps_in_order(thread: tuple[str, list[Any]]) -> None:
    assert [node for update in thread[1] for node in update] == STEPS


def test_the_history_names_the_steps_that_come_next(history: list[Any]) -> None:
    assert [node for state in reversed(history) for node in state["next"]] == ["__start__", *STEPS]


def test_the_history_shows_the_stack(history: list[Any]) -> None:
    assert before("prune", history)["values"]["stack"] == []
    drawn = [
        [chain["topic"]["name"], *(hop["relation"] for hop in chain["hops"])]
        for chain in before("verify", history)["values"]["stack"]
    ]
    assert drawn == [["Ada", "http://t/r/child"]]


def test_a_run_may_be_forked_with_another_decision(
    client: Any, context: dict[str, Any], thread: tuple[str, list[Any]], history: list[Any]
) -> None:
    edit = {"decision": "backtrack", "candidates": []}
    record = fork(client, context, thread[0], before("verify", history), edit)
    assert [answer["name"] for answer in record["answers"]] == ["Bonn", "Ulm"]


def test_a_run_may_be_forked_with_an_edited_stack(
    client: Any, context: dict[str, Any], thread: tuple[str, list[Any]], history: list[Any]
) -> None:
    state = before("verify", history)
    [chain] = state["values"]["stack"]
    lives = {"relation": "http://t/r/lives_in", "forward": True, "name": None}
    longer = {**chain, "hops": [*chain["hops"], lives]}
    edit = {"decision": "backtrack", "candidates": [], "stack": [longer]}
    record = fork(client, context, thread[0], state, edit)
    assert [answer["name"] for answer in record["answers"]] == ["Bonn", "Ulm"]


def fork(client: Any, context: dict[str, Any], thread: str, state: Any, edit: dict[str, Any]) -> Any:
    at = state["checkpoint"]["checkpoint_id"]
    forked = client.threads.update_state(thread, edit, as_node="verify", checkpoint_id=at)
    return client.runs.wait(
        thread, "cor", input=None, context=context, checkpoint_id=forked["checkpoint"]["checkpoint_id"]
    )


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"depth": 99}, "option depth: Input should be less than or equal to 10, not 99"),
        (
            {"budget": {"dollars": 3}},
            "cor has no option 'budget.dollars'; its options are: budget.llm_calls, budget.tokens",
        ),
    ],
)
def test_an_option_that_is_not_taken_is_named(
    client: Any, context: dict[str, Any], option: dict[str, Any], text: str
) -> None:
    reply = client.runs.wait(None, "cor", input=INPUT, context=context | option, raise_error=False)
    assert text in error_of(reply)


def test_a_question_that_is_missing_is_named(client: Any, context: dict[str, Any]) -> None:
    reply = client.runs.wait(None, "cor", input={"topics": ["Ada"]}, context=context, raise_error=False)
    assert "what is asked does not fit: question: Field required" in error_of(reply)


def test_a_graph_that_is_not_there_is_told_in_the_record(client: Any, context: dict[str, Any]) -> None:
    elsewhere = context | {"kg": ["/nowhere/graph.ttl"]}
    record = client.runs.wait(None, "cor", input=INPUT, context=elsewhere)
    assert record["outcome"] == "kg_unavailable"


@pytest.mark.skipif(not SAMPLE_GRAPH.is_file(), reason="needs the sample graph")
def test_without_a_context_the_sample_is_asked(client: Any) -> None:
    record = client.runs.wait(None, "cor", input={"question": "What is the capital of Mongolia?"})
    assert record["outcome"] == "grounded"
    assert (record["config"]["kg"], record["config"]["model"]) == (["sample"], "offline")


STUDIO = "https://smith.langchain.com"


def page(server: Server, method: str = "POST", path: str = "/runs/wait", **headers: str) -> Any:
    """Ask as a browser does for a page: as plain text it need not ask first whether it may."""
    import httpx

    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps({"assistant_id": "io", "input": INPUT})
    return httpx.request(
        method, server.url + path, content=body, headers={"content-type": "text/plain", **named}, timeout=20
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "https://evil.example", "sec_fetch_site": "cross-site"},
        {"origin": "http://localhost.evil.example:2024"},
        {"origin": f"{STUDIO}.evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"x_forwarded_for": "127.0.0.1"},
        {"x_forwarded_host": "localhost"},
        {"x_real_ip": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"},
    ],
    ids=lambda headers: " ".join(headers.values()),
)
def test_a_strange_page_or_a_proxy_is_not_served(server: Server, headers: dict[str, str]) -> None:
    reply = page(server, **headers)
    assert reply.status_code == 403
    assert "access-control-allow-origin" not in reply.headers
    assert "set KGQA_API_KEYS" in reply.json()["detail"]
    for path in ("/metrics", "/a2a/chat", "/.well-known/agent-card.json"):
        assert page(server, "GET", path, **headers).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": STUDIO, "sec_fetch_site": "cross-site"},
        {"origin": "http://localhost:5173", "sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
    ],
    ids=["no page", "Studio", "localhost", "typed in"],
)
def test_studio_and_this_machine_are_served(server: Server, headers: dict[str, str]) -> None:
    reply = page(server, **headers)
    assert (reply.status_code, reply.json()["method"]) == (200, "io")
    assert reply.headers.get("access-control-allow-origin") == headers.get("origin")
    for path in ("/info", "/docs", "/metrics"):
        assert page(server, "GET", path, **headers).status_code == 200


def test_a_strange_page_opens_no_socket(server: Server) -> None:
    sockets = pytest.importorskip("websockets.sync.client")
    from websockets.exceptions import InvalidStatus

    address = f"ws{server.url.removeprefix('http')}/threads/{uuid4()}/stream/events"
    with pytest.raises(InvalidStatus, match="HTTP 403"):
        sockets.connect(address, origin="https://evil.example")
    with sockets.connect(address, origin=STUDIO):
        pass


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("complaint", ["BlockingError", "nregistered type", "Blocked deserialization"])
def test_the_log_has_no_complaint(server: Server, complaint: str) -> None:
    assert [line for line in server.log.read_text().splitlines() if complaint in line] == []


def test_a_thread_keeps_a_conversation(client: Any, context: dict[str, Any]) -> None:
    thread = str(client.threads.create()["thread_id"])
    for said in ("Where does Ada live?", "And Ben?"):
        message = {"role": "user", "content": said}
        state = client.runs.wait(thread, "chat", input={"messages": [message]}, context=context)
    assert state["question"] == "Where does Ben live?"
    assert state["messages"][-1]["content"] == "Ben lives in Bonn.\n\nBen -lives_in-> Bonn"
    assert state["messages"][-1]["additional_kwargs"]["kgqa"]["outcome"] == "grounded"
    assert len(state["messages"]) == 4
