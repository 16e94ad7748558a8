"""Answers are looked for on the graph, where the record's paths lead."""

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import kgqa
from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.grounding import (
    MAX_CONCURRENT_RESULTS,
    MAX_PATH_HOPS,
    check_grounding,
    result_key,
)
from kgqa.kg.errors import KGTimeout, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity
from kgqa.tests.support.perfect import DATA, PerfectModel, questions

FACTS = """
e:ann r:child e:bob, e:cid ; r:lives e:ulm ; r:site "http://t/e/bob" .
e:bob r:lives e:ulm ; r:age 7 ; r:born "1999-01-01"^^<http://www.w3.org/2001/XMLSchema#date> .
e:cid r:lives e:bonn ; r:age 9 .
e:ulm r:in e:land . e:bonn r:in e:land . e:dan r:lives e:ulm .
"""


@pytest.fixture
def family(graph: Any) -> SparqlGraph:
    opened: SparqlGraph = graph(FACTS)
    return opened


def full(name: str | None) -> str | None:
    """Write e:name of the test graph out; other ids stay."""
    return f"http://t/e/{name[2:]}" if name and name.startswith("e:") else name


def path(*nodes_and_hops: str | None) -> list[dict[str, Any]]:
    """Write a path of nodes and hops in turn: ``path("e:ann", "child", None, "^lives", "e:dan")``."""
    nodes = [{"id": full(node), "name": None} for node in nodes_and_hops[::2]]
    hops = [hop or "" for hop in nodes_and_hops[1::2]]
    return [
        {
            "head": nodes[at],
            "relation": f"http://t/r/{hop.removeprefix('^')}",
            "forward": not hop.startswith("^"),
            "tail": nodes[at + 1],
        }
        for at, hop in enumerate(hops)
    ]


def result(answers: str, *paths: Any, outcome: str = "grounded", id: str | None = "1") -> Result:
    named = tuple(EntityRef(full(name), name) for name in answers.split())
    return Result(id, "?", named, outcome, record={"paths": list(paths)})


async def holds(result: Result, graph: SparqlGraph) -> bool:
    found = await check_grounding([result], graph)
    return found[result_key(result)]


async def test_a_grounded_record_without_any_path_cannot_be_checked(family: SparqlGraph) -> None:
    given = [
        result("e:bob", id="1"),
        replace(result("e:bob", id="2"), record={}),
        result("e:bob", outcome="none", id="3"),
        result("e:bob", [], id="4"),
    ]
    assert await check_grounding(given, family) == {"1": None, "2": None, "3": False, "4": False}


CHILDREN = path("e:ann", "child", None)
PLACES = path("e:ann", "child", None, "lives", None)
AGES = path("e:ann", "child", None, "age", None)


@pytest.mark.parametrize(
    ("answers", "paths"),
    [
        ("e:bob", [CHILDREN]),
        ("e:bob e:cid", [CHILDREN]),
        ("e:ulm e:bonn", [PLACES]),
        ("e:bob", [CHILDREN, path("e:ulm", "^lives", None)]),
        ("e:ann e:bob e:dan", [path("e:ulm", "^lives", None)]),
        ("e:land", [path("e:ann", "child", "e:bob", "lives", "e:ulm", "in", "e:land")]),
        ("e:ulm", [path("e:ann", "child", "e:bob", "lives", "e:ulm")]),
        ("7", [AGES]),
        ("7 9", [AGES]),
        ("1999-01-01", [path("e:bob", "born", None)]),
        ("http://t/e/bob", [path("e:ann", "site", None)]),
    ],
)
async def test_answers_at_the_end_of_every_path_are_grounded(
    family: SparqlGraph, answers: str, paths: list[Any]
) -> None:
    assert await holds(result(answers, *paths), family)


