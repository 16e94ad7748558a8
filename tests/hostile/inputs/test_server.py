"""The server over HTTP: whatever is sent, one answer or one line, and nothing of another caller."""

import asyncio
import json
import random
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.inputs.calling import ALICE, ASKED, JSON, ONE, SECONDS, Caller
from kgqa.tests.hostile.inputs.strings import FOREIGN, MB, PATHS, UNSEEN
from kgqa.tests.integration.serving.asking import Reader
from kgqa.tests.support.servers.langgraph import missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=str(missing()))

REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"input": {**ASKED, "topicz": []}}, "no input is called 'topicz'; there are: id, question, topics"),
    ({"input": {**ASKED, "messages": []}}, "no input is called 'question'; there are: messages"),
    ({"input": {**ASKED, "stack": [], "trace": []}}, "no input is called 'stack'"),
    ({"input": {**ASKED, "a\n\x1b[2Jb": 1}}, "no input is called 'a [2Jb'"),
    ({"context": {"depht": 3}}, "no option is called 'depht'; there are: all_topics, allow_parametric"),
    ({"context": {"tau": 0.5}}, "no option is called 'tau'; there are: all_topics"),
    ({"context": {"__class__": 3}}, "no option is called '__class__'"),
    ({"feedback_keys": ["x"]}, "addresses for feedback are not served here"),
    ({"langsmith_tracer": {"project_name": "mine"}}, "who runs the server says whether runs are traced"),
    ({"config": {"callbacks": ["x"]}}, "callbacks and LangGraph's own keys are not taken"),
    (
        {"config": {"configurable": {"__pregel_runtime": {}}}},
        "callbacks and LangGraph's own keys are not taken",
    ),
    (
        {"config": {"configurable": {"__pregel_checkpointer": 1}}},
        "callbacks and LangGraph's own keys are not",
    ),
    ({"after_seconds": 10**30}, "after_seconds is a number from 0 to 86400"),
    ({"after_seconds": -1}, "after_seconds is a number from 0 to 86400"),
    ({"input": "x" * 10}, "what is asked has to be an object"),
    ({"input": [["question", "x"]]}, "what is asked has to be an object"),
    ({"input": {"question": "x" * 4_001}}, "the question is longer than 4000 characters"),
    ({"input": {**ASKED, "topics": ["x"] * 101}}, "there are more than 100 topics"),
    ({"input": {**ASKED, "id": "x" * 1_001}}, "a topic or the id is longer than 1000 characters"),
    ({"input": None, "command": {"update": {"question": "x" * 4_001}}}, "the question is longer"),
    ({"input": None, "command": {"update": [["question", "x"]]}}, "update has to be an object, not [["),
)


def test_what_would_be_left_out_or_lead_elsewhere_is_refused_in_one_line(
    callers: tuple[Caller, Caller], tried: Tried
) -> None:
    alice, _ = callers
    for given, why in REFUSED:
        answer = alice.ask(**given)
        assert answer.status_code == 422, given
        assert answer.json()["detail"].startswith(why), given
        assert "\n" not in answer.json()["detail"]
    tried(inputs=len(REFUSED))


def test_a_run_calls_no_webhook(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers
    with socket.create_server(("127.0.0.1", 0)) as inside:
        port = inside.getsockname()[1]
        hooks = [
            *(
                f"http://{host}:{port}/x"
                for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "2130706433")
            ),
            *(
                "http://169.254.169.254/latest/meta-data/",
                "/threads",
                "file:///etc/passwd",
                "gopher://127.0.0.1:1/",
            ),
        ]
        for hook in hooks:
            assert alice.ask(webhook=hook).status_code == 422, hook
        inside.settimeout(0.2)
        with pytest.raises(TimeoutError):
            inside.accept()
    tried(inputs=len(hooks))


WRONG: tuple[dict[str, Any], ...] = (
    {"input": {}},
    {"input": {"question": 5}},
    {"input": {"question": None}},
    {"input": {**ASKED, "topics": "Ada"}},
    {"input": {**ASKED, "topics": [[]]}},
    {"input": {**ASKED, "topics": [{"id": 5, "name": None}]}},
    {"input": {**ASKED, "id": {"a": 1}}},
    {"context": {"depth": "x"}},
    {"context": {"budget": {"seconds": -1}}},
    {"context": {"kg": ["/etc/passwd"]}},
    {"context": {"model": "openai:x"}},
    {"config": {"configurable": {"depth": [1]}}},
    {"config": {"configurable": {"encoder": "http://127.0.0.1:1/"}}},
    {"config": {"recursion_limit": -1}},
    {"input": None, "command": {"goto": "answer"}},
    {"input": None, "command": {"goto": [{"node": "answer", "input": {"question": "x", "trace": []}}]}},
    {"input": None, "command": {"goto": {"node": "nobody", "input": 5}}},
)


