"""Answers stand where the record's query gives exactly them."""

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import kgqa
from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.grounding import MAX_CONCURRENT_RESULTS, check_grounding, result_key
from kgqa.kg.errors import KGTimeout, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.pages import Table
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Entity
from kgqa.tests.support.perfect import DATA, PerfectModel, questions

FACTS = """
e:ann r:child e:bob, e:cid ; r:lives e:ulm ; r:site "http://t/e/bob" .
e:bob r:lives e:ulm ; r:age 7 ; r:born "1999-01-01"^^<http://www.w3.org/2001/XMLSchema#date> .
e:cid r:lives e:bonn ; r:age 9 .
"""


@pytest.fixture
def family(graph: Any) -> SparqlGraph:
    opened: SparqlGraph = graph(FACTS)
    return opened


def full(name: str) -> str:
    """Write e:name of the test graph out; other ids stay."""
    return f"http://t/e/{name[2:]}" if name.startswith("e:") else name


def select(pattern: str, asked: str = "?answer") -> str:
    """Write a query with the names of the test graph."""
    return f"PREFIX e: <http://t/e/> PREFIX r: <http://t/r/> SELECT {asked} WHERE {{ {pattern} }}"


CHILDREN = select("e:ann r:child ?answer")


def result(answers: str, query: Any = CHILDREN, *, outcome: str = "grounded", id: str | None = "1") -> Result:
    named = tuple(EntityRef(full(name), name) for name in answers.split())
    return Result(id, "?", named, outcome, record={"query": query, "conditions": []})


async def holds(result: Result, graph: SparqlGraph) -> bool | None:
    found = await check_grounding([result], graph)
    return found[result_key(result)]


@pytest.mark.parametrize(
    ("answers", "query"),
    [
        ("e:bob e:cid", CHILDREN),
        ("e:ulm e:bonn", select("e:ann r:child/r:lives ?answer")),
        ("7 9", select("?s r:age ?answer")),
        ("2", select("e:ann r:child ?child", "(COUNT(?child) AS ?answer)")),
        ("1999-01-01", select("e:bob r:born ?answer")),
        ("http://t/e/bob", select("e:ann r:site ?answer")),
        ("true", "ASK { <http://t/e/ann> <http://t/r/child> <http://t/e/bob> }"),
        ("false", "ASK { <http://t/e/bob> <http://t/r/child> <http://t/e/ann> }"),
    ],
)
async def test_answers_that_the_query_gives_are_grounded(
    family: SparqlGraph, answers: str, query: str
) -> None:
    asked = replace(result(answers, query), question="How many?" if "COUNT" in query else "?")
    assert await holds(asked, family) is True


@pytest.mark.parametrize(
    ("answers", "query"),
    [
        ("e:bob", CHILDREN),
        ("e:bob e:cid e:ann", CHILDREN),
        ("e:bob e:ulm", CHILDREN),
        ("3", select("e:ann r:child ?child", "(COUNT(?child) AS ?answer)")),
        ("true", "ASK { <http://t/e/bob> <http://t/r/child> <http://t/e/ann> }"),
        ("e:bob", select("?answer r:nobody ?x")),
        ("e:bob", "DELETE WHERE { ?s ?p ?o }"),
        ("e:bob", "no query"),
        ("e:bob", None),
        ("e:bob", ["a list"]),
    ],
)
async def test_other_answers_are_not(family: SparqlGraph, answers: str, query: Any) -> None:
    assert await holds(result(answers, query), family) is False


async def test_what_is_not_decided_by_the_graph_is_not_grounded(family: SparqlGraph) -> None:
    good = result("e:bob e:cid")
    for by, grounded in (("graph", True), ("model", False), (None, False)):
        condition = {"words": "?", "query": None, "by": by}
        assert (
            await holds(replace(good, record={**good.record, "conditions": [condition]}), family) is grounded
        )


async def test_other_outcomes_and_answers_from_memory_are_not_grounded(family: SparqlGraph) -> None:
    good = result("e:bob e:cid")
    assert await holds(replace(good, outcome="grounded_inference"), family) is False
    assert await holds(replace(good, answers=(*good.answers, EntityRef(None, "Eve"))), family) is False
    assert await holds(replace(good, answers=()), family) is False
    assert await holds(replace(good, error="it broke"), family) is False


@pytest.mark.parametrize(
    ("question", "topics", "grounded"),
    [
        ("Who?", ["e:ann"], True),
        ("Who?", ["e:ann", "e:bo"], False),  # which "e:bob" begins with
        ("Who?", ["e:ann", "e:ulm"], False),
        ("How many?", ["e:ann"], False),
        ("Is Bob there?", ["e:ann"], False),
    ],
)
async def test_what_a_query_leaves_out_of_a_question_is_not_grounded(
    family: SparqlGraph, question: str, topics: list[str], *, grounded: bool
) -> None:
    good = result("e:bob e:cid")
    named = [{"id": full(topic), "name": topic} for topic in topics]
    asked = replace(good, question=question, record={**good.record, "topics": named})
    assert await holds(asked, family) is grounded


async def test_a_record_of_another_program_cannot_be_checked(family: SparqlGraph) -> None:
    assert await holds(replace(result("e:bob"), record={}), family) is None


async def test_a_page_that_is_cut_proves_nothing() -> None:
    graph: Any = Failing(2, KGUnavailable("gone"), truncated=True)
    assert await holds(result("e:bob"), graph) is False


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.none() | st.booleans() | st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text()))
def test_anything_for_a_query_is_survived(family: SparqlGraph, query: Any) -> None:
    assert asyncio.run(check_grounding([result("e:nobody", query)], family)) == {"1": False}


async def test_results_are_told_apart_by_id_or_question(family: SparqlGraph) -> None:
    results = [
        result("e:bob e:cid"),
        result("e:dan", id="2"),
        replace(result("e:cid e:bob", id=None), question="who?"),
    ]
    assert await check_grounding(results, family) == {"1": True, "2": False, "who?": True}
    assert await check_grounding([], family) == {}


class Failing:
    """A graph that fails from some query on, and counts who is there at a time."""

    def __init__(self, after: int, error: Exception, *, truncated: bool = False) -> None:
        self.left, self.error, self.truncated = after, error, truncated
        self.there = self.most = 0

    async def select(self, query: str) -> Table:
        self.there += 1
        self.most = max(self.most, self.there)
        await asyncio.sleep(0)
        self.there -= 1
        self.left -= 1
        if self.left < 0:
            raise self.error
        return Table(("answer",), ((Entity(full("e:bob")),),), self.truncated)


async def test_an_outage_is_raised_and_says_nothing_of_any_answer() -> None:
    results = [result("e:bob", id=str(at)) for at in range(50)]
    graph: Any = Failing(20, KGUnavailable("gone"))
    with pytest.raises(KGUnavailable, match="gone"):
        await check_grounding(results, graph)
    assert graph.left >= -1 - MAX_CONCURRENT_RESULTS  # those that were under way


async def test_a_query_that_takes_too_long_says_nothing_of_its_answers() -> None:
    graph: Any = Failing(1, KGTimeout("no answer within 30 s"))
    assert await check_grounding([result("e:bob"), result("e:bob", id="2")], graph) == {"1": True, "2": None}


async def test_some_records_are_checked_at_a_time() -> None:
    graph: Any = Failing(100, KGUnavailable("gone"))
    results = [result("e:bob", id=str(at)) for at in range(100)]
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
        record: Any = await kgqa.aask(
            question["question"], topics=topics, method="cor", kg=graph, model=model
        )
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
