"""How tools read what a caller names, and how they fail."""

from typing import Any

import pytest
from langchain_core.tools import ToolException

from kgqa.kg.errors import KGError, KGTimeout, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Entity, Hop, NodeConstraint
from kgqa.tests.support.wikidata import FACTS
from kgqa.tests.unit.tools.conftest import Say, Tools, Write
from kgqa.tools import make_tools
from kgqa.tools.arguments import resolve_chain, resolve_entity

TWINS = """
e:anna rdfs:label "Anna Karlsson" ; r:age 7 ; <http://t/s/age> 8 ; r:child e:per .
e:anne rdfs:label "Anna Karlsen" .
e:per rdfs:label "Per: Gynt" .
e:zero rdfs:label "Re:Zero" ; r:child e:per .
"""


@pytest.fixture
def family(turtle: Write) -> SparqlGraph:
    return open_graph([turtle(TWINS)])


@pytest.mark.parametrize(
    "text", ["Anna Karlsson", "anna karlsson", "http://t/e/anna", "<http://t/e/anna>", "anna"]
)
async def test_an_entity_is_named_by_name_or_id(family: SparqlGraph, text: str) -> None:
    assert (await resolve_entity(family, text)).id == "http://t/e/anna"


async def test_an_unknown_name_is_an_error_that_names_the_nearest(family: SparqlGraph) -> None:
    with pytest.raises(ToolException) as error:
        await resolve_entity(family, "Anna Kurlsin")
    assert str(error.value).startswith("no entity is called 'Anna Kurlsin'; the nearest are: ")
    assert "Anna Karlsson <http://t/e/anna>" in str(error.value)


async def test_where_nothing_is_near_nothing_is_named(family: SparqlGraph) -> None:
    with pytest.raises(ToolException, match=r"no entity is called 'Xylophone'$"):
        await resolve_entity(family, "Xylophone")


async def hop_named(graph: SparqlGraph, text: str) -> Hop:
    return (await resolve_chain(graph, "http://t/e/anna", [text])).hops[0]


@pytest.mark.parametrize("text", ["child", "http://t/r/child"])
async def test_a_relation_is_named_by_local_name_or_id(family: SparqlGraph, text: str) -> None:
    hop = await hop_named(family, text)
    assert (hop.relation, hop.forward) == ("http://t/r/child", True)


async def test_a_caret_turns_a_relation_around(family: SparqlGraph) -> None:
    assert not (await hop_named(family, "^child")).forward
    assert not (await hop_named(family, "^http://t/r/child")).forward


@pytest.mark.parametrize("text", ["cousin", "", "^", "child > ?x . ?x", "label"])
async def test_an_unknown_relation_is_an_error_that_says_where_to_look(
    family: SparqlGraph, text: str
) -> None:
    with pytest.raises(ToolException, match=r"no relation is called .*; use list_relations"):
        await hop_named(family, text)


async def test_a_local_name_of_two_relations_is_refused(family: SparqlGraph) -> None:
    with pytest.raises(ToolException, match="several relations are called 'age'"):
        await hop_named(family, "age")


@pytest.mark.parametrize(
    ("text", "relation"),
    [("P39", "direct/P39"), ("wdt:P39", "direct/P39"), ("p:P39", "P39"), ("child", "direct/P40")],
)
async def test_a_relation_of_wikidata_is_named_by_its_property_or_its_words(
    turtle: Write, text: str, relation: str
) -> None:
    chain = await resolve_chain(open_graph([turtle(FACTS)]), "Q1", [text])
    assert str(chain.topic) == "Adda Noll"
    assert chain.hops == (Hop(f"http://www.wikidata.org/prop/{relation}"),)


async def test_a_chain_is_named_by_its_topic_and_hops(family: SparqlGraph) -> None:
    chain = await resolve_chain(family, "Per: Gynt", ["^child", "child"])
    assert str(chain.topic.id) == "http://t/e/per"
    assert [hop.forward for hop in chain.hops] == [False, True]


async def test_a_chain_is_held_to_entities_named_by_name_or_id(family: SparqlGraph) -> None:
    held = {2: ["Re:Zero", "<http://t/e/anna>", "Anna Karlsson"]}
    chain = await resolve_chain(family, "Per: Gynt", ["^child", "child", "^child"], held)
    anna, zero = Entity("http://t/e/anna"), Entity("http://t/e/zero")
    assert chain.constraints == (NodeConstraint(2, (anna, zero)),)


