"""What else a mention may mean stays in the trace of the node `link`, and a composed query may mean it."""

from collections.abc import Callable

import kgqa
from kgqa.graphs import context_of, graph_of
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.prompts.compose_query import ComposeQuery
from kgqa.tests.support.doubles import shown

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


async def test_a_composed_query_chooses_what_is_meant(graph: Callable[[str], SparqlGraph]) -> None:
    def of_the_film(prompt: ComposeQuery) -> Line:
        seen.append(prompt.case())
        at = [each.chain.hops[0].words for each in prompt.chains].index("directed_by")
        return {"chains": [[at + 1]]}

    seen: list[str] = []
    record = await kgqa.aask("What is Chicago?", kg=graph(TWO), model=ScriptedModel(of_the_film))
    assert 'From "Chicago":\n1. -contained_by-> ?1: "Illinois" (1)' in seen[0]
    assert 'Or from "Chicago", which may be meant instead:\n2. -directed_by-> ?2' in seen[0]
    assert (shown(record), record["outcome"], len(seen)) == (["Rob"], "grounded", 1)
    assert record["topics"] == [{"id": "http://t/e/film", "name": "Chicago"}]
