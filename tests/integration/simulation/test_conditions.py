"""A simulated model knows what a question asks beside its gold path by its answer query."""

from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.evaluation.question import Question
from kgqa.evaluation.simulation import ErrorRates
from kgqa.evaluation.simulation.oracle import Oracle
from kgqa.kg.opening import open_graph
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition
from kgqa.kg.terms import Entity, Hop, Literal
from kgqa.prompts.assess_found import AssessFound
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.tests.unit.data.test_conditions import asked, each_set
from kgqa.tests.unit.evaluation.simulation.exploring import reached
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, question
from kgqa.tests.unit.evaluation.simulation.public import answered

PARENTS, HOMES = chain("ann", "parent"), chain("ann", "parent born_in")
AGE, BORN = (Hop("http://t/r/age"),), (Hop("http://t/r/born_in"),)
IN_ULM = Condition(1, BORN, "=", Entity("http://t/e/ulm"), "born in Ulm")
OLD = Condition(1, AGE, ">", Literal("60"), "over 60")
COUNT = Aggregate("count")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


def about(answers: str, path: str, *conditions: Condition, aggregate: Aggregate | None = None) -> Question:
    along = chain("ann", path)
    places = tuple(range(1, along.depth + 1))
    query = AnswerQuery((Branch(along, places),), along.depth, conditions, aggregate)
    return question(answers, path, query=query)


def test_places_are_hops_from_the_topic(family) -> None:
    oldest = Aggregate("argmax", AGE, 20)
    old = replace(OLD, place=20)
    branches = (Branch(chain("ulm", "^born_in"), (30,)), Branch(HOMES, (20, 30)))
    query = AnswerQuery(branches, 30, (old, replace(IN_ULM, place=30)), oldest)
    oracle = Oracle(question("ulm", "parent born_in", query=query), family)
    assert oracle.conditions(HOMES) == (replace(old, place=1), replace(IN_ULM, place=2))
    assert oracle.aggregate(HOMES) == replace(oldest, place=1)
    assert oracle.conditions(chain("ulm", "^born_in")) == (IN_ULM,)
    assert oracle.aggregate(chain("ulm", "^born_in")) is None  # another chain has the node that it compares
    assert oracle.conditions(PARENTS) == oracle.conditions(chain("eve", "child born_in")) == ()


def test_another_way_has_the_same_places(family) -> None:
    oracle = Oracle(about("max", "parent", OLD, aggregate=COUNT), family)
    assert oracle.conditions(chain("ann", "^child")) == (OLD,)
    assert oracle.aggregate(chain("ann", "^child")) == COUNT


def test_without_a_query_nothing_is_known(family) -> None:
    oracle = Oracle(question("max", "parent"), family)
    assert (oracle.conditions(PARENTS), oracle.aggregate(PARENTS)) == ((), None)
    assert not oracle.is_discriminative(PARENTS)


@pytest.mark.parametrize(
    ("asking", "apart"),
    [
        (about("max", "parent", OLD), True),
        (about("1", "parent", OLD, aggregate=COUNT), True),
        (about("max", "parent", aggregate=Aggregate("argmax", AGE)), True),
        (about("2", "parent", aggregate=COUNT), False),
        (about("61", "parent age", aggregate=Aggregate("max")), False),
        (about("eve max", "parent"), False),
    ],
)
def test_conditions_and_extremes_of_attributes_tell_ends_apart(family, asking: Question, apart: bool) -> None:
    at = chain("ann", " ".join(asking.paths[0].relations))
    assert Oracle(asking, family).is_discriminative(at) is apart


async def test_what_meets_a_condition_is_filtered_and_counted(family) -> None:
    interview = Interview(about("1", "parent", OLD, aggregate=COUNT), family)
    assert (await interview.verify("ann", "parent")).decision == "filter"
    candidates = tuple((await family.follow_chain(PARENTS)).items)
    reply = await interview.ask(FilterCandidates("?", PARENTS, candidates))
    assert reply.count
    assert [candidates[number - 1].term.name for number in reply.chosen] == ["Max"]
    found = await reached(family, PARENTS)
    assessed = await interview.ask(AssessFound("?", tuple(found)))
    assert (assessed.decision, assessed.groups) == ("filter", [1])


async def test_a_count_without_conditions_is_computed(family) -> None:
    interview = Interview(about("2", "parent", aggregate=COUNT), family)
    verdict = await interview.verify("ann", "parent")
    assert (verdict.decision, verdict.take) == ("stop", "count")


async def test_a_value_under_a_condition_is_not_taken_for_the_largest(family) -> None:
    interview = Interview(about("61", "parent age", IN_ULM), family)
    assert (await interview.verify("ann", "parent age")).decision == "filter"
    largest = Interview(about("61", "parent age", aggregate=Aggregate("max")), family)
    verdict = await largest.verify("ann", "parent age")
    assert (verdict.decision, verdict.take) == ("stop", "largest")


@each_set
@pytest.mark.timeout(600)
@pytest.mark.parametrize("method", ["cor", "cog", "vog", "pog", "pog_egp", "tog", "agent"])
async def test_a_perfect_model_answers_every_question_by_the_graph(
    source: str | Path, graph: Path, method: str
) -> None:
    some = asked(source)[::6]
    results = await answered(some, open_graph([graph]), ErrorRates(), method=method)
    assert not [q.text for q, (_, score) in zip(some, results, strict=True) if score.f1 < 1]
    by_name = [question.text for question in some if "name" in question.text or "called" in question.text]
    picked = [record["question"] for record, _ in results if record["outcome"] != "grounded"]
    assert {*picked} <= {*by_name}