@pytest.mark.parametrize(
    ("answers", "paths"),
    [
        ("e:dan", [CHILDREN]),
        ("e:bob e:dan", [CHILDREN]),
        ("e:nobody", [CHILDREN]),
        ("e:cid", [CHILDREN, path("e:ulm", "^lives", None)]),
        ("e:bob", [CHILDREN, path("e:bonn", "^lives", "e:cid")]),
        ("e:bob", [path("e:ann", "^child", None)]),
        ("e:bob", [path("e:ann", "kid", None)]),
        ("e:ulm", [path("e:ann", "child", "e:cid", "lives", "e:ulm")]),
        ("e:ulm", [path("e:ann", "child", "e:dan", "lives", "e:ulm")]),
        ("8", [AGES]),
        ("e:bob", []),
        ("", [CHILDREN]),
    ],
)
async def test_answers_that_a_path_does_not_lead_to_are_not(
    family: SparqlGraph, answers: str, paths: list[Any]
) -> None:
    assert not await holds(result(answers, *paths), family)


async def test_a_path_that_names_one_answer_need_not_lead_to_the_others(family: SparqlGraph) -> None:
    to_bob, to_cid = path("e:ann", "child", "e:bob"), path("e:bonn", "^lives", "e:cid")
    assert await holds(result("e:bob e:cid", to_bob, to_cid), family)
    assert not await holds(result("e:bob e:cid", to_bob), family)


@pytest.mark.parametrize(
    ("count", "grounded"),
    [("1", True), ("2", True), ("2.0", True), ("3", False), ("0", False), ("1.5", False), ("-1", False)],
)
async def test_a_count_is_of_no_more_than_the_path_leads_to(
    family: SparqlGraph, count: str, grounded: bool
) -> None:
    assert await holds(result(count, CHILDREN), family) == grounded


async def test_a_count_is_of_what_all_paths_lead_to(family: SparqlGraph) -> None:
    branches = [CHILDREN, path("e:ulm", "^lives", None)]
    assert await holds(result("1", *branches), family)
    assert not await holds(result("2", *branches), family)
    assert not await holds(result("1 2", CHILDREN), family)


def verdict(word: str, *paths: Any) -> Result:
    said = EntityRef({"yes": "true", "no": "false"}[word], word)
    return replace(result("e:bob", *paths), answers=(said,))


@pytest.mark.parametrize("word", ["yes", "no"])
async def test_a_verdict_is_grounded_where_all_of_its_paths_are_there(family: SparqlGraph, word: str) -> None:
    to_bob = path("e:ann", "child", "e:bob")
    assert await holds(verdict(word, to_bob, PLACES, path("e:ann", "child", "e:bob", "age", "7")), family)
    assert not await holds(verdict(word), family)
    for wrong in (path("e:ann", "child", "e:dan"), path("e:ann", "kid", None), path("e:ann", "age", "8")):
        assert not await holds(verdict(word, to_bob, wrong), family)


async def test_a_record_that_says_both_yes_and_no_is_not_grounded(family: SparqlGraph) -> None:
    both = replace(verdict("yes", CHILDREN), answers=(EntityRef("true", "yes"), EntityRef("false", "no")))
    assert not await holds(both, family)


async def test_a_truth_value_that_is_a_literal_must_be_where_the_path_leads(family: SparqlGraph) -> None:
    literal = replace(result("e:bob", CHILDREN), answers=(EntityRef("true", "true"),))
    assert not await holds(literal, family)


@pytest.mark.parametrize("outcome", ["parametric", "none", "grounded_inference", "kg_unavailable"])
async def test_another_outcome_is_not_grounded(family: SparqlGraph, outcome: str) -> None:
    assert not await holds(result("e:bob", CHILDREN, outcome=outcome), family)


async def test_an_answer_without_id_or_of_a_failed_question_is_not_grounded(family: SparqlGraph) -> None:
    good = result("e:bob", CHILDREN)
    assert not await holds(replace(good, answers=(*good.answers, EntityRef(None, "Cid"))), family)
    assert not await holds(replace(good, error="ValueError: x"), family)


BROKEN: list[Any] = [
    None,
    "Ann child Bob",
    {"a": 1},
    [None],
    [[]],
    [[[["Ann", "child", "Bob"]]]],
    [[{"head": None, "relation": "http://t/r/child", "forward": True, "tail": None}]],
    [path(None, "child", None)],
    [path("ann", "child", None)],
    [path("e:ann> ?p ?o", "child", None)],
    [path("e:ann", "child> ?o", None)],
    [path("e:ann", "child", "bob", "lives", None)],
    [[{**CHILDREN[0], "forward": "yes"}]],
    [[{**CHILDREN[0], "relation": "child"}]],
    [[{**CHILDREN[0], "relation": 7}]],
    [[path("e:ann", "child", "e:bob")[0], path("e:cid", "age", None)[0]]],
    [path("e:ann", *["child", None, "^child", None] * MAX_PATH_HOPS)],
    [CHILDREN, "and another"],
]


