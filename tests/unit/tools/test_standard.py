"""What LangChain asks of every tool (`langchain-tests`): those of agents and of nodes, and `as_tool`."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from langchain_core.tools import BaseTool

import kgqa
from kgqa.graphs import context_of
from kgqa.runtime.resources import open_resources
from kgqa.sync import run_sync
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.unit.tools.test_arguments import CALLS

pytest.importorskip("langchain_tests")

from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

PAIR = """
e:a a e:P ; rdfs:label "Ann"@en ; r:b e:c ; r:n 7 .
e:c a e:P ; rdfs:label "Cy"@en ; r:n 8 .
e:P rdfs:label "Pal" .
"""

ANN, CY, B = {"id": "http://t/e/a"}, {"id": "http://t/e/c"}, "http://t/r/b"

WALK = {"branches": [{"chain": {"topic": ANN, "hops": [{"relation": B}]}, "places": [1]}], "returned": 1}

SELECT = f"SELECT ?end {{ <{ANN['id']}> <{B}> ?end }}"

FOR_NODES: dict[str, dict[str, Any]] = {
    "prove_answers": {"query": WALK},
    "trace_answers": {"query": WALK, "answers": [CY], "depths": {0: 1}},
    "describe_schema": {"classes": ["http://t/e/P"]},
    "list_members": {"classes": ["http://t/e/P"]},
    "schema_size": {},
    "check_query": {"query": SELECT.replace(B, "http://t/r/x"), "known": [], "classes": []},
    "run_query": {"query": SELECT},
    "has_rows": {"query": SELECT, "relation": B, "instead": "http://t/r/x"},
    "explain_empty": {"query": SELECT.replace(B, "http://t/r/x")},
    "compare_at_limit": {"query": f"{SELECT} ORDER BY ?end LIMIT 1"},
    "name_entities": {"ids": [ANN["id"]]},
    "trace_rows": {"query": SELECT, "rows": [{"end": CY}]},
    "list_languages": {},
    "retrieve_chains": {"question": "What is b of Ann?", "starts": [{"topic": ANN, "hops": []}]},
}

EXAMPLES = {**dict(CALLS), "list_schema": {}, **FOR_NODES, "ask": {"question": "What is the b of Ann?"}}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, BaseTool]:
    """The tools that `compose` has for its nodes, and kgqa as a tool."""
    path: Path = tmp_path_factory.mktemp("graph") / "pair.ttl"
    path.write_text(PREFIXES + PAIR)
    context = context_of("compose")(kg=str(path), model="offline")
    return {**run_sync(open_resources(context)).tools, "ask": kgqa.as_tool(kg=str(path), model="offline")}


def test_every_tool_has_an_example(opened: dict[str, BaseTool]) -> None:
    assert opened.keys() == EXAMPLES.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_a_tool_gives_can_be_sent_to_who_listens(opened: dict[str, BaseTool], name: str) -> None:
    call = {"type": "tool_call", "name": name, "args": EXAMPLES[name], "id": "1"}
    dumped = opened[name].invoke(call).model_dump()
    orjson.dumps(dumped, default=lambda unknown: None, option=orjson.OPT_NON_STR_KEYS)


class EachTool:
    """One tool after the other, as LangChain's tests ask for it."""

    tool_constructor: Any = None
    tool_invoke_params_example: Any = None

    @pytest.fixture(autouse=True, params=EXAMPLES)
    def _choose(self, request: pytest.FixtureRequest, opened: dict[str, BaseTool]) -> None:
        self.tool_constructor = opened[request.param]
        self.tool_invoke_params_example = EXAMPLES[request.param]


class TestUnit(EachTool, ToolsUnitTests):
    pass


class TestIntegration(EachTool, ToolsIntegrationTests):
    pass
