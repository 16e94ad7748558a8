"""The server as it is deployed: keys, limits, checkpoints in PostgreSQL (in SQLite where there is none)."""

import json
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from kgqa.graphs import context_of, graph_of
from kgqa.runtime.budget import Budget
from kgqa.serving.checkpoints import checkpointer
from kgqa.tests.integration.serving.asking import FAMILY
from kgqa.tests.support.servers import oxigraph, postgres
from kgqa.tests.support.servers.langgraph import Server, missing, serving
from kgqa.tests.support.servers.proxy import Proxy

pytestmark = pytest.mark.skipif(bool(missing()), reason=str(missing()))

ALICE, BOB = "a-key-of-alice-0123", "a-key-of-bob-012345"

INPUT = {"question": "Where does Ada live?", "topics": ["Ada"]}

NO_LIMIT = dict.fromkeys(Budget.model_fields)

EVIL = "/etc/passwd"

PASSWORD = "a-word-that-nobody-sees"


@pytest.fixture(scope="module")
def address(request: pytest.FixtureRequest) -> str | None:
    """The address of a database; None where there is no PostgreSQL."""
    return None if postgres.missing() else request.getfixturevalue("postgres")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("graph") / "family.ttl"
    path.write_text(FAMILY)
    return path


@pytest.fixture(scope="module")
def endpoint(request: pytest.FixtureRequest, graph: Path) -> Iterator[Proxy]:
    """An endpoint that keeps what it was asked; without Oxigraph it answers nobody."""
    nowhere = "http://127.0.0.1:1/query"
    target = nowhere if oxigraph.missing() else request.getfixturevalue("oxigraph_server")([graph])
    with Proxy(target) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def settings(graph: Path, address: str | None, endpoint: Proxy) -> dict[str, str]:
    with_password = endpoint.url.replace("//", f"//me:{PASSWORD}@", 1)
    return {
        "KGQA_ALLOW_KG": f"{graph},{with_password}",
        "KGQA_API_KEYS": f"alice:{ALICE},bob:{BOB}",
        "KGQA_CAP_SECONDS": "30",
        "KGQA_CHECKPOINTS": address or str(graph.parent / "checkpoints"),
        "KGQA_KG": str(graph),
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, settings: dict[str, str]) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def alice(server: Server) -> Iterator[Any]:
    yield from client(server, api_key=ALICE)


@pytest.fixture(scope="module")
def bob(server: Server) -> Iterator[Any]:
    yield from client(server, api_key=None, headers={"authorization": f"Bearer {BOB}"})


@pytest.fixture(scope="module")
def thread(alice: Any) -> str:
    """A thread of Alice with one run on it."""
    thread = str(alice.threads.create()["thread_id"])
    assert alice.runs.wait(thread, "cor", input=INPUT)["outcome"] == "grounded"
    return thread


def client(server: Server, **options: Any) -> Iterator[Any]:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server.url, **options) as opened:
        yield opened


