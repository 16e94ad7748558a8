"""A query of an agent's own is held against what is known of the graph, and the error teaches."""

import pytest
from langchain_core.tools import BaseTool

from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.workshop import R, open_workshop
from kgqa.tools import make_tools


@pytest.fixture(scope="module")
def run_select() -> BaseTool:
    graph: SparqlGraph = open_workshop()
    return next(tool for tool in make_tools(graph) if tool.name == "run_select")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("?t r:made ?m", "r:made is not known; r:madeBy is"),
        ("?m a r:Maker ; r:weight ?w", "which has no r:weight"),
        ("?t r:stock ?s FILTER(?s > 5)", "write xsd:decimal(?s)"),
    ],
)
async def test_what_the_graph_cannot_give_is_refused_with_what_it_has(
    body: str, said: str, run_select: BaseTool
) -> None:
    told = await run_select.ainvoke({"query": f"PREFIX r: <{R}> SELECT * {{ {body} }}"})
    assert said in told
    assert "rows" not in told


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?s ?p ?o } LIMIT 3",
        f"PREFIX r: <{R}> SELECT (SUM(?w) AS ?n) {{ ?t r:weight ?w ; r:madeBy ?m }}",
        f"PREFIX r: <{R}> SELECT ?t {{ ?t r:state 'old' }}",
        "SELECT ?m { VALUES ?m { 'Ulm' } }",
    ],
)
async def test_what_is_only_doubtful_runs(query: str, run_select: BaseTool) -> None:
    assert "row" in await run_select.ainvoke({"query": query})
