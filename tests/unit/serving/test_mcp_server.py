"""The MCP server of a graph, asked by the official client in this process."""

from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult

from kgqa.runtime.record_table import to_markdown
from kgqa.runtime.server_limits import InputLimits, Limits, activate_limits
from kgqa.serving.mcp_server import make_server
from kgqa.tests.support.tables import HUTS

FAMILY = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm .
e:ben rdfs:label "Ben"@en ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en .
e:bonn rdfs:label "Bonn"@en .
"""

CHAIN = {"topic": "Ada", "hops": ["child", "lives_in"]}

CALLS: dict[str, dict[str, Any]] = {
    "ask": {"question": "Where does Ada live?", "topics": ["Ada"]},
    "find_entities": {"name": "ulm"},
    "link_entities": {"question": "Where does Ada live in Ulm?"},
    "describe_entity": {"entity": "Cleo"},
    "list_relations": {"entities": ["Cleo"]},
    "follow_relation": {"entities": ["Cleo"], "relation": "lives_in"},
    "follow_relations": {"steps": [{"entities": ["Cleo"], "relation": "lives_in"}]},
    "extend_chain": {"topic": "Ada", "hops": ["child"]},
    "follow_chain": {**CHAIN, "held": {"1": ["Cleo"]}},
    "visit_chains": {"chains": [CHAIN]},
    "cross_mediators": {"chains": [{"topic": "Ada", "hops": [], "further": ["lives_in"]}]},
    "trace_chain": {**CHAIN, "ends": [{"id": "http://t/e/ulm"}]},
    "check_ends": {**CHAIN, "ends": [{"id": "http://t/e/ulm"}]},
    "chain_attributes": {"chains": [{"topic": "Ada", "hops": ["child"], "relations": {"1": ["lives_in"]}}]},
    "filter_chain": {
        "topic": "Ada",
        "hops": ["lives_in"],
        "conditions": [{"attribute": ["^lives_in"], "operator": "=", "value": "<http://t/e/cleo>"}],
    },
    "list_schema": {},
    "run_select": {"query": "SELECT ?x { <http://t/e/cleo> <http://t/r/lives_in> ?x }"},
}
"""A call of each tool; what it gives has to do with Ulm, or with where somebody lives."""


@pytest.fixture
def options(graph: Callable[[str], Any]) -> dict[str, Any]:
    return {"kg": graph(FAMILY), "model": "offline"}


def text(result: CallToolResult) -> str:
    (content,) = result.content
    return str(content.text)  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_tool_is_described_and_answers(options: dict[str, Any], mode: str) -> None:
    async with Client(make_server(options, sparql=True), mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(CALLS)
        assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools)
        arguments_of = [each for tool in tools for each in tool.input_schema["properties"].values()]
        assert all("type" in each or "$ref" in each or len(each["anyOf"]) > 1 for each in arguments_of)
        assert not any({"type": "null"} in each.get("anyOf", ()) for each in arguments_of)
        for name, arguments in CALLS.items():
            result = await client.call_tool(name, arguments)
            assert not result.is_error, name
            assert "Ulm" in text(result) or "ulm" in text(result) or "lives_in" in text(result), name


async def test_an_answer_has_its_proof(options: dict[str, Any]) -> None:
    async with Client(make_server(options)) as client:
        result = await client.call_tool("ask", {"question": "Where do the children of Ada live?"})
    assert text(result).splitlines()[:1] == [
        "The children of Ada live in Bonn and Ulm (from the graph, if I read you right).",
    ]
    assert "Ada -child-> " in text(result)
    said = result.structured_content
    assert [answer["name"] for answer in said["answers"]] == ["Bonn", "Ulm"]
    assert said["reading"] == "what the child of Ada lives in"
    assert said["outcome"] == "grounded_unverified"
    assert "SELECT" in said["query"]
    assert {fact["tail"]["name"] for fact in said["evidence"]} >= {"Bonn", "Ulm"}
    for number, other in enumerate(said["alternatives"], 2):
        assert f"[{number}] {other['reading']}: " in text(result)
    assert "SELECT" in said["alternatives"][0]["query"]


async def test_null_is_left_out(options: dict[str, Any]) -> None:
    asked = {"question": "Where does Cleo live?", "topics": None, "method": None}
    async with Client(make_server(options)) as client:
        result = await client.call_tool("ask", asked)
    assert not result.is_error, text(result)
    assert result.structured_content["outcome"] == "grounded"


async def test_a_table_is_text_and_structure(options: dict[str, Any]) -> None:
    method = "kgqa.tests.support.tables:graph"
    async with Client(make_server({**options, "min_confidence": 0}, method=method)) as client:
        result = await client.call_tool("ask", {"question": "Which huts are there?"})
    assert to_markdown(HUTS) in text(result)
    assert result.structured_content["table"] == HUTS


async def test_what_is_missing_is_said(options: dict[str, Any]) -> None:
    async with Client(make_server({**options, "min_confidence": 1.0})) as client:
        result = await client.call_tool("ask", {"question": "Who is the dentist of Ada?"})
    assert result.structured_content["outcome"] == "none"
    assert text(result).startswith("No answer found: nothing in the graph")
    assert not result.is_error


async def test_sparql_is_a_tool_only_where_it_is_switched_on(options: dict[str, Any]) -> None:
    async with Client(make_server(options)) as client:
        assert "run_select" not in [tool.name for tool in (await client.list_tools()).tools]
        with pytest.raises(MCPError, match="no tool is called 'run_select'"):
            await client.call_tool("run_select", CALLS["run_select"])


async def test_sparql_is_held_to_reading(options: dict[str, Any]) -> None:
    async with Client(make_server(options, sparql=True)) as client:
        for query in ("DELETE WHERE { ?s ?p ?o }", "SELECT * { SERVICE <http://x/> { ?s ?p ?o } }"):
            result = await client.call_tool("run_select", {"query": query})
            assert result.is_error, query
            assert "\n" not in text(result)
        assert "3" in text(await client.call_tool("run_select", {"query": COUNT}))


COUNT = "SELECT (COUNT(*) AS ?n) { ?s <http://t/r/lives_in> ?o }"


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("ask", {}, "argument question is missing"),
        ("ask", {"question": " "}, "the question is empty; write what you want to know"),
        (
            "ask",
            {"question": "x", "topic": "Ada"},
            "ask has no argument 'topic'; its arguments are: question",
        ),
        ("ask", {"question": "x", "method": "magic"}, "no method is called 'magic'; there are: compose,"),
        ("ask", {"question": "x", "method": "io"}, "No answer: the model is unavailable"),
        (
            "find_entities",
            {"name": "Ada", "limits": 3},
            "find_entities has no argument 'limits'; its arguments",
        ),
        ("find_entities", {"name": "Ada", "limit": 0}, "argument limit: Input should be greater"),
        ("describe_entity", {"entity": "Zoe\nZoe"}, "no entity is called"),
        ("follow_chain", {"topic": "Ada", "hops": ["eats"]}, "no relation is called 'eats'"),
        ("trace_chain", {"topic": "Ada", "hops": ["child"], "ends": [{"id": "no iri"}]}, "argument ends.0"),
    ],
)
async def test_what_is_wrong_is_said_in_one_line(
    options: dict[str, Any], tool: str, arguments: dict[str, Any], why: str
) -> None:
    async with Client(make_server(options)) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert text(result).startswith(why)
    assert "\n" not in text(result)


async def test_an_unknown_tool_is_an_error_of_the_protocol(options: dict[str, Any]) -> None:
    async with Client(make_server(options)) as client:
        with pytest.raises(MCPError, match=r"^no tool is called 'fly'; there are: ask, find_entities, "):
            await client.call_tool("fly", {})


async def test_an_outage_is_told_from_an_empty_result() -> None:
    async with Client(make_server({"kg": "http://127.0.0.1:1/sparql", "model": "offline"})) as client:
        asked = await client.call_tool("ask", {"question": "Where is Ulm?"})
        assert asked.is_error
        assert asked.structured_content["outcome"] == "kg_unavailable"
        assert text(asked).startswith("No answer: the knowledge graph is unavailable (")
        walked = await client.call_tool("find_entities", {"name": "Ulm"})
        assert walked.is_error
        assert "127.0.0.1:1" in text(walked)
        with pytest.raises(MCPError, match=r"127\.0\.0\.1:1"):
            await client.list_tools()


async def test_another_method_takes_the_options_that_it_has(options: dict[str, Any]) -> None:
    given = {**options, "always_ask": True}  # of CoR, not of compose
    async with Client(make_server(given, method="cor")) as client:
        for method, model in (("cor", "cor"), ("compose", "compose"), (None, "cor")):
            result = await client.call_tool("ask", {**CALLS["ask"], **({"method": method} if method else {})})
            assert result.structured_content["method"] == model


@pytest.fixture
def limited() -> Any:
    activate_limits(Limits({"kg_queries": 1}, asked=InputLimits(question=40, topics=1, name=10)))
    yield
    activate_limits(Limits())


@pytest.mark.usefixtures("limited")
async def test_limits_of_a_server_hold(options: dict[str, Any]) -> None:
    async with Client(make_server(options)) as client:
        many = {"chains": [{"topic": f"<http://t/e/e{n}>", "hops": ["child"]} for n in range(60)]}
        result = await client.call_tool("visit_chains", many)
        assert result.is_error
        assert text(result) == "the budget of kg_queries is spent"
        asked = await client.call_tool("ask", {"question": "Where do the children of Ada live?"})
        assert asked.structured_content["stopped_by"] == "kg_queries"
        long = await client.call_tool("ask", {"question": "Ada " * 20})
        assert text(long) == "the question is longer than 40 characters; shorten it"
