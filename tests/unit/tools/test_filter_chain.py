"""The tool by which an agent has the graph check conditions."""

from typing import Any

import pytest

from kgqa.kg.opening import open_graph
from kgqa.kg.terms import Chain, Entity
from kgqa.tests.unit.tools.conftest import Write
from kgqa.tools import make_tools
from kgqa.tools.conditions import FilteredChain

TEAM = """
e:team rdfs:label "Team" ; r:roster _:b1, _:b2, _:b3 .
_:b1 r:player e:ann ; r:number 22 . _:b2 r:player e:ben ; r:number 7 . _:b3 r:player e:cy ; r:number 9 .
e:ann rdfs:label "Ann" ; a e:Person ; r:born "1961-05-03" ; r:from e:ulm .
e:ben rdfs:label "Ben" ; a e:Person, e:Star ; r:born "1970" ; r:from e:bonn .
e:cy rdfs:label "Cy" ; a e:Person ; r:born "1985-01-01" ; r:from e:ulm .
e:ben r:height 3 .
e:ulm rdfs:label "Ulm" . e:bonn rdfs:label "Bonn" . e:Person rdfs:label "Person" . e:Star rdfs:label "Star" .
"""
PLAYERS: dict[str, Any] = {"topic": "Team", "hops": ["roster", "player"]}


def where(attribute: str, operator: str, value: str | None = None, **more: Any) -> dict[str, Any]:
    given = {} if value is None else {"value": value}
    return {"attribute": attribute.split(), "operator": operator, **given, **more}


@pytest.mark.parametrize(
    ("conditions", "names"),
    [
        ([], ["Ann", "Ben", "Cy"]),
        ([where("number", ">", "8", after=1)], ["Ann", "Cy"]),
        ([where("number", ">", "8", after=1), where("born", "<", "1970", by="date")], ["Ann"]),
        ([where("born", "year", "1985")], ["Cy"]),
        ([where("from", "=", "<http://t/e/ulm>")], ["Ann", "Cy"]),
        ([where("from", "not exists", "<http://t/e/ulm>")], ["Ben"]),
        ([where("from", "exists")], ["Ann", "Ben", "Cy"]),
        ([where("", "type", "Star")], ["Ben"]),
        ([where("born", "contains", "-05-")], ["Ann"]),
        ([where("from http://www.w3.org/2000/01/rdf-schema#label", "contains", "ul")], ["Ann", "Cy"]),
        ([where("height", "<", "2", unknown=True)], ["Ann", "Cy"]),
    ],
)
async def test_the_graph_checks_conditions(
    turtle: Write, conditions: list[dict[str, Any]], names: list[str]
) -> None:
    assert [str(end) for end in (await filtered(turtle, conditions=conditions)).ends] == names


@pytest.mark.parametrize(
    ("hops", "extreme", "names"),
    [
        (["roster", "player"], {"attribute": ["number"], "after": 1, "largest": True}, ["Ann"]),
        (["roster", "player"], {"attribute": ["born"], "by": "date", "largest": False}, ["Ann"]),
        (["roster", "number"], {"attribute": [], "largest": False}, ["7"]),
        (["roster", "number"], {"attribute": [], "largest": True, "rank": 2}, ["9"]),
    ],
)
async def test_the_graph_computes_extremes(
    turtle: Write, hops: list[str], extreme: dict[str, Any], names: list[str]
) -> None:
    found = await filtered(turtle, hops=hops, conditions=[], extreme=extreme)
    assert [str(end) for end in found.ends] == names
    assert found.aggregate


async def test_other_chains_lead_to_the_same_nodes(turtle: Write) -> None:
    ulm = {"topic": "Ulm", "hops": ["^from"]}
    born = {"attribute": ["born"], "by": "date", "largest": True}
    found = await filtered(turtle, conditions=[], extreme=born, meeting=[ulm])
    assert [str(end) for end in found.ends] == ["Cy"]
    assert found.meeting[0].topic == Entity("http://t/e/ulm")


async def test_what_is_asked_is_in_the_words_of_the_graph(turtle: Write) -> None:
    found = await filtered(turtle, conditions=[where("number", ">", "8", after=1)])
    assert isinstance(found.chain, Chain)
    assert [(each.place, each.words) for each in found.conditions] == [(1, "number > 8")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"conditions": [where("number", ">", "8", after=3)]}, "after takes a number of hops from 1 to 2"),
        ({"conditions": [where("number", ">", "many")]}, "goes with number or date"),
        ({"conditions": [where("number", ">")]}, "goes with number or date"),
        ({"conditions": [where("cousin", "exists")]}, "no relation is called 'cousin'"),
        ({"conditions": [where("", "type", "Planet")]}, "no entity is called 'Planet'"),
        ({"conditions": [where("", "exists")]}, "without an attribute"),
    ],
)
async def test_what_the_graph_cannot_check_is_said(
    turtle: Write, arguments: dict[str, Any], said: str
) -> None:
    tools = {tool.name: tool for tool in make_tools(open_graph([turtle(TEAM)]))}
    assert said in await tools["filter_chain"].ainvoke({**PLAYERS, **arguments})


async def filtered(turtle: Write, **arguments: Any) -> FilteredChain:
    tools = {tool.name: tool for tool in make_tools(open_graph([turtle(TEAM)]))}
    call = {"name": "filter_chain", "args": {**PLAYERS, **arguments}, "id": "1", "type": "tool_call"}
    found: FilteredChain = (await tools["filter_chain"].ainvoke(call)).artifact
    return found


def test_the_schema_says_which_ranks_there_are(turtle: Write) -> None:
    tools = make_tools(open_graph([turtle(TEAM)]))
    schema = next(tool for tool in tools if tool.name == "filter_chain").get_input_jsonschema()
    rank = schema["$defs"]["ExtremeArguments"]["properties"]["rank"]
    assert (rank["minimum"], rank["maximum"]) == (1, 100)
