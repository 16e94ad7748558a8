"""The tool that lists the relations of a graph."""

from kgqa.kg.opening import open_graph
from kgqa.kg.terms import Hop
from kgqa.tests.unit.tools.conftest import Give, Say, Write
from kgqa.tools import make_tools
from kgqa.tools.text import MAX_LINES


async def test_list_schema_says_every_relation_once(say: Say) -> None:
    """Two relations are called age here; the id of each is said."""
    headline, *lines = (await say("list_schema")).split("\n1 kind of things in the graph:")[0].splitlines()
    assert headline == "5 relations in the graph:"
    assert [line.split()[1] for line in lines] == [
        *("http://t/r/age", "http://t/r/child", "http://t/r/lives_in", "http://t/r/note", "http://t/s/age"),
    ]


async def test_list_schema_gives_hops_along_the_arrow(give: Give) -> None:
    page = await give("list_schema")
    assert (len(page), page.truncated) == (5, False)
    assert Hop("http://t/r/lives_in") in list(page)
    assert all(hop.forward for hop in page)


async def test_list_schema_leaves_out_labels_and_types(give: Give) -> None:
    assert not any("label" in hop.relation or "type" in hop.relation for hop in await give("list_schema"))


async def test_list_schema_gives_all_where_it_says_the_first(turtle: Write) -> None:
    many = "\n".join(f"e:a r:r{number:03} e:b ." for number in range(MAX_LINES + 5))
    tools = {tool.name: tool for tool in make_tools(open_graph([turtle(many)]))}
    said = str(await tools["list_schema"].ainvoke({}))
    assert said.splitlines()[0] == f"{MAX_LINES + 5} relations in the graph:"
    assert said.splitlines()[-1] == "- ... and 5 others"
    call = {"name": "list_schema", "args": {}, "id": "call", "type": "tool_call"}
    assert len((await tools["list_schema"].ainvoke(call)).artifact) == MAX_LINES + 5


async def test_a_graph_of_names_alone_has_no_relations(turtle: Write) -> None:
    tools = {tool.name: tool for tool in make_tools(open_graph([turtle('e:a rdfs:label "A" .')]))}
    assert await tools["list_schema"].ainvoke({}) == "0 relations in the graph"
