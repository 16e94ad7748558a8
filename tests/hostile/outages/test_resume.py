"""A process is killed in the middle of a question; the question goes on, and no prompt is paid again."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import kgqa
from kgqa.graphs import context_of, graph_of
from kgqa.serving.checkpoints import checkpointer
from kgqa.tests.integration.serving.asking import FAMILY, INPUT, MODEL, PROMPTS, Reader, reading
from kgqa.tests.support.servers.langgraph import ROOT, Server, missing, serving

SECONDS = ("seconds", "seconds_llm", "seconds_kg")

MONGOLIA = (
    FAMILY.partition("e:ada")[0]
    + """
e:mongolia rdfs:label "Mongolia"@en ; r:capital e:ub ; r:currency e:tugrik .
e:ub rdfs:label "Ulan Bator"@en .
e:tugrik rdfs:label "Tugrik"@en .
"""
)
"""What the page asks of the sample graph, which takes longer to prepare."""

HELD = 3
"""The prompt in whose middle the process is killed."""

CHILD = """\
import asyncio, json, sys
from kgqa.graphs import context_of, graph_of
from kgqa.serving.checkpoints import checkpointer

async def main(thread, question, options):
    async with checkpointer() as saver:
        graph = graph_of("cor").builder.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": thread}}
        await graph.ainvoke(question, config, context=context_of("cor")(**options), durability="sync")