@pytest.mark.parametrize("held", [{0: ["anna"]}, {2: ["anna"]}, {1: []}, {-1: ["anna"]}])
async def test_what_does_not_fit_the_hops_is_said(family: SparqlGraph, held: dict[int, list[str]]) -> None:
    with pytest.raises(ToolException, match="held takes numbers of hops from 1 to 1, each with entities"):
        await resolve_chain(family, "Per: Gynt", ["^child"], held)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("describe_entity", {"entity": "Nobody"}),
        ("list_relations", {"entities": ["Ulm", "Nobody"]}),
        ("follow_relation", {"entities": ["Ulm", "Nobody"], "relation": "child"}),
        ("follow_relation", {"entities": ["Ulm"], "relation": "cousin"}),
        ("extend_chain", {"topic": "Nobody", "hops": []}),
        ("follow_chain", {"topic": "Ulm", "hops": ["cousin"]}),
        ("follow_chain", {"topic": "Ulm", "hops": ["^lives_in"], "held": {"1": ["Nobody"]}}),
        ("trace_chain", {"topic": "Nobody", "hops": ["child"], "ends": []}),
        ("check_ends", {"topic": "Nobody", "hops": ["child"], "ends": []}),
        ("chain_attributes", {"chains": [{"topic": "Nobody", "hops": ["child"]}]}),
        ("filter_chain", {"topic": "Nobody", "hops": ["child"], "conditions": []}),
        (
            "chain_attributes",
            {"chains": [{"topic": "Ulm", "hops": ["^lives_in"], "relations": {"1": ["cousin"]}}]},
        ),
    ],
)
async def test_every_tool_tells_the_caller_of_unknown_names(
    say: Say, tool: str, arguments: dict[str, Any]
) -> None:
    assert (await say(tool, **arguments)).startswith(("no entity is called", "no relation is called"))


@pytest.mark.parametrize(
    "query",
    [
        "INSERT DATA { <http://a/a> <http://a/b> 1 }",
        "DELETE WHERE { ?s ?p ?o }",
        "DROP ALL",
        "LOAD <http://a/b>",
        "SELECT * { SERVICE <http://a/b> { ?s ?p ?o } }",
        "SELECT * FROM <http://a/b> { ?s ?p ?o }",
        "SELECT * {",
        "",
    ],
)
async def test_run_select_only_reads_this_graph(say: Say, query: str) -> None:
    assert "rows of" not in await say("run_select", query=query)
    assert (await say("find_entities", name="Ulm")).startswith("1 entity")


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("find_entities", {"name": "x"}),
    ("link_entities", {"question": "x"}),
    ("describe_entity", {"entity": "http://t/e/a"}),
    ("list_relations", {"entities": ["http://t/e/a"]}),
    ("follow_relation", {"entities": ["http://t/e/a"], "relation": "http://t/r/b"}),
    ("follow_relations", {"steps": [{"entities": ["http://t/e/a"], "relation": "http://t/r/b"}]}),
    ("extend_chain", {"topic": "http://t/e/a", "hops": []}),
    ("follow_chain", {"topic": "http://t/e/a", "hops": ["http://t/r/b"]}),
    ("visit_chains", {"chains": [{"topic": "http://t/e/a", "hops": ["http://t/r/b"]}]}),
    ("cross_mediators", {"chains": [{"topic": "http://t/e/a", "hops": [], "further": ["http://t/r/b"]}]}),
    ("trace_chain", {"topic": "http://t/e/a", "hops": ["http://t/r/b"], "ends": [{"id": "http://t/e/c"}]}),
    ("check_ends", {"topic": "http://t/e/a", "hops": ["http://t/r/b"], "ends": [{"id": "http://t/e/c"}]}),
    ("chain_attributes", {"chains": [{"topic": "http://t/e/a", "hops": ["http://t/r/b"]}]}),
    ("filter_chain", {"topic": "http://t/e/a", "hops": ["http://t/r/b"], "conditions": []}),
    ("run_select", {"query": "ASK {}"}),
]


class BrokenGraph:
    """A graph of which every operation fails."""

    def __init__(self, error: KGError) -> None:
        self.error = error

    def __getattr__(self, name: str) -> Any:
        async def fail(*_: Any, **__: Any) -> Any:
            raise self.error

        return fail


@pytest.mark.parametrize("error", [KGTimeout("too slow"), KGUnavailable("not there")], ids=repr)
@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=[tool for tool, _ in CALLS])
async def test_a_failure_of_the_graph_is_passed_on(
    error: KGError, tool: str, arguments: dict[str, Any]
) -> None:
    graph: Any = BrokenGraph(error)
    tools = {made.name: made for made in make_tools(graph)}
    with pytest.raises(type(error), match=str(error)):
        await tools[tool].ainvoke(arguments)


def test_a_failure_is_tried_with_every_tool_that_asks_the_graph(tools: Tools) -> None:
    assert [tool for tool, _ in CALLS] == [tool for tool in tools if tool != "list_schema"]


# Names that look like something else.


async def test_a_name_with_a_colon_is_a_name(family: SparqlGraph) -> None:
    assert (await resolve_entity(family, "Re:Zero")).id == "http://t/e/zero"


async def test_what_is_no_blank_node_is_an_unknown_name(family: SparqlGraph) -> None:
    with pytest.raises(ToolException, match="no entity"):
        await resolve_entity(family, "_:b0 } ?x")


async def test_a_relation_may_be_copied_with_its_brackets(family: SparqlGraph) -> None:
    assert (await hop_named(family, "<http://t/r/child>")).relation == "http://t/r/child"


@pytest.mark.parametrize("limit", [0, -5])
async def test_a_limit_of_nothing_is_a_mistake_in_the_arguments(say: Say, limit: int) -> None:
    with pytest.raises(ValueError, match="limit"):
        await say("describe_entity", entity="Ulm", limit=limit)
