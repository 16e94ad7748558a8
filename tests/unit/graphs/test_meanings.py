"""What else a mention may mean is kept by the node `link`, where it says as much of the question."""

from collections.abc import Callable

from kgqa.graphs import context_of, graph_of
from kgqa.kg.sparql_graph import SparqlGraph

CHICAGOS = """
e:film rdfs:label "Chicago" ; r:directed_by e:rob ; r:starred e:renee . e:rob rdfs:label "Rob" .
e:old rdfs:label "Chicago" ; r:directed_by e:frank . e:frank rdfs:label "Frank" .
e:city rdfs:label "Chicago" ; r:contained_by e:illinois . e:illinois rdfs:label "Illinois" .
"""


async def test_other_meanings_of_a_topic_are_kept(graph: Callable[[str], SparqlGraph]) -> None:
    context = context_of("cor")(kg=graph(CHICAGOS), model="offline")
    record = await graph_of("cor").ainvoke({"question": "Who directed Chicago?"}, context=context)
    link = next(entry for entry in record["trace"] if entry["node"] == "link")
    [film] = link["topics"]
    assert film["id"].endswith("film")
    assert link["meanings"] == {film["id"]: [{"id": "http://t/e/old", "name": "Chicago"}]}


async def test_a_given_topic_has_no_other_meaning(graph: Callable[[str], SparqlGraph]) -> None:
    context = context_of("cor")(kg=graph(CHICAGOS), model="offline")
    asked = {"question": "Who directed Chicago?", "topics": ["Chicago"]}
    record = await graph_of("cor").ainvoke(asked, context=context)
    assert all("meanings" not in entry for entry in record["trace"])