def test_what_does_not_fit_is_told_in_one_line(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers
    for given in WRONG:
        told = alice.ask(**given).json()["__error__"]
        assert told["message"] and "\n" not in told["message"], given
        assert "pydantic" not in told["message"]
    tried(inputs=len(WRONG))


ODD = (
    *({"assistant_id": text} for text in ("nobody", *PATHS[:2], "", "\x00", 5, None, "x" * 10_000)),
    *({"context": given} for given in ([1], "x", 5)),
    *({"config": given} for given in ([1], "x", {"configurable": [1]}, {"tags": 5})),
    *({"metadata": given} for given in ([1], "x", {"owner": "bob", "created_by": "system", "a": UNSEEN[3]})),
    *({"checkpoint": given} for given in ("x", {"checkpoint_id": "../x"}, {"checkpoint_map": {"a": 1}})),
    *(
        {"command": given}
        for given in ("x", 5, {"update": "x"}, {"resume": "x"}, {"graph": "x", "goto": "y"})
    ),
    *(dict.fromkeys(("multitask_strategy", "stream_mode", "on_completion", "durability"), "nothing"),),
    {"interrupt_before": ["nobody"], "interrupt_after": "*"},
    {"config": {"recursion_limit": 10**30}},
    {"checkpoint_id": "x"},
)


def test_odd_requests_are_answered(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers
    for given in ODD:
        alice.ask(**given)  # type: ignore[arg-type]
    bodies = [
        b"",
        b"hello",
        b"<a/>",
        b"[1]",
        b"\xff\xfe",
        b'{"assistant_id": "cor", "input": {"question": "\\udcff"}}',
        b'{"assistant_id": "cor", "input": {"question": "who"}, "context": {"depth": NaN}}',
        b'{"assistant_id": "cor", "context": {"depth": ' + b"9" * 5_000 + b"}}",
        b'{"assistant_id": "cor", "input": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
        b'{"assistant_id": "cor", "metadata": ' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}",
        b'{"a": "' + b"a" * 3 * MB + b'"}',
    ]
    for body in bodies:
        assert 400 <= alice("POST", "/runs/wait", content=body, headers=JSON).status_code < 500, body[:40]
    for kind in ("text/html", "application/xml", "multipart/form-data", ""):
        alice("POST", "/runs/wait", content=json.dumps(ONE).encode(), headers={"content-type": kind})
    for name in ("../../etc/passwd", "%2e%2e%2f", "x", "%00", "\u202e", "a" * 3_000, "'; DROP TABLE x; --"):
        for path in (
            "/threads/{}",
            "/threads/{}/state",
            "/threads/{}/history",
            "/assistants/{}",
            "/runs/{}",
            "/{}",
        ):
            assert alice("GET", path.format(name)).status_code in (307, 400, 404, 405, 414, 422), (path, name)
    for path in (
        "/store/items",
        "/store/items/search",
        "/runs/crons",
        "/runs/crons/search",
        "/mcp",
    ):
        assert alice(
            "POST", path, json={"namespace": ["x"], "assistant_id": "cor", "schedule": "* * * * *"}
        ).is_error
    tried(inputs=len(ODD) + len(bodies) + 4 + 42 + 5)


def test_every_question_over_http_ends_in_one_record(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers
    texts = [text.encode("utf-8", "replace").decode() for text in (*FOREIGN, *UNSEEN)]
    for text in texts:
        record = alice.ask(input={"question": text, "id": text[:1_000]}).json()
        assert record["outcome"] in ("grounded", "grounded_unverified", "none"), text
        assert record["method"] == "cor"
    tried(inputs=len(texts), questions=len(texts), records=len(texts))


def test_nothing_of_another_caller_is_reached_by_naming_it(
    callers: tuple[Caller, Caller], tried: Tried
) -> None:
    alice, bob = callers
    secret = "Where does Ada's secret twin live?"
    thread = alice("POST", "/threads", json={}).json()["thread_id"]
    body = {"assistant_id": "cor", "input": {"question": secret, "topics": ["Ada"]}}
    assert alice("POST", f"/threads/{thread}/runs/wait", json=body).json()["question"] == secret
    mine = bob("POST", "/threads", json={}).json()["thread_id"]
    assistant = alice("POST", "/assistants", json={"graph_id": "cor", "context": {"depth": 2}}).json()[
        "assistant_id"
    ]
    named = {"thread_id": thread, "checkpoint_ns": "", "langgraph_auth_user_id": "alice", "owner": "alice"}
    runs: list[dict[str, Any]] = [
        {"config": {"configurable": named}},
        {"checkpoint": named},
        {"metadata": named},
        {"config": {"metadata": named}},
        {"input": None, "config": {"configurable": named}},
        {"input": None, "checkpoint": named},
        {"assistant_id": assistant},
    ]
    for given in runs:
        for path in ("/runs/wait", f"/threads/{mine}/runs/wait", f"/threads/{thread}/runs/wait"):
            assert secret not in bob("POST", path, json={**ONE, **given}).text, given
    for path, more in (
        ("history", {}),
        ("state/checkpoint", {}),
        ("state", {"values": {"question": "Mine?"}}),
    ):
        for whose in (mine, thread):
            answer = bob("POST", f"/threads/{whose}/{path}", json={"checkpoint": named, "limit": 10, **more})
            assert secret not in answer.text
    for query in ({"metadata": {"owner": "alice"}}, {"ids": [thread]}, {"values": {"question": secret}}):
        assert thread not in bob("POST", "/threads/search", json=query).text
    kept = alice("GET", f"/threads/{thread}/state").json()
    assert kept["values"]["question"] == secret
    assert kept["metadata"]["owner"] == "alice"
    tried(inputs=3 * len(runs) + 9)


def _start(**params: Any) -> dict[str, Any]:
    return {"id": 1, "method": "run.start", "params": {"assistant_id": "cor", "input": ASKED, **params}}


COMMANDS: tuple[tuple[dict[str, Any], str], ...] = (
    (
        _start(context={"depth": 1}),
        "no parameter is called 'context'; there are: assistant_id, config, input",
    ),
    (_start(webhook="http://127.0.0.1:1/"), "no parameter is called 'webhook'"),
    (_start(interrupt_before=["link"]), "no parameter is called 'interrupt_before'"),
    (_start(depht=3), "no parameter is called 'depht'"),
    (_start(config={"configurable": {"depht": 3}}), "no option is called 'depht'"),
    (_start(config={"configurabel": {}}), "no key of config is called 'configurabel'"),
    (_start(config=5), "config has to be an object, not 5"),
    (_start(metadata=5), "metadata has to be an object, not 5"),
    (_start(multitaskStrategy="x"), "no multitaskStrategy is called 'x'; there are: enqueue"),
    (_start(input={**ASKED, "topicz": []}), "no input is called 'topicz'"),
    (_start(input={"question": "x" * 4_001}), "the question is longer than 4000 characters"),
    (_start(input=[1]), "what is asked has to be an object"),
    ({"id": 1, "method": "run.start", "params": [1]}, "params has to be an object, not [1]"),
    (
        {"id": 1, "method": "input.respond", "params": {"interrupt_id": "x", "webhook": "http://x"}},
        "no parameter is called 'webhook'",
    ),
)


def _refused(answer: Any, why: str) -> bool:
    said = (answer["type"], answer["error"], answer["message"][: len(why)])
    return said == ("error", "invalid_argument", why) and "\n" not in answer["message"]


def test_a_command_that_would_be_left_out_in_part_is_refused_in_one_line(
    callers: tuple[Caller, Caller], tried: Tried
) -> None:
    alice, _ = callers
    thread = alice.thread()
    for command, why in COMMANDS:
        answer = alice("POST", f"/threads/{thread}/commands", json=command)
        assert answer.status_code == 422, command
        assert _refused(answer.json(), why), (command, answer.text)
    assert alice("POST", "/threads/nobody/commands", json=_start()).status_code == 422
    assert alice("POST", "/threads/nobody/stream/events", json={"channels": ["values"]}).status_code == 422
    assert alice("GET", f"/threads/{thread}/runs").json() == []
    taken = alice("POST", f"/threads/{thread}/commands", json=_start(config={"configurable": {"depth": 2}}))
    assert taken.json()["type"] == "success"
    assert _until(lambda: alice("GET", f"/threads/{thread}").json()["status"] == "idle")
    assert alice("GET", f"/threads/{thread}/state").json()["values"]["config"]["depth"] == 2
    tried(inputs=len(COMMANDS) + 2)


LARGE: tuple[tuple[Any, int], ...] = (
    ("x" * 12_000_000, 1009),
    (json.dumps(_start(metadata={"a": "x" * 2_000_000})), 1009),
    ("é" * 1_500_000, 1009),
    (["x" * 1_000_000] * 4, 1009),
    (b"x", 1003),
)


NO_COMMANDS = (
    *(f'{{"id": {id}, "method": "run.start", "params": {{"x": 1}}}}' for id in ("NaN", "1e400", '"\\udcff"')),
    '{"id": 1, "method": "run.start", "params": {"x": ' + "9" * 5_000 + "}}",
    '{"id": {}, "method": "run.start", "params": {"x": 1}}',
    '{"id": 1, "method": "run.start", "params": {"assistant_id": "nobody"}}',
    json.dumps(_start(x=1, metadata={"a": 0})).replace("0", "[" * 1_000 + "]" * 1_000),
)


def test_a_command_of_any_shape_is_refused_in_one_line(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers
    thread = alice.thread()
    for command in NO_COMMANDS:
        answer = alice("POST", f"/threads/{thread}/commands", content=command.encode(), headers=JSON).json()
        assert answer.get("type", "error") == "error", command[:80]
        assert "\n" not in (answer.get("message") or answer["detail"]), command[:80]
    assert alice("GET", f"/threads/{thread}/runs").json() == []
    tried(inputs=len(NO_COMMANDS))


def test_a_run_that_is_not_there_is_joined_by_nobody(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, bob = callers
    thread = alice.thread()
    run = alice.begin(thread, context={})
    assert alice("GET", f"/threads/{thread}/runs/{run}/join").json()["answers"]
    assert bob("GET", f"/threads/{thread}/runs/{run}/join").status_code == 404
    assert alice("DELETE", f"/threads/{thread}/runs/{run}").status_code == 204
    for gone in (run, thread):
        answer = alice("GET", f"/threads/{thread}/runs/{gone}/join")
        assert (answer.status_code, answer.json()) == (404, {"detail": "Run not found"})
    tried(inputs=4)


def test_a_websocket_is_held_to_the_same_bounds(callers: tuple[Caller, Caller], tried: Tried) -> None:
    pytest.importorskip("websockets")
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed, InvalidStatus

    alice, _ = callers
    thread = alice.thread()
    place = alice.server.url.replace("http", "ws")

    def opened(thread: str, **headers: str) -> Any:
        url = f"{place}/threads/{thread}/stream/events"
        return connect(url, additional_headers={"x-api-key": ALICE, **headers})

    async def talk() -> None:
        for message, code in LARGE:
            async with opened(thread) as line:
                with pytest.raises(ConnectionClosed) as closed:
                    await line.send(message)
                    await line.recv()
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == code
        async with opened(thread) as line:
            for command, why in COMMANDS:
                await line.send(json.dumps(command))
                assert _refused(json.loads(await line.recv()), why), command
        for stranger in (opened("nobody"), opened(thread, **{"x-api-key": "not-a-key-of-anybody"})):
            with pytest.raises(InvalidStatus):
                await stranger

    asyncio.run(talk())
    assert alice("GET", f"/threads/{thread}/runs").json() == []
    tried(inputs=len(LARGE) + len(COMMANDS) + 2)


EDITS: tuple[dict[str, Any], ...] = (
    *({"values": {"usage": each}} for each in (5, "x", {"llm_calls": "x"}, {"llm_calls": 1}, [[]])),
    *({"values": {"trace": each}} for each in (5, None, "x", {}, 1.5, True)),
    *({"values": each} for each in ([], [{}], "x", 5)),
    *({"values": {"question": "x"}, "as_node": each} for each in ("nobody", "", 5, "__end__")),
    *({"values": each, "as_node": "__copy__"} for each in ([{"a": 1}], [[{"a": 1}]])),
    *({"values": {}, "checkpoint": each} for each in ({"checkpoint_ns": "a:1"}, {"checkpoint_ns": 5}, "x")),
)

CHAT_EDITS: tuple[Any, ...] = (
    *(
        5,
        {"role": "user"},
        [5],
        [[]],
        [None],
        [["user"]],
        [["nobody", "x"]],
        [{"role": "nobody", "content": "x"}],
    ),
    *(
        [{"role": "user", "content": 5}],
        [{"type": "remove", "id": "nobody"}],
        [{"type": "tool", "content": "x"}],
    ),
    *([{"role": "user", "content": {"a": 1}}]),
)


def _is_one_line(answer: httpx.Response) -> bool:
    return answer.status_code in (400, 404, 409, 422) and "\n" not in answer.json()["detail"]


@pytest.mark.parametrize(
    ("graph", "asked", "edits"),
    [
        ("cor", ASKED, EDITS),
        (
            "chat",
            {"messages": [{"role": "user", "content": "Where does Ada live?"}]},
            [{"values": {"messages": each}} for each in CHAT_EDITS],
        ),
    ],
    ids=["method", "chat"],
)
def test_an_edit_that_does_not_fit_is_refused_in_one_line_and_leaves_the_thread(
    callers: tuple[Caller, Caller], tried: Tried, graph: str, asked: Any, edits: Any
) -> None:
    alice, _ = callers
    thread = alice.thread()
    body = {"assistant_id": graph, "input": asked}
    assert alice("POST", f"/threads/{thread}/runs/wait", json=body).is_success
    before = alice("GET", f"/threads/{thread}/state").json()["values"]
    for edit in edits:
        assert _is_one_line(alice("POST", f"/threads/{thread}/state", json=edit)), edit
        steps = [{"updates": [{"as_node": "answer" if graph == "cor" else "reply", **edit}]}]
        made = {"metadata": {"graph_id": graph, "of": "supersteps"}, "supersteps": steps}
        if isinstance(edit["values"], dict) and edit.keys() == {"values"}:
            assert _is_one_line(alice("POST", "/threads", json=made)), edit
    assert alice("GET", f"/threads/{thread}/state").json()["values"] == before
    assert alice("POST", "/threads/search", json={"metadata": {"of": "supersteps"}}).json() == []
    assert _is_one_line(alice("POST", f"/threads/{thread}/history", json={"before": {"x": 1}}))
    again = alice("POST", f"/threads/{thread}/runs/wait", json=body).json()
    assert "__error__" not in again
    tried(inputs=2 * len(edits))


def test_a_state_that_was_edited_does_not_spoil_the_next_question(
    callers: tuple[Caller, Caller], tried: Tried
) -> None:
    alice, _ = callers
    thread, body = alice.thread(), ONE
    record = alice("POST", f"/threads/{thread}/runs/wait", json=body).json()
    odd: tuple[Any, ...] = (5, "x", [5], [[]], {}, [{"a": 1}], {"__overwrite__": 5})
    spoilt = ("answers", "paths", "evidence", "conditions", "query", "config", "chain", "memory", "stack")
    for key in (*spoilt, "method", "trace", "usage"):
        for value in odd:
            alice("POST", f"/threads/{thread}/state", json={"values": {key: value}})
        again = alice("POST", f"/threads/{thread}/runs/wait", json=body).json()
        assert again.get("answers") == record["answers"], (key, again)
    tried(inputs=12 * len(odd), questions=13, records=13)


def test_threads_are_found_by_their_values(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers
    question = "Where does Ben live?"
    empty, thread = alice.thread(), alice.thread()
    body = {"assistant_id": "cor", "input": {"question": question, "topics": ["Ben"]}}
    assert alice("POST", f"/threads/{thread}/runs/wait", json=body).is_success
    copy = alice("POST", f"/threads/{thread}/copy").json()["thread_id"]

    def found(**values: Any) -> set[str]:
        answer = alice("POST", "/threads/search", json={"values": values, "limit": 1_000})
        assert answer.is_success, values
        assert alice("POST", "/threads/count", json={"values": values}).json() == len(answer.json())
        return {each["thread_id"] for each in answer.json()}

    assert found(question=question) == {thread, copy}
    odd = ({"question": "Who?"}, {"question": {"a": 1}}, {"question": None}, {"a": [1]}, {"": {}})
    assert all(not found(**values) for values in odd)
    assert empty in found()
    tried(inputs=len(odd) + 2)


def _end(alice: Caller, how: str, thread: str, run: str) -> httpx.Response:
    if how == "delete":
        return alice("DELETE", f"/threads/{thread}/runs/{run}")
    if how == "many":
        body = {"thread_id": thread, "run_ids": [run]}
        return alice("POST", "/runs/cancel?action=rollback", json=body)
    wait = "true" if how == "wait" else "false"
    return alice("POST", f"/threads/{thread}/runs/{run}/cancel?action=rollback&wait={wait}")


def _until(done: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + SECONDS
    while not done() and time.monotonic() < deadline:
        time.sleep(0.05)
    return done()


ENDINGS = [(how, when) for how in ("delete", "rollback", "wait", "many") for when in ("waiting", "running")]


@pytest.mark.parametrize(("how", "when"), [*ENDINGS, ("delete", "ended")])
def test_a_run_that_is_deleted_or_rolled_back_leaves_nothing(
    callers: tuple[Caller, Caller], reader: Reader, tried: Tried, how: str, when: str
) -> None:
    alice, bob = callers
    thread = alice.thread()
    first = alice("POST", f"/threads/{thread}/runs/wait", json=ONE).json()
    before = alice("GET", f"/threads/{thread}/state").json()
    reader.hold(1)
    other = alice.begin(thread) if when == "waiting" else ""
    if other:
        assert reader.waiting.wait(SECONDS)
    run = alice.begin(thread)
    if when == "ended":
        reader.release()
        alice("GET", f"/threads/{thread}/runs/{run}/join")
    elif when == "running":
        assert reader.waiting.wait(SECONDS)
    assert _end(bob, how, thread, run).status_code == 404
    assert _end(alice, how, thread, run).is_success
    reader.release()
    if other:
        assert _end(alice, "delete", thread, other).status_code == 204
    assert _until(lambda: alice("GET", f"/threads/{thread}").json()["status"] == "idle")
    assert alice("GET", f"/threads/{thread}/state").json()["values"] == before["values"]
    assert alice.kept(thread, run) == 0
    gone = [
        each["run_id"] for each in alice("GET", f"/threads/{thread}/runs").json() if each["run_id"] == run
    ]
    assert gone == [] or (how == "wait" and when == "waiting")
    assert alice("POST", f"/threads/{thread}/runs/wait", json=ONE).json()["answers"] == first["answers"]
    tried(inputs=2)


def test_a_thread_that_is_deleted_while_it_runs_leaves_nothing(
    callers: tuple[Caller, Caller], reader: Reader, tried: Tried
) -> None:
    alice, bob = callers
    thread = alice.thread()
    reader.hold(2)
    alice.begin(thread)
    assert reader.waiting.wait(SECONDS)
    assert bob("DELETE", f"/threads/{thread}").status_code == 404
    assert alice("DELETE", f"/threads/{thread}").status_code == 204
    reader.release()
    time.sleep(0.5)  # in which the run would go on
    assert alice.kept(thread) == 0
    tried(inputs=2)


def test_a_storm_of_cancels_leaves_no_thread_busy(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers

    def storm(seed: int) -> str:
        chance, thread = random.Random(seed), alice.thread()
        for _ in range(3):
            strategies = chance.choices(["enqueue", "interrupt", "rollback"], k=3)
            runs = [alice.begin(thread, context={"depth": 2}, multitask_strategy=each) for each in strategies]
            time.sleep(chance.random() / 10)
            for run in runs:
                _end(alice, chance.choice(["delete", "rollback", "many"]), thread, run)
        return thread

    with ThreadPoolExecutor(6) as pool:
        threads = list(pool.map(storm, range(8)))
    for thread in threads:
        assert _until(lambda thread=thread: alice("GET", f"/threads/{thread}").json()["status"] != "busy")  # type: ignore[misc]
        known = {run["run_id"] for run in alice("GET", f"/threads/{thread}/runs").json()}
        steps = alice("POST", f"/threads/{thread}/history", json={"limit": 1_000}).json()
        assert {step["metadata"]["run_id"] for step in steps} <= known
        assert alice("POST", f"/threads/{thread}/runs/wait", json=ONE).json()["outcome"] == "grounded"
    tried(inputs=8 * 9)


def test_the_log_has_no_failure_of_the_server(callers: tuple[Caller, Caller]) -> None:
    alice, _ = callers
    log = alice.server.log.read_text()
    assert [line for line in log.splitlines() if "Exception in ASGI" in line or "worker failed" in line] == []
