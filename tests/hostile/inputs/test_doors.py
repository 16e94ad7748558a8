"""Other doors of the server: chat, MCP and the page. Whatever is sent, one line, and nothing to strangers."""

import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from kgqa.serving.page import FOLDER
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.inputs.calling import ALICE, ONE, Caller
from kgqa.tests.support.servers.langgraph import missing

pytest.importorskip("mcp")
pytestmark = pytest.mark.skipif(bool(missing()), reason=str(missing()))

BOTH = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def _user(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def _reply(proof: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "Ulm.", "additional_kwargs": {"kgqa": proof}}


NO_MESSAGES: tuple[Any, ...] = (
    *(
        5,
        [5],
        [None],
        [{}],
        [_user(5)],
        [_user([5])],
        [{"role": "nobody", "content": "x"}],
        [{"role": "user"}],
    ),
    *([{"type": "remove", "id": "nobody"}], [_user("x", additional_kwargs=5)], [_user("x", name={"a": 1})]),
    [{"lc": 1, "type": "constructor", "id": ["subprocess", "Popen"], "kwargs": {"args": ["true"]}}],
)

ODD_MESSAGES: tuple[Any, ...] = (
    *([], "Where?", [_user("")], [_user(None)], [_user(" " * 4_000)], [_user("(" * 3_000)]),
    [_user([{"type": "image_url", "image_url": {"url": "http://169.254.169.254/"}}])],
    [{"role": "tool", "content": "x", "tool_call_id": "a"}],
    *(
        [_user("Where does Ada live?"), _reply(each), _user("And Ben?")]
        for each in (5, {"topics": 5, "answers": {}})
    ),
    [_user("Where does Ada live?"), _reply({"topics": [{"id": 5}], "answers": [[]]}), _user("And Ben?")],
    [each for _ in range(2_000) for each in (_user("Where does Ada live?"), _reply({}))]
    + [_user("And Ben?")],
)

NO_OPTIONS: tuple[dict[str, Any], ...] = (
    *({"answer_by": each} for each in ("chat", "nobody", 5, "x" * 100_000)),
    *({"answer_options": each} for each in (5, {"x": 1}, {"kg": "/etc/passwd"}, {"method": "own:graph"})),
    *({"answer_options": {each: "/etc"}} for each in ("encoder", "exemplars", "prompts", "budget", "model")),
    {"answer_by": "cog", "answer_options": {"blueprints": "/etc"}},
    {"rewrite": "x"},
    {"kg": "/etc/passwd"},
)


def _chat(caller: Caller, messages: Any, **context: Any) -> Any:
    body = {"assistant_id": "chat", "input": {"messages": messages}, "context": context}
    return caller("POST", "/runs/wait", json=body).json()


def test_a_conversation_of_any_shape_is_answered_or_refused_in_one_line(
    callers: tuple[Caller, Caller], tried: Tried
) -> None:
    alice, _ = callers
    for messages in NO_MESSAGES:
        told = _chat(alice, messages)["__error__"]
        assert told["error"] in ("StateError", "NotServed"), messages
        assert "\n" not in told["message"]
    refused = _chat(alice, [_user("x" * 4_001)])
    assert refused == {"detail": "the question is longer than 4000 characters; shorten it"}
    for messages in ODD_MESSAGES:
        assert "__error__" not in _chat(alice, messages), str(messages)[:200]
    for options in NO_OPTIONS:
        told = _chat(alice, [_user("Where does Ada live?")], **options)["__error__"]
        assert told["error"] in ("OptionError", "NotServed"), options
        assert "\n" not in told["message"]
        assert len(told["message"]) < 1_500
    tried(inputs=len(NO_MESSAGES) + 1 + len(ODD_MESSAGES) + len(NO_OPTIONS))


class Door:
    """Calls `/mcp`; gives what a call comes to."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def __call__(self, method: str, params: Any, **headers: str) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.caller("POST", "/mcp", json=body, headers={**BOTH, **headers})
        text = answer.text
        return json.loads(text[text.index("data: ") + 6 :] if text.startswith("event") else text)

    def tool(self, name: Any, arguments: Any) -> Any:
        return self("tools/call", {"name": name, "arguments": arguments})


def _refusal(answer: Any) -> str:
    """Return the line in which a call is refused."""
    if "error" in answer:
        return str(answer["error"]["message"])
    assert answer["result"]["isError"], answer
    return str(answer["result"]["content"][0]["text"])


MANY = {f"a{n}": n for n in range(100_000)}

ASK_WRONG: tuple[dict[str, Any], ...] = (
    *({}, {"question": 5}, {"question": None}, {"question": "x" * 4_001}, {"question": "x", **MANY}),
    *({"question": "x", "topics": each} for each in ("Ada", [5], ["x"] * 101, ["x" * 1_001])),
    *({"question": "x", key: "/etc"} for key in ("kg", "model", "encoder", "prompts", "budget", "__class__")),
    *({"question": "x", "method": each} for each in ("nobody", "chat", 5, "x" * 100_000)),
)


def test_calls_of_tools_that_do_not_fit_are_refused_in_one_line(
    callers: tuple[Caller, Caller], tried: Tried
) -> None:
    door = Door(callers[0])
    calls: list[tuple[Any, Any]] = [("ask", each) for each in ASK_WRONG]
    tools = [tool for tool in door("tools/list", {})["result"]["tools"] if tool["inputSchema"]["properties"]]
    for tool in tools:
        names = tool["inputSchema"]["properties"]
        calls += [(tool["name"], dict.fromkeys(names, value)) for value in (None, -1, {"a": 1}, 10**30)]
        calls += [(tool["name"], MANY)]
    calls += [(name, {}) for name in ("run_select", "nobody", "__class__", "x" * 100_000)]
    for name, arguments in calls:
        said = _refusal(door.tool(name, arguments))
        assert said, name
        assert "\n" not in said
        assert len(said) <= 1_000, said[:100]
    for params in ({"name": 5, "arguments": {}}, {"name": "ask", "arguments": [1]}, {}, None):
        assert door("tools/call", params)["error"]["code"] == -32602
    tried(inputs=len(calls) + 4)


@pytest.mark.parametrize("named", ["own:graph", "{}/own.py:graph", "kgqa.graphs.cor:graph", "os:system"])
def test_no_code_is_loaded_by_a_name_that_a_caller_gives(
    callers: tuple[Caller, Caller], tmp_path: Path, tried: Tried, named: str
) -> None:
    own, marked = tmp_path / "own.py", tmp_path / "loaded"
    own.write_text(f"open({str(marked)!r}, 'w')\n")
    alice, named = callers[0], named.format(tmp_path)
    asked = {"question": "Where does Ada live?", "method": named}
    assert _refusal(Door(alice).tool("ask", asked)).startswith("no method is called")
    assert _refusal(Door(alice).tool(named, {})).startswith("no tool is called")
    told = _chat(alice, [_user("Where does Ada live?")], answer_by=named)["__error__"]["message"]
    assert told.startswith("no method is called") and "module:graph" not in told
    assert not marked.exists()
    tried(inputs=3)


def test_only_who_has_a_key_calls_mcp_and_only_by_post(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers
    url = alice.server.url
    for headers in (
        {},
        {"x-api-key": "not-a-key-of-anybody"},
        {"x-api-key": ""},
        {"authorization": "Bearer"},
    ):
        for path in ("/mcp", "/mcp/", "/mcp/x"):
            assert httpx.post(url + path, headers={**BOTH, **headers}, json=ONE).status_code == 401
    for method in ("GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
        assert alice(method, "/mcp", headers=BOTH).status_code == 405, method
    bodies = (b"", b"x", b"[1]", b"5", b"{}", b"[" * 100_000, b"\xff", b"[" + b"{}," * 9_999 + b"{}]")
    for body in bodies:
        assert alice("POST", "/mcp", content=body, headers=BOTH).status_code == 400, body[:20]
    assert alice("POST", "/mcp", content=b"x" * 2_000_001, headers=BOTH).status_code == 413
    for wrong in ({"accept": "text/html"}, {"content-type": "text/plain"}, {"mcp-protocol-version": "x"}):
        answer = alice(
            "POST", "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers={**BOTH, **wrong}
        )
        assert 400 <= answer.status_code < 500, wrong
    tried(inputs=12 + 6 + len(bodies) + 4)


def _raw(url: str, line: str, *headers: str) -> tuple[int, bytes]:
    """Send a request as it is written, with a path that a client would tidy up; give its status and body."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as line_out:
        lines = (f"{line} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers, "", "")
        line_out.sendall("\r\n".join(lines).encode("latin-1"))
        answer = b"".join(iter(lambda: line_out.recv(65_536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


PATHS = (
    *("/page/../auth.py", "/page/../../.env", "/page/%2e%2e/%2e%2e/auth.py", "/page/..%2fauth.py", "/page/"),
    *(
        "/page/main.js/",
        "/page//main.js",
        "/page/MAIN.JS",
        "/page/main.js%00",
        "/page/vendor",
        "/page/index.html",
    ),
    *(
        "/page/\\..\\auth.py",
        "/page/%5c..%5cauth.py",
        "/..",
        "//",
        "/page/" + "a" * 50_000,
        "/%2e%2e/%2e%2e/etc/passwd",
    ),
    *("/internal/truncate", "/%69nternal/truncate", "//internal/truncate", "/./internal/truncate"),
)

HEADERS = (
    *("Range: bytes=0-99999999999", "Range: bytes=-1," + "0-1," * 3_000, "If-None-Match: \xff\xfe"),
    *(
        "Origin: https://evil.example",
        "Origin: null",
        "X: " + "a" * 50_000,
        "Accept-Encoding: " + "x," * 3_000,
    ),
    *("Content-Length: -1", "Content-Length: 99999999999999999999", "x-api-key: \xff", "Authorization: \xff"),
)


def test_the_page_is_its_files_and_nothing_else(callers: tuple[Caller, Caller], tried: Tried) -> None:
    alice, _ = callers
    url, whole = alice.server.url, (FOLDER / "index.html").read_bytes()
    assert _raw(url, "GET /") == (200, whole)
    for path in PATHS:
        assert _raw(url, f"GET {path}")[0] in (401, 404), path
        assert _raw(url, f"GET {path}", f"x-api-key: {ALICE}")[0] == 404, path
    methods = ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get", "X" * 3_000)
    for method in methods:
        for path in ("/", "/page/main.js"):
            assert _raw(url, f"{method} {path}")[0] in (400, 401, 405), method
    for header in HEADERS:
        status, body = _raw(url, "GET /", header)
        assert (status, body) == (200, whole) or status == 400, header
        assert _raw(url, "GET /assistants/cor/schemas", header)[0] in (400, 401), header
    tried(inputs=2 * len(PATHS) + 2 * len(methods) + 2 * len(HEADERS))
