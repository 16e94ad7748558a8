"""What docs/mcp.md tells an assistant to start is what ``kgqa mcp`` takes."""

import json
import re
from typing import Any

import pytest
import typer
from mcp import Client

from kgqa.cli import main
from kgqa.serving.mcp_endpoint import MCP_PATH
from kgqa.serving.mcp_server import make_server
from kgqa.tests.unit.docs.test_docs import DOCS, text_of

PAGE = text_of(DOCS / "mcp.md")
SETTINGS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.S)]
SERVERS = [server for settings in SETTINGS for server in settings["mcpServers"].values()]


def test_there_is_one_for_each_assistant() -> None:
    assert re.findall(r"^## (Claude.*|Cursor)$", PAGE, re.M) == ["Claude Desktop", "Claude Code", "Cursor"]
    assert len(SETTINGS) == 3


@pytest.mark.parametrize("server", [server for server in SERVERS if "command" in server])
def test_a_command_is_one_that_kgqa_takes(server: dict[str, Any]) -> None:
    assert server["command"] == "kgqa"
    name, *arguments = server["args"]
    command = typer.main.get_command(main.app).commands[name]  # type: ignore[attr-defined]
    assert command.make_context(name, arguments).params["kg"]


@pytest.mark.parametrize("server", [server for server in SERVERS if "url" in server])
def test_an_address_is_that_of_the_server(server: dict[str, Any]) -> None:
    assert server["url"] == f"http://127.0.0.1:2024{MCP_PATH}"
    assert {name.lower() for name in server["headers"]} <= {"x-api-key", "authorization"}


async def test_the_page_has_every_tool() -> None:
    rows = re.findall(r"^\| (`.*`) \|", PAGE, re.M)
    async with Client(make_server({"kg": "sample", "model": "offline"}, sparql=True)) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(tools)
