"""What CoR asks the graph: as little as it can, and what it knows already not at all."""

from collections.abc import Callable
from typing import Any

import pytest

import kgqa
from kgqa.kg.errors import KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.runtime.budget import BudgetExceeded
from kgqa.tests.support.doubles import Flaky
from kgqa.tests.support.guided import FailingVisits, along
from kgqa.tests.unit.graphs.test_cor import FAMILY, at_depth, choose, playing, shown

Open = Callable[[str], SparqlGraph]

ADA, ULM = "http://t/e/ada", "http://t/e/ulm"


async def ask(graph: Any, model: Any, *topics: str, method: str = "cor", **options: Any) -> kgqa.Record:
    return await kgqa.aask(
        "the question", topics=topics or [ADA], kg=graph, model=model, method=method, **options
    )


def queries(record: kgqa.Record) -> int:
    return record["usage"]["kg_queries"]


async def test_a_question_of_one_hop_takes_three_queries(graph: Open) -> None:
    record = await ask(graph(FAMILY), playing(choose("child"), at_depth("stop")))
    assert (shown(record), len(record["evidence"]), queries(record)) == (["Ben", "Cleo"], 2, 3)


@pytest.mark.parametrize(("cross", "n"), [(True, 6), (False, 5)])
async def test_each_hop_more_is_one_query_more(graph: Open, cross: bool, n: int) -> None:
    """Link, two hops, the answers, evidence; and whether the way back leads elsewhere."""
    model = playing(choose("child"), at_depth("forward", "stop"))
    record = await ask(graph(FAMILY), model, cross_mediators=cross)
    assert (shown(record), queries(record)) == (["Dora"], n)


async def test_one_query_tells_of_all_topics(graph: Open) -> None:
    model = playing(
        lambda p: choose("^lives_in" if str(p.chain.topic) == "Ulm" else "child")(p), at_depth("stop")
    )
    record = await ask(graph(FAMILY), model, ADA, ULM, topic_conditions=False)
    assert [topic["name"] for topic in record["topics"]] == ["Ada", "Ulm"]
    assert (shown(record), queries(record)) == (["Cleo"], 4)


async def test_a_topic_as_a_condition_takes_a_proof_instead_of_a_chain(graph: Open) -> None:
    model = playing(choose("child"), at_depth("stop"))
    record = await ask(graph(FAMILY), model, ADA, ULM)
    assert (shown(record), queries(record)) == (["Cleo"], 6)


async def test_an_id_that_the_graph_does_not_know_is_passed_over(graph: Open) -> None:
    record = await ask(graph(FAMILY), playing(choose("child"), at_depth("stop")), "http://t/e/nobody", ADA)
    assert [topic["id"] for topic in record["topics"]] == [ADA]
    assert record["trace"][0]["error"] == "no entity of the graph has the id http://t/e/nobody"


async def test_a_name_that_looks_like_an_id_is_found(graph: Open) -> None:
    named = 'e:re rdfs:label "Re:Zero" ; r:child e:ben . e:ben rdfs:label "Ben" .'
    record = await ask(graph(named), playing(choose("child"), at_depth("stop")), "Re:Zero")
    assert (record["topics"], shown(record)) == ([{"id": "http://t/e/re", "name": "Re:Zero"}], ["Ben"])


@pytest.mark.parametrize("error", [KGTimeout("slow"), KGRejected("no"), KGUnavailable("away")])
async def test_topics_are_linked_where_their_visit_fails(graph: Open, error: Exception) -> None:
    failing = FailingVisits(graph(FAMILY), "ends", error, lambda chain: not chain.hops)
    record = await ask(failing, playing(choose("child"), at_depth("stop")), ADA, ULM)
    assert record["trace"][0]["leads"] == f"left out: {error}"
    assert ([topic["name"] for topic in record["topics"]], shown(record)) == (["Ada", "Ulm"], ["Cleo"])


@pytest.mark.parametrize("error", [KGTimeout("slow"), BudgetExceeded("kg_queries")])
async def test_an_id_is_taken_as_it_is_where_nobody_can_look_it_up(graph: Open, error: Exception) -> None:
    failing = FailingVisits(graph(FAMILY), "ends", error, lambda chain: not chain.hops)
    record = await ask(
        Flaky(failing, "find_entities", error), playing(choose("child"), at_depth("stop")), ADA
    )
    assert record["trace"][0]["leads"] == f"left out: {error}"
    assert "error" not in record["trace"][0]
    assert [topic["id"] for topic in record["topics"]] == [ADA]
    assert shown(record) == ["Ben", "Cleo"]


async def test_ends_are_found_where_what_leads_on_is_too_much(graph: Open) -> None:
    failing = FailingVisits(graph(FAMILY), "hops", KGTimeout("slow"), along("child"))
    record = await ask(failing, playing(choose("child"), at_depth("stop")))
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded")


async def test_facts_that_are_known_are_not_asked_for(graph: Open) -> None:
    """Ada lives in one place only, and so the way to whoever lives there is known."""
    lines = ["lives_in", "^lives_in"]
    model = playing(lambda p: choose(lines[p.chain.depth])(p), at_depth("forward", "stop"))
    whole = Flaky(graph(FAMILY), "trace_answers trace_chain", KGUnavailable("away"))
    record = await ask(whole, model)
    facts = {(fact["head"]["name"], fact["tail"]["name"]) for fact in record["evidence"]}
    assert facts == {("Ada", "Ulm"), ("Cleo", "Ulm"), ("Dora", "Ulm")}
    assert record["paths"][0][0]["tail"]["name"] == "Ulm"


@pytest.mark.parametrize(("relation", "back"), [("employer", False), ("lives_in", True)])
async def test_a_way_that_only_leads_straight_back_is_not_offered(
    graph: Open, relation: str, back: bool
) -> None:
    model = playing(
        lambda p: choose("" if p.chain.hops else relation)(p), at_depth("forward", "backtrack", "backtrack")
    )
    record = await ask(graph(FAMILY), model, allow_parametric=False)
    after = [entry for entry in record["trace"] if entry["node"] == "retrieve_relations"][1]
    assert (after["relations"], after.get("offered", 0)) == (1, int(back))


async def test_nodes_without_names_beside_the_topic_are_gone_on_from(graph: Open) -> None:
    films = 'e:film rdfs:label "Film"@en ; r:starred e:actor . e:other r:starred e:actor ; r:year e:y .\n'
    films += 'e:actor rdfs:label "Actor"@en . e:y rdfs:label "Year"@en .\n'
    lines = ["starred", "^starred", "year"]
    model = playing(lambda p: choose(lines[p.chain.depth])(p), at_depth("forward", "forward", "stop"))
    record = await ask(graph(films), model, "http://t/e/film")
    assert shown(record) == ["Year"]