def asked(server: Server, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Ask without a client; give the status and what came back."""
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(server.url + path, data, {"Content-Type": "application/json", **named})
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.mark.parametrize("path", ["/assistants/search", "/threads", "/threads/search", "/runs/wait"])
@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({}, "give your key in the header x-api-key, or in Authorization after Bearer"),
        (
            {"x_auth_scheme": "langsmith"},
            "give your key in the header x-api-key, or in Authorization after Bearer",
        ),
        ({"x_api_key": "another"}, "this key is not known here; ask the server's operator for one"),
    ],
    ids=["missing", "studio", "wrong"],
)
def test_without_a_right_key_nothing_is_served(
    server: Server, path: str, headers: dict[str, str], why: str
) -> None:
    body = {"assistant_id": "cor", "input": INPUT}
    assert asked(server, path, body, **headers) == (401, {"detail": why})


@pytest.mark.parametrize("key", [None, "another"])
def test_without_a_right_key_no_socket_is_opened(server: Server, key: str | None) -> None:
    sockets = pytest.importorskip("websockets.sync.client")
    from websockets.exceptions import InvalidStatus

    address = f"ws{server.url.removeprefix('http')}/threads/{uuid4()}/stream/events"
    with pytest.raises(InvalidStatus, match="HTTP 403"):
        sockets.connect(address, additional_headers={"x-api-key": key} if key else {})


def test_health_needs_no_key(server: Server) -> None:
    assert asked(server, "/ok")[0] == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [("/internal/truncate", {}), ("/internal/debug/thread/x", None), ("/deploy", {}), ("/deploy", None)],
)
def test_routes_that_no_key_guards_are_shut(server: Server, path: str, body: Any) -> None:
    assert asked(server, path, body, x_api_key=ALICE) == (404, {"detail": "Not Found"})


@pytest.mark.parametrize("path", ["/metrics", "/metrics?format=json", "/docs", "/openapi.json"])
def test_routes_that_langgraph_leaves_open_need_a_key(server: Server, path: str) -> None:
    import httpx

    assert asked(server, path)[0] == 401
    assert httpx.get(server.url + path, headers={"x-api-key": ALICE}).status_code == 200


def test_no_pages_are_served(server: Server) -> None:
    import httpx

    assert httpx.get(f"{server.url}/ui/cor").status_code == 404


@pytest.mark.parametrize("path", ["/store/namespaces", "/mcp/"])
def test_what_is_not_needed_is_not_there(server: Server, path: str) -> None:
    assert asked(server, path, {}, x_api_key=ALICE)[0] == 404


def test_each_key_is_served(alice: Any, bob: Any, thread: str) -> None:
    assert {each["graph_id"] for each in bob.assistants.search(limit=50)} >= {"cor", "cog", "vog"}
    assert bob.runs.wait(None, "cor", input=INPUT)["outcome"] == "grounded"
    assert [each["thread_id"] for each in alice.threads.search()] == [thread]


def test_one_key_cannot_see_anothers_threads(bob: Any, thread: str) -> None:
    assert bob.threads.search() == []
    for look in (bob.threads.get, bob.threads.get_state, bob.threads.get_history, bob.runs.list):
        assert status(lambda look=look: look(thread)) == 404


def test_one_key_cannot_touch_anothers_threads(bob: Any, thread: str) -> None:
    attempts = [
        lambda: bob.runs.wait(thread, "cor", input=INPUT),
        lambda: bob.threads.update_state(thread, {"decision": "stop"}),
        lambda: bob.threads.update(thread, metadata={"owner": "bob"}),
        lambda: bob.threads.create(thread_id=thread, if_exists="do_nothing"),
        lambda: bob.threads.copy(thread),
        lambda: bob.threads.prune([thread], strategy="keep_latest"),
        lambda: bob.threads.delete(thread),
    ]
    assert all(status(attempt) in {403, 404, 409} for attempt in attempts)


async def test_a_thread_that_was_forgotten_is_still_its_owners(
    alice: Any, bob: Any, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_CHECKPOINTS", settings["KGQA_CHECKPOINTS"])
    forgotten = str(uuid4())
    config: Any = {"configurable": {"thread_id": forgotten}, "metadata": {"owner": "alice"}}
    async with checkpointer() as saver:
        graph = graph_of("cor").builder.compile(checkpointer=saver, interrupt_before=["prune"])
        await graph.ainvoke(INPUT, config, context=context_of("cor")(kg=settings["KGQA_KG"]))
    assert status(lambda: bob.threads.create(thread_id=forgotten, graph_id="cor")) == 409
    assert status(lambda: bob.runs.wait(forgotten, "cor", input=None, if_not_exists="create")) == 409
    alice.threads.create(thread_id=forgotten, graph_id="cor")
    assert alice.threads.get_state(forgotten)["next"] == ["prune"]
    alice.threads.delete(forgotten)


def test_an_owner_cannot_give_threads_away(alice: Any, bob: Any) -> None:
    made = alice.threads.create(metadata={"owner": "bob"})
    updated = alice.threads.update(made["thread_id"], metadata={"owner": "bob"})
    assert made["metadata"]["owner"] == updated["metadata"]["owner"] == "alice"
    assert bob.threads.search() == []
    alice.threads.delete(made["thread_id"])


def test_assistants_are_their_owners(alice: Any, bob: Any) -> None:
    made = alice.assistants.create("cor", context={"depth": 2}, metadata={"created_by": "system"})
    name = made["assistant_id"]
    assert status(lambda: bob.assistants.get(name)) == 404
    assert status(lambda: bob.assistants.delete(name)) == 404
    assert status(lambda: bob.runs.wait(None, name, input=INPUT)) == 404
    assert alice.runs.wait(None, name, input=INPUT)["config"]["depth"] == 2


def test_the_servers_own_assistants_cannot_be_changed(alice: Any) -> None:
    [own] = alice.assistants.search(graph_id="cog")
    assert status(lambda: alice.assistants.update(own["assistant_id"], context={"depth": 1})) == 404
    assert status(lambda: alice.assistants.delete(own["assistant_id"])) == 404


def test_crons_are_not_served(alice: Any) -> None:
    assert status(lambda: alice.crons.create("cor", schedule="* * * * *", input=INPUT)) == 403


def status(attempt: Any) -> int:
    import httpx

    try:
        attempt()
    except httpx.HTTPStatusError as error:
        return error.response.status_code
    except Exception as error:  # the client has classes of its own
        return int(getattr(error, "status_code", 0))
    return 200


WAYS = ["context", "configurable", "assistant", "assistant_configurable", "thread"]
"""How a caller may pass options."""

FILES = [("cor", name) for name in ("kg", "model", "exemplars", "encoder")]
FILES += [("cog", "blueprints"), ("cog", "overlay"), ("vog", "nli")]


@pytest.fixture(scope="module")
def replies(alice: Any) -> dict[tuple[str, str, str], Any]:
    """What all runs gave, by way, method and option; side by side, since each waits to be begun."""
    more = NO_LIMIT | {"llm_calls": 10_000}
    options: dict[tuple[str, str, str], dict[str, Any]] = {
        **{(way, "cor", "budget"): {"budget": more, "width": 2} for way in WAYS},
        **{(way, *file): {file[1]: [EVIL] if file[1] == "kg" else EVIL} for way in WAYS for file in FILES},
    }
    with ThreadPoolExecutor(len(options)) as pool:
        runs = {key: pool.submit(run, alice, *key[:2], given) for key, given in options.items()}
    return {key: reply.result() for key, reply in runs.items()}


def run(client: Any, way: str, method: str, options: dict[str, Any]) -> Any:
    given: dict[str, Any] = {"input": INPUT, "raise_error": False}
    if way == "context":
        return client.runs.wait(None, method, context=options, **given)
    if way == "configurable":
        return client.runs.wait(None, method, config={"configurable": options}, **given)
    if way == "thread":
        thread = client.threads.create(metadata={"of": "options"})["thread_id"]
        return client.runs.wait(thread, method, context=options, **given)
    stored = {"context": options} if way == "assistant" else {"config": {"configurable": options}}
    return client.runs.wait(None, client.assistants.create(method, **stored)["assistant_id"], **given)


@pytest.mark.parametrize("named", ["own:graph", "./own.py:graph", "kgqa.graphs.cor:graph"])
def test_no_code_is_loaded_by_a_name_that_a_caller_gives(server: Server, alice: Any, named: str) -> None:
    own, marked = Path(server.log).parent / "own.py", Path(server.log).parent / "loaded"
    own.write_text(f"open({str(marked)!r}, 'w')\n")
    for body in (
        {"assistant_id": named, "input": INPUT},
        {"assistant_id": "cor", "input": INPUT, "context": {"method": str(own)}},
        {"assistant_id": "cor", "input": {**INPUT, "method": f"{own}:graph"}},
    ):
        code, said = asked(server, "/runs/wait", body, x_api_key=ALICE)
        refused = code in (404, 422) or "__error__" in said or said["method"] == "cor"
        assert refused, said
    assert not marked.exists()
    assert status(lambda: alice.assistants.create(named)) in (404, 422)


@pytest.mark.parametrize("way", WAYS)
def test_a_budget_cannot_be_raised(replies: dict[tuple[str, str, str], Any], way: str) -> None:
    record = replies[way, "cor", "budget"]
    assert record["outcome"] == "grounded"
    assert record["config"]["budget"] == Budget(seconds=30).model_dump()
    assert record["config"]["width"] == 2


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("method", "option"), FILES)
def test_a_file_cannot_be_named(
    replies: dict[tuple[str, str, str], Any], way: str, method: str, option: str
) -> None:
    message = replies[way, method, option]["__error__"]["message"]
    assert message.startswith(f"option {option}: '{EVIL}' is not served here; ")
    assert "\n" not in message


def test_the_protocol_of_commands_holds_to_all_of_it(server: Server, alice: Any, thread: str) -> None:
    def start(key: str, thread: str, given: dict[str, Any], **options: Any) -> Any:
        params = {"assistant_id": "cor", "input": given, "config": {"configurable": options}}
        command = {"id": 1, "method": "run.start", "params": params}
        return asked(server, f"/threads/{thread}/commands", command, x_api_key=key)[1]

    assert start(BOB, thread, INPUT)["type"] == "error"
    own = alice.threads.create()["thread_id"]
    assert "longer than 4000 characters" in start(ALICE, own, {"question": "x" * 5000})["message"]
    alice.runs.join(own, start(ALICE, own, INPUT, kg=[EVIL])["result"]["run_id"])
    assert f"option kg: '{EVIL}' is not served here" in str(alice.threads.get(own)["error"])


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"question": "x" * 1_000_000}, "the question is longer than 4000 characters; shorten it"),
        (
            INPUT | {"topics": ["Ada"] * 101},
            "there are more than 100 topics; give those that the question is about",
        ),
        (INPUT | {"topics": ["x" * 5000]}, "a topic or the id is longer than 1000 characters; shorten it"),
        (INPUT | {"id": "x" * 5000}, "a topic or the id is longer than 1000 characters; shorten it"),
    ],
    ids=["question", "topics", "topic", "id"],
)
def test_what_is_asked_is_bounded(server: Server, given: dict[str, Any], why: str) -> None:
    body = {"assistant_id": "cor", "input": given}
    assert asked(server, "/runs/wait", body, x_api_key=ALICE) == (422, {"detail": why})


LONG = INPUT | {"question": "x" * 5000}


@pytest.mark.parametrize("pairs", [list(map(list, LONG.items())), [LONG], [], "text", 5], ids=type)
def test_what_is_no_object_is_not_asked(server: Server, alice: Any, pairs: Any) -> None:
    thread = alice.threads.create(graph_id="cor")["thread_id"]

    def refused(path: str, **body: Any) -> tuple[int, Any]:
        return asked(server, path, {"assistant_id": "cor", **body}, x_api_key=ALICE)

    why = (422, {"detail": 'what is asked has to be an object, such as {"question": "..."}'})
    assert refused("/runs/wait", input=pairs) == why
    status, reply = refused(f"/threads/{thread}/runs/wait", command={"update": pairs, "goto": "link"})
    assert status == 422
    assert not isinstance(pairs, list) or reply["detail"].startswith("update has to be an object, not [")
    assert refused(f"/threads/{thread}/state", values=pairs, as_node="__start__")[0] in {400, 422}
    assert alice.threads.get_state(thread)["values"] == {}


def test_a_question_is_bounded_however_it_comes(alice: Any) -> None:
    def message(**given: Any) -> str:
        return str(alice.runs.wait(thread, "cor", raise_error=False, **given)["__error__"]["message"])

    why = "the question is longer than 4000 characters; shorten it"
    thread = alice.threads.create(graph_id="cor")["thread_id"]
    alice.threads.update_state(thread, LONG, as_node="__start__")
    assert message(input=None) == why
    assert message(command={"goto": {"node": "link", "input": LONG}}) == why
    assert alice.runs.wait(thread, "cor", input=INPUT)["outcome"] == "grounded"
    steps = alice.threads.get_history(thread, limit=50)
    verify = next(step["checkpoint"]["checkpoint_id"] for step in steps if step["next"] == ["verify"])
    edit = {"question": LONG["question"], "decision": "backtrack", "candidates": []}
    edited = alice.threads.update_state(thread, edit, as_node="verify", checkpoint_id=verify)
    assert message(input=None, checkpoint_id=edited["checkpoint"]["checkpoint_id"]) == why


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_is_bounded(server: Server, chunked: bool) -> None:
    import httpx

    pieces = (b"x" * 500_000 for _ in range(5))
    try:
        reply = httpx.post(
            f"{server.url}/runs/wait",
            content=pieces if chunked else b"".join(pieces),
            headers={"x-api-key": ALICE},
            timeout=20,
        )
    except httpx.WriteError:
        pytest.skip("the server hung up before the answer could be read")
    assert (reply.status_code, reply.json()) == (413, {"detail": "the request is larger than 2000000 bytes"})


@pytest.mark.skipif(bool(oxigraph.missing()), reason=str(oxigraph.missing()))
def test_a_graph_with_a_password_is_named_without_it(server: Server, alice: Any, endpoint: Proxy) -> None:
    stored = alice.assistants.create("cor", context={"kg": endpoint.url})["assistant_id"]
    thread = alice.threads.create()["thread_id"]
    record = alice.runs.wait(thread, stored, input=INPUT)
    assert (record["outcome"], record["config"]["kg"]) == ("grounded", [endpoint.url])
    sent = "Basic " + b64encode(f"me:{PASSWORD}".encode()).decode()
    assert {request.headers.get("authorization") for request in endpoint.requests} == {sent}
    refused = alice.runs.wait(None, "cor", input=INPUT, context={"kg": EVIL}, raise_error=False)
    assert endpoint.url in refused["__error__"]["message"]
    kept = [alice.threads.get(thread), alice.runs.list(thread), alice.threads.get_history(thread, limit=50)]
    shown = [alice.assistants.get(stored), alice.assistants.get_schemas(stored)]
    assert PASSWORD not in json.dumps([record, refused, kept, shown])
    assert PASSWORD not in server.log.read_text()


@pytest.fixture(scope="module")
def history(alice: Any, thread: str) -> list[Any]:
    states: list[Any] = alice.threads.get_history(thread, limit=50)
    return states


def test_checkpoints_are_where_they_should_be(
    settings: dict[str, str], address: str | None, thread: str
) -> None:
    if address is None:
        assert Path(settings["KGQA_CHECKPOINTS"], "checkpoints.sqlite").is_file()
        return
    import psycopg

    with psycopg.connect(address) as connection:
        [[kept]] = connection.execute(
            "SELECT count(*) FROM checkpoints WHERE thread_id = %s", [thread]
        ).fetchall()
    assert kept >= 8


def test_a_run_may_be_forked_with_another_decision(alice: Any, thread: str, history: list[Any]) -> None:
    state = next(state for state in history if state["next"] == ["verify"])
    edit = {"decision": "backtrack", "candidates": []}
    at = alice.threads.update_state(
        thread, edit, as_node="verify", checkpoint_id=state["checkpoint"]["checkpoint_id"]
    )
    record = alice.runs.wait(thread, "cor", input=None, checkpoint_id=at["checkpoint"]["checkpoint_id"])
    assert [answer["name"] for answer in record["answers"]] == ["Bonn", "Ulm"]


def test_a_run_may_be_run_again_from_any_step(alice: Any, thread: str, history: list[Any]) -> None:
    for node in ("retrieve_relations", "answer"):
        state = next(state for state in history if state["next"] == [node])
        record = alice.runs.wait(
            thread, "cor", input=None, checkpoint_id=state["checkpoint"]["checkpoint_id"]
        )
        assert timeless(record) == timeless(history[0]["values"])


def timeless(record: Any) -> dict[str, Any]:
    return {key: record[key] for key in ("answers", "outcome", "paths", "evidence", "trace", "topics")}


def test_other_agents_talk_to_chat_by_a2a(server: Server, alice: Any) -> None:
    import httpx

    [assistant] = alice.assistants.search(graph_id="chat")
    path = f"/a2a/{assistant['assistant_id']}"

    def call(text: str, method: str = "send", **context: str) -> dict[str, Any]:
        message = {"role": "user", "messageId": "1", "parts": [{"kind": "text", "text": text}], **context}
        return {"jsonrpc": "2.0", "id": 1, "method": f"message/{method}", "params": {"message": message}}

    def said(text: str, key: str = ALICE, **context: str) -> Any:
        return asked(server, path, call(text, **context), x_api_key=key, accept="application/json")[1]

    first = said("Where does Ada live?")["result"]
    at = {"contextId": first["contextId"]}
    second = said("And Ben?", **at)["result"]
    replies = [task["artifacts"][0]["parts"][0]["text"].splitlines()[0] for task in (first, second)]
    assert replies == ["Ada lives in Ulm.", "Ben lives in Bonn."]
    headers = {"x-api-key": ALICE, "accept": "text/event-stream"}
    stream = httpx.post(
        server.url + path, json=call("And Cleo?", "stream", **at), headers=headers, timeout=20
    )
    parts = [json.loads(line[5:])["result"] for line in stream.text.splitlines() if line.startswith("data:")]
    [artifact] = [part["artifact"] for part in parts if part["kind"] == "artifact-update"]
    assert artifact["parts"][0]["text"].startswith("Cleo lives in Ulm.")
    assert "a thread with this id exists already" in said("And Cleo?", BOB, **at)["error"]["message"]
    assert "longer than 4000 characters" in said("x" * 5_000)["error"]["message"]
    for guarded in (path, f"{path}/.well-known/agent-card.json"):
        assert asked(server, guarded)[0] == 401
    card = asked(server, f"{path}/.well-known/agent-card.json", x_api_key=ALICE)[1]
    assert card["description"].startswith("Chat: a conversation")


@pytest.mark.usefixtures("history")
def test_keys_are_written_down_nowhere_but_names_are(server: Server, alice: Any, thread: str) -> None:
    log = server.log.read_text()
    kept = json.dumps([alice.threads.get(thread), alice.runs.list(thread), alice.threads.get_history(thread)])
    assert [key for key in (ALICE, BOB) if key in log + kept] == []
    assert "a run of alice" in log
    assert '"owner": "alice"' in kept


@pytest.mark.parametrize("complaint", ["BlockingError", "nregistered type", "Blocked deserialization"])
def test_the_log_has_no_complaint(server: Server, complaint: str) -> None:
    assert [line for line in server.log.read_text().splitlines() if complaint in line] == []
