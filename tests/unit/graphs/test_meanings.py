"""What else a mention may mean stays in the trace of the node `link`."""

from collections.abc import Callable

from kgqa.graphs import context_of, graph_of
from kgqa.kg.sparql_graph import SparqlGraph

TWO = """
e:film rdfs:label "Chicago" ; r:directed_by e:rob . e:rob rdfs:label "Rob" .
e:city rdfs:label "Chicago" ; r:contained_by e:illinois . e:illinois rdfs:label "Illinois" .
"""


async def test_other_meanings_of_a_topic_are_kept(graph: Callable[[str], SparqlGraph]) -> None:
    context = context_of("cor")(kg=graph(TWO), model="offline")
    record = await graph_of("cor").ainvoke({"question": "Who directed Chicago?"}, context=context)
    link = next(entry for entry in record["trace"] if entry["node"] == "link")
    [film] = link["topics"]
    assert film["id"].endswith("film")
    assert link["meanings"] == {film["id"]: [{"id": "http://t/e/city", "name": "Chicago"}]}