@pytest.mark.parametrize("paths", BROKEN)
async def test_paths_that_make_no_sense_are_not_grounded(family: SparqlGraph, paths: Any) -> None:
    good = result("e:bob")
    assert not await holds(replace(good, record={"paths": paths}), family)
    assert not await holds(replace(good, record={}), family)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["http://t/e/ann", "http://t/r/child"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["head", "relation", "forward", "tail", "id", "name"]), inner, max_size=6
        )
    ),
    max_leaves=20,
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(JSON)
def test_any_json_for_paths_is_survived(family: SparqlGraph, paths: Any) -> None:
    strange = replace(result("e:nobody"), record={"paths": paths})
    assert asyncio.run(check_grounding([strange], family)) == {"1": None if paths in (None, []) else False}


async def test_results_are_told_apart_by_id_or_question(family: SparqlGraph) -> None:
    results = [
        result("e:bob", CHILDREN),
        result("e:dan", CHILDREN, id="2"),
        replace(result("e:cid", CHILDREN, id=None), question="who?"),
    ]
    assert await check_grounding(results, family) == {"1": True, "2": False, "who?": True}
    assert await check_grounding([], family) == {}


class Failing:
    """A graph that fails from some query on, and counts who is there at a time."""

    def __init__(self, after: int, error: Exception) -> None:
        self.left, self.error = after, error
        self.there = self.most = 0

    async def follow_chain(self, chain: Chain) -> Page[Candidate]:
        self.there += 1
        self.most = max(self.most, self.there)
        await asyncio.sleep(0)
        self.there -= 1
        self.left -= 1
        if self.left < 0:
            raise self.error
        return Page((Candidate(Entity(full("e:bob"))),))


@pytest.mark.parametrize("error", [KGUnavailable("gone"), KGTimeout("no answer within 30 s")])
async def test_an_outage_is_raised_and_says_nothing_of_any_answer(error: Exception) -> None:
    results = [result("e:bob", CHILDREN, id=str(at)) for at in range(50)]
    graph: Any = Failing(20, error)
    with pytest.raises(type(error), match=str(error)):
        await check_grounding(results, graph)
    assert graph.left >= -1 - MAX_CONCURRENT_RESULTS  # those that were under way


async def test_some_records_are_checked_at_a_time() -> None:
    graph: Any = Failing(100, KGUnavailable("gone"))
    results = [result("e:bob", CHILDREN, id=str(at)) for at in range(100)]
    assert set((await check_grounding(results, graph)).values()) == {True}
    assert graph.most == MAX_CONCURRENT_RESULTS


@pytest.mark.parametrize(
    ("kg", "name"), [("pathquestion/pq-2h", "pathquestion/pq-2h"), ("worldcup/wc2014", "worldcup/wc-c")]
)
async def test_the_records_of_a_run_are_grounded_and_changed_ones_are_not(kg: str, name: str) -> None:
    if not DATA.is_dir():
        pytest.skip(f"no question sets in {DATA.name}; set KGQA_DATA")
    graph = await asyncio.to_thread(open_graph, [DATA / f"{kg}.nt.gz"])
    model, results = PerfectModel(), []
    for question in questions(name)[::100]:
        model.question = question
        topics = [topic["id"] for topic in question["topic_entities"]]
        record: Any = await kgqa.aask(question["question"], topics=topics, kg=graph, model=model)
        answers = tuple(EntityRef(answer["id"], answer["name"]) for answer in record["answers"])
        results.append(Result(question["id"], record["question"], answers, record["outcome"], record=record))
    assert set((await check_grounding(results, graph)).values()) == {True}
    changed = [
        replace(result, answers=(*result.answers, other.answers[0]))
        for result, other in pairwise(results)
        if other.answers[0] not in result.answers
    ]
    assert changed
    assert set((await check_grounding(changed, graph)).values()) == {False}