asyncio.run(main(*json.loads(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def only_model() -> Iterator[Reader]:
    """One model for all, since a process opens a model once by its name."""
    with reading() as reader, pytest.MonkeyPatch.context() as patched:
        patched.setenv("OPENAI_BASE_URL", reader.url)
        yield reader


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    graph: Path = tmp_path_factory.mktemp("graph") / "family.ttl"
    graph.write_text(FAMILY)
    return {"kg": [str(graph)], "model": MODEL}


@pytest.fixture(scope="module")
def undisturbed(only_model: Reader, options: dict[str, Any]) -> dict[str, Any]:
    """What the question ends in when nothing comes between."""
    record = kgqa.ask(**INPUT, method="cor", **options)
    assert record["outcome"] == "grounded"
    assert record["usage"]["llm_calls"] == len(only_model.paid) == PROMPTS
    return timeless(record)


@pytest.fixture
def model(
    only_model: Reader, undisturbed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Reader]:
    """The model, which will hold a prompt."""
    monkeypatch.setenv("OPENAI_BASE_URL", only_model.url)
    only_model.hold(HELD)
    yield only_model
    only_model.release()


def timeless(record: Any) -> dict[str, Any]:
    usage = {name: spent for name, spent in record["usage"].items() if name not in SECONDS}
    return {name: record[name] for name in kgqa.Record.__annotations__} | {"usage": usage}


def paid_in_order(model: Reader) -> list[int]:
    """How often each prompt was paid, in the order in which they came."""
    return list(model.paid.values())


ONCE_BUT_IN_FLIGHT = [2 if place == HELD else 1 for place in range(1, PROMPTS + 1)]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, only_model: Reader) -> dict[str, str]:
    """Settings of a server whose steps and replies outlast it."""
    if missing():
        pytest.skip(str(missing()))
    folder = tmp_path_factory.mktemp("kept")
    (folder / "mongolia.ttl").write_text(MONGOLIA)
    return {
        "KGQA_KG": str(folder / "mongolia.ttl"),
        "KGQA_CHECKPOINTS": str(folder / "checkpoints"),
        "KGQA_CACHE": str(folder / "cache" / "replies.sqlite"),
        "OPENAI_BASE_URL": only_model.url,
    }


@pytest.fixture(scope="module")
def killed(
    kept: dict[str, str],
    only_model: Reader,
    options: dict[str, Any],
    undisturbed: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """A thread whose server was killed in the middle of a prompt."""
    from langgraph_sdk import get_sync_client

    thread = str(uuid4())
    only_model.hold(HELD)
    with (
        serving(tmp_path_factory.mktemp("first"), **kept) as server,
        get_sync_client(url=server.url) as client,
    ):
        client.threads.create(thread_id=thread)
        client.runs.create(thread, "cor", input=INPUT, context=options, durability="sync")
        assert only_model.waiting.wait(30)
        os.kill(server.pid, signal.SIGKILL)
    only_model.release()
    return thread


@pytest.fixture(scope="module")
def server(kept: dict[str, str], killed: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server that comes after it; it knows of no thread."""
    with serving(tmp_path_factory.mktemp("second"), **kept) as running:
        yield running


def blocks(language: str) -> list[str]:
    """Return the code that the page shows."""
    page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_a_server_that_was_killed_goes_on_where_it_was(
    server: Server, killed: str, only_model: Reader, options: dict[str, Any], undisturbed: dict[str, Any]
) -> None:
    shown: dict[str, Any] = {}
    exec(next(code for code in blocks("python") if "def go_on" in code), shown)
    record = shown["go_on"](server.url, killed, "cor", context=options)
    assert paid_in_order(only_model) == ONCE_BUT_IN_FLIGHT
    assert timeless(record) == undisturbed
    assert timeless(shown["go_on"](server.url, killed, "cor", context=options)) == undisturbed
    assert paid_in_order(only_model) == ONCE_BUT_IN_FLIGHT


def test_the_python_of_the_page(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    code = next(code for code in blocks("python") if "threads.get_history" in code)
    exec(code.replace("http://127.0.0.1:2024", server.url), {})
    promised = re.findall(r"print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert len(promised) == 3
    assert capsys.readouterr().out.splitlines() == promised


def test_the_program_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mongolia.ttl").write_text(MONGOLIA)
    monkeypatch.setenv("KGQA_KG", str(tmp_path / "mongolia.ttl"))
    monkeypatch.setenv("KGQA_CHECKPOINTS", str(tmp_path))
    exec(next(code for code in blocks("python") if "asyncio.run" in code), {})
    assert capsys.readouterr().out == "grounded\n"
    assert (tmp_path / "checkpoints.sqlite").is_file()


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_curl_of_the_page(server: Server) -> None:
    [command] = blocks("bash")
    said = subprocess.run(
        ["bash", "-c", command.replace("http://127.0.0.1:2024", server.url)],
        check=True,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "KGQA_KEY": ""},
    )
    record = json.loads(said.stdout)
    assert (record["outcome"], record["config"]["width"]) == ("grounded", 2)


@pytest.mark.parametrize("headers", [{"X-Forwarded-For": "10.0.0.9"}, {"Host": "evil.example"}])
def test_without_keys_only_this_machine_is_served(server: Server, headers: dict[str, str]) -> None:
    request = urllib.request.Request(f"{server.url}/threads", b"{}", headers)
    with pytest.raises(urllib.error.HTTPError, match="403") as refused:
        urllib.request.urlopen(request, timeout=10)
    with refused.value as error:
        assert "set KGQA_API_KEYS" in json.load(error)["detail"]


def test_studio_is_let_in_from_its_own_page(server: Server) -> None:
    studio = {"Origin": "https://smith.langchain.com", "x-auth-scheme": "langsmith", "x-api-key": "its own"}
    request = urllib.request.Request(f"{server.url}/assistants/search", b"{}", studio)
    with urllib.request.urlopen(request, timeout=10) as reply:
        assert reply.headers["Access-Control-Allow-Origin"] == studio["Origin"]
        assert json.load(reply)


@pytest.mark.parametrize("place", ["sqlite", "postgres"])
async def test_a_program_that_was_killed_goes_on_where_it_was(
    model: Reader,
    options: dict[str, Any],
    undisturbed: dict[str, Any],
    place: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = str(tmp_path / "kept") if place == "sqlite" else request.getfixturevalue("postgres")
    monkeypatch.setenv("KGQA_CHECKPOINTS", where)
    thread = str(uuid4())
    await killed_when_held(model, [thread, INPUT, options])
    async with checkpointer() as saver:
        graph = graph_of("cor").builder.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": thread}}
        record = await graph.ainvoke(None, config, context=context_of("cor")(**options))
    assert paid_in_order(model) == ONCE_BUT_IN_FLIGHT
    assert timeless(record) == undisturbed


async def killed_when_held(model: Reader, arguments: list[Any]) -> None:
    """Ask in a process of its own and kill it in the middle of the prompt that is held."""
    child = subprocess.Popen([sys.executable, "-P", "-c", CHILD, json.dumps(arguments)])
    try:
        assert await asyncio.to_thread(model.waiting.wait, 60)
    finally:
        child.kill()
        child.wait()
    model.release()
