"""The official MCP client, over stdio with ``kgqa mcp`` and over HTTP with the real server."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from kgqa.tests.integration.serving.asking import INPUT, MODEL, PROMPTS, Reader
from kgqa.tests.support.servers.langgraph import Server, missing, serving

pytestmark = pytest.mark.skipif(bool(missing()), reason=str(missing()))

ALICE = "a-key-of-alice-0123"

CHAINS = {"chains": [{"topic": f"<http://t/e/e{n}>", "hops": ["child"]} for n in range(120)]}
"""More chains than a capped call may visit."""


def command(kg: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "kgqa.cli.main", "mcp", "--kg", str(kg), *arguments]


@asynccontextmanager
async def over_stdio(
    kg: Path, *arguments: str, mode: str = "auto", **environment: str
) -> AsyncIterator[Client]:
    first, *rest = command(kg, *arguments)
    process = StdioServerParameters(command=first, args=rest, env={**os.environ, **environment})
    async with Client(process, mode=mode) as client:
        yield client


async def cancel(client: Client, model: Reader, question: str) -> None:
    """Ask, cancel at the second prompt, and ask something else: the model is asked no third time."""
    model.hold(2)
    asked = {"question": question, "topics": ["Ada"], "method": "cor"}
    call = asyncio.create_task(client.call_tool("ask", asked))
    assert await asyncio.to_thread(model.waiting.wait, 20)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.sleep(0.3)
    model.release()
    walked = await client.call_tool("follow_chain", {"topic": "Ada", "hops": ["child"]})
    await asyncio.sleep(0.5)
    assert not walked.is_error
    assert sum(model.paid.values()) == 2


class TestStdio:
    async def test_a_graph_is_served_to_the_official_client(self, kg: Path) -> None:
        async with over_stdio(kg, "--sparql", KGQA_MODEL="offline") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            asked = await client.call_tool("ask", {"question": INPUT["question"]})
            walked = await client.call_tool("follow_chain", {"topic": "Ada", "hops": ["child"]})
            counted = await client.call_tool("run_select", {"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"})
            with pytest.raises(MCPError, match="no tool is called 'fly'; there are: ask, "):
                await client.call_tool("fly", {})
        assert names[0] == "ask"
        assert names[-1] == "run_select"
        assert asked.content[0].text.startswith("The children of Ada live in Bonn and Ulm")
        assert "Cleo <http://t/e/cleo>" in walked.content[0].text
        assert '"11"' in counted.content[0].text

    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    async def test_a_call_that_is_cancelled_asks_no_more(self, kg: Path, model: Reader, mode: str) -> None:
        settings = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model.url}
        async with over_stdio(kg, "--model", MODEL, mode=mode, **settings) as client:
            await cancel(client, model, f"Where do Ada's children live ({mode})?")

    def test_stdout_belongs_to_the_protocol_and_the_end_of_stdin_ends_it(self, kg: Path) -> None:
        requests = [
            {"id": 1, "method": "initialize", "params": INITIALIZE},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
            {"id": 3, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "Ada?"}}},
        ]
        lines = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests)
        with subprocess.Popen(
            command(kg), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin
            assert process.stdout
            process.stdin.write(lines)
            process.stdin.flush()
            replies = [json.loads(process.stdout.readline()) for _ in range(3)]
            process.stdin.close()
            assert process.wait(20) == 0
            assert process.stdout.read() == ""
        assert {reply["id"] for reply in replies} == {1, 2, 3}
        assert all("result" in reply for reply in replies)

    @pytest.mark.parametrize(
        ("arguments", "status", "why"),
        [
            (("--kg", "nowhere.nt"), 3, "nowhere.nt"),
            (("--kg", "http://127.0.0.1:1/sparql"), 3, "127.0.0.1:1"),
            (("--method", "magic"), 2, "no method is called 'magic'"),
            (("--option", "width"), 2, "an option is written key=value"),
        ],
    )
    def test_what_cannot_be_served_is_said_in_one_line(
        self, tmp_path: Path, arguments: tuple[str, ...], status: int, why: str
    ) -> None:
        words = [sys.executable, "-P", "-m", "kgqa.cli.main", "mcp", *arguments]
        done = subprocess.run(words, cwd=tmp_path, input="", capture_output=True, text=True, timeout=60)
        assert done.returncode == status
        assert why in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""


INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, kg: Path, model: Reader) -> Iterator[Server]:
    settings = {
        "KGQA_API_KEYS": f"alice:{ALICE}",
        "KGQA_CAP_KG_QUERIES": "8",
        "KGQA_KG": str(kg),
        "KGQA_MODEL": MODEL,
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": model.url,
    }
    with serving(tmp_path_factory.mktemp("server"), **settings) as running:
        yield running


@asynccontextmanager
async def over_http(server: Server, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        create_mcp_http_client(headers=named) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


class TestServer:
    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    async def test_the_graph_is_served_to_who_has_a_key(
        self, server: Server, model: Reader, mode: str
    ) -> None:
        model.paid.clear()
        async with over_http(server, mode, x_api_key=ALICE) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            asked = await client.call_tool("ask", {"question": INPUT["question"], "method": "cor"})
            walked = await client.call_tool("follow_chain", {"topic": "Ada", "hops": ["child"]})
            wrong = await client.call_tool("describe_entity", {"entity": "Zoe"})
        assert names[0] == "ask"
        assert asked.content[0].text.startswith("The children of Ada live in Bonn and Ulm")
        assert sum(model.paid.values()) == PROMPTS
        assert "Cleo <http://t/e/cleo>" in walked.content[0].text
        assert wrong.is_error
        assert wrong.content[0].text.startswith("no entity is called 'Zoe'")

    async def test_free_sparql_is_not_served_unless_the_operator_says_so(self, server: Server) -> None:
        async with over_http(server, authorization=f"Bearer {ALICE}") as client:
            with pytest.raises(MCPError, match="no tool is called 'run_select'"):
                await client.call_tool("run_select", {"query": "ASK { ?s ?p ?o }"})

    def test_nobody_comes_in_without_a_key(self, server: Server) -> None:
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"accept": "application/json, text/event-stream"}
        for headers in ({}, {"x-api-key": "a-key-of-mallory-1"}):
            for path in ("/mcp", "/mcp/"):
                reply = httpx.post(server.url + path, json=listing, headers={**accept, **headers})
                assert reply.status_code == 401
                assert "key" in reply.json()["detail"]
        allowed = httpx.post(f"{server.url}/mcp", json=listing, headers={**accept, "x-api-key": ALICE})
        assert allowed.status_code == 200

    async def test_caps_hold(self, server: Server) -> None:
        async with over_http(server, x_api_key=ALICE) as client:
            walked = await client.call_tool("visit_chains", CHAINS)
            asked = await client.call_tool("ask", {"question": INPUT["question"] * 400})
        assert walked.is_error
        assert walked.content[0].text == "the budget of kg_queries is spent"
        assert asked.is_error
        assert asked.content[0].text == "the question is longer than 4000 characters; shorten it"

    async def test_a_call_that_is_cancelled_asks_no_more(self, server: Server, model: Reader) -> None:
        async with over_http(server, x_api_key=ALICE) as client:
            await cancel(client, model, "Where do Ada's children live, over HTTP?")
        assert "Exception in ASGI" not in server.log.read_text()

    async def test_two_clients_at_once_who_cancel_some_leave_no_failure_in_the_log(
        self, server: Server
    ) -> None:
        async def walk() -> list[Any]:
            async with over_http(server, x_api_key=ALICE) as client:
                steps = ({"topic": name, "hops": ["lives_in"]} for name in ("Ada", "Ben", "Cleo") * 8)
                calls = [asyncio.create_task(client.call_tool("follow_chain", step)) for step in steps]
                await asyncio.sleep(0.05)
                for call in calls[::5]:
                    call.cancel()
                return await asyncio.gather(*calls, return_exceptions=True)

        for done in await asyncio.gather(walk(), walk()):
            answered = [each for each in done if not isinstance(each, asyncio.CancelledError)]
            assert len(answered) >= 19
            assert all("at the end" in each.content[0].text for each in answered)
        assert "Exception in ASGI" not in server.log.read_text()


async def test_sparql_is_served_where_the_operator_says_so(tmp_path: Path, kg: Path) -> None:
    with serving(tmp_path, KGQA_KG=str(kg), KGQA_MCP_SPARQL="true") as server:
        async with over_http(server) as client:
            read = await client.call_tool("run_select", {"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"})
            write = await client.call_tool("run_select", {"query": "CLEAR ALL"})
    assert '"11"' in read.content[0].text
    assert write.is_error


def test_a_setting_that_is_neither_yes_nor_no_is_refused() -> None:
    from kgqa.serving.settings import read_mcp_sparql

    assert [read_mcp_sparql({"KGQA_MCP_SPARQL": said}) for said in ("true", "1", "false", "")] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(ValueError, match="write true or false, not 'perhaps'"):
        read_mcp_sparql({"KGQA_MCP_SPARQL": "perhaps"})
