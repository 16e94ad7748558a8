"""The server over HTTP: whatever is sent, one answer or one line, and nothing of another caller."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.inputs.strings import FOREIGN, MB, PATHS, UNSEEN
from kgqa.tests.integration.serving.asking import FAMILY
from kgqa.tests.support.servers.langgraph import missing, serving

pytestmark = pytest.mark.skipif(bool(missing()), reason=str(missing()))

ALICE, BOB = "a-key-of-alice-0123", "a-key-of-bob-012345"

ASKED = {"question": "Where does Ada live?", "topics": ["Ada"]}

SECONDS = 30.0
"""That an answer may take; most take a hundredth of one."""

JSON = {"content-type": "application/json"}


class Caller:
    """Calls the server as whoever has a key; no answer is late or a 500."""

    def __init__(self, url: str, key: str) -> None:
        self._client = httpx.Client(base_url=url, headers={"x-api-key": key}, timeout=30)
        self.calls = 0

    def __call__(self, method: str, path: str, **given: Any) -> httpx.Response:
        started = time.perf_counter()
        answer = self._client.request(method, path, **given)
        assert answer.status_code < 500, (method, path[:80], str(given)[:200])
        assert time.perf_counter() - started < SECONDS, (path[:80], str(given)[:200])
        self.calls += 1
        return answer

    def ask(self, **given: Any) -> httpx.Response:
        return self("POST", "/runs/wait", json={"assistant_id": "cor", "input": ASKED, **given})

    def close(self) -> None:
        self._client.close()


@pytest.fixture(scope="module")
def callers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Caller, Caller]]:
    graph: Path = tmp_path_factory.mktemp("graph") / "family.ttl"
    graph.write_text(FAMILY, encoding="utf-8")
    settings = {"KGQA_API_KEYS": f"alice:{ALICE},bob:{BOB}", "KGQA_KG": str(graph), "KGQA_THREADS": "1"}
    with serving(tmp_path_factory.mktemp("server"), **settings) as server:
        alice, bob = Caller(server.url, ALICE), Caller(server.url, BOB)
        opening = {"json": ONE, "headers": {"x-api-key": ALICE}, "timeout": 60}
        assert httpx.post(f"{server.url}/runs/wait", **opening).is_success  # opens graph and encoder
        yield alice, bob
        alice.close()
        bob.close()


ONE = {"assistant_id": "cor", "input": ASKED}

REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"input": {**ASKED, "topicz": []}}, "no input is called 'topicz'; there are: id, question, topics"),
    ({"input": {**ASKED, "stack": [], "trace": []}}, "no input is called 'stack'"),
    ({"input": {**ASKED, "a\n\x1b[2Jb": 1}}, "no input is called 'a [2Jb'"),
    ({"context": {"depht": 3}}, "no option is called 'depht'; there are: ablate_reward, adaptation"),
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
        "/a2a/cor",
    ):
        assert alice(
            "POST", path, json={"namespace": ["x"], "assistant_id": "cor", "schedule": "* * * * *"}
        ).is_error
    tried(inputs=len(ODD) + len(bodies) + 4 + 42 + 6)


def test_every_question_over_http_ends_in_one_record(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers
    texts = [text.encode("utf-8", "replace").decode() for text in (*FOREIGN, *UNSEEN)]
    for text in texts:
        record = alice.ask(input={"question": text, "id": text[:1_000]}).json()
        assert record["outcome"] in ("grounded", "none"), text
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
