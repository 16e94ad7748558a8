"""What else a mention may mean, where it says as much of the question; a composed query may mean it."""

from collections.abc import Callable

import kgqa
from kgqa.graphs import context_of, graph_of
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.prompts.compose_query import ComposeQuery
from kgqa.tests.support.doubles import shown

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
    assert link["alternative_entities"] == {film["id"]: [{"id": "http://t/e/old", "name": "Chicago"}]}


async def test_a_topic_that_is_given_by_its_id_has_no_other_meaning(
    graph: Callable[[str], SparqlGraph],
) -> None:
    context = context_of("cor")(kg=graph(CHICAGOS), model="offline")
    asked = {"question": "Who directed Chicago?", "topics": ["http://t/e/film"]}
    record = await graph_of("cor").ainvoke(asked, context=context)
    assert all("alternative_entities" not in entry for entry in record["trace"])
    assert (shown(record), record["outcome"]) == (["Rob"], "grounded")


async def test_one_that_is_given_by_its_name_may_mean_all_that_have_it(
    graph: Callable[[str], SparqlGraph],
) -> None:
    record = await kgqa.aask("Who directed Chicago?", topics=["Chicago"], kg=graph(CHICAGOS), model="offline")
    unchecked = [each["words"] for each in record["conditions"] if each["by"] is None]
    assert (record["outcome"], unchecked[0]) == ("grounded_unverified", "which Chicago is meant")
    others = {answer["name"] for each in record["alternatives"] for answer in each["answers"]}
    assert {*shown(record), *others} >= {"Rob", "Frank"}


async def test_a_composed_query_chooses_what_is_meant(graph: Callable[[str], SparqlGraph]) -> None:
    def of_the_old_film(prompt: ComposeQuery) -> Line:
        seen.append(prompt.case())
        [old] = [
            number for number, each in enumerate(prompt.chains, 1) if each.chain.topic.id.endswith("old")
        ]
        return {"chains": [[old]]}

    seen: list[str] = []
    model = ScriptedModel(of_the_old_film)
    record = await kgqa.aask("Who directed Chicago?", kg=graph(CHICAGOS), model=model)
    assert 'From "Chicago":\n' in seen[0]
    assert 'Or from "Chicago", which may be meant instead:\n' in seen[0]
    assert (shown(record), record["outcome"], len(seen)) == (["Frank"], "grounded", 1)
    assert record["topics"] == [{"id": "http://t/e/old", "name": "Chicago"}]


async def test_offline_a_relation_that_is_said_tells_a_topic_from_a_value_of_its_name(
    graph: Callable[[str], SparqlGraph],
) -> None:
    towns = "".join(f'e:n{n} a e:Nurse ; rdfs:label "N{n}" ; r:town "Ulm" .' for n in range(3))
    store = graph(f'e:ulm rdfs:label "Ulm" . e:ann a e:Nurse ; rdfs:label "Ann" ; r:area e:ulm . {towns}')
    record = await kgqa.aask("Which nurses work in the area Ulm?", kg=store, model="offline")
    assert (shown(record), record["outcome"]) == (["Ann"], "grounded")
