"""The project's own question files."""

import copy
import json
from collections.abc import Callable
from functools import reduce
from operator import getitem
from typing import Any

import pytest
from pydantic import TypeAdapter

from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition
from kgqa.kg.terms import Chain, Entity, Hop, Literal

One = Callable[..., Question]

ULM = {"id": "http://x/e/Ulm", "name": "Ulm", "mid": "m.0u"}
KOELN = {"id": "http://x/e/Koeln", "name": "Köln"}


QUERY = {
    "branches": [
        {
            "chain": {
                "topic": {"id": "http://x/e/Ulm"},
                "hops": [{"relation": "http://x/born_in", "forward": False}],
            },
            "places": [1],
        }
    ],
    "returned": 1,
    "conditions": [
        {
            "place": 1,
            "attribute": [{"relation": "http://x/year"}],
            "operator": "<",
            "value": {"value": "1930", "datatype": "http://www.w3.org/2001/XMLSchema#gYear"},
            "words": "before 1930",
        }
    ],
    "aggregate": {"function": "argmax", "attribute": [{"relation": "http://x/height"}]},
}


def changed(value: object, *path: str | int) -> dict[str, Any]:
    """Return the query with another value at a place."""
    query: Any = copy.deepcopy(QUERY)
    *way, last = path
    reduce(getitem, way, query)[last] = value
    return {"query": query}


def record(**fields: Any) -> list[dict[str, Any]]:
    return [{"id": "q1", "question": "who?", "topic_entities": [ULM, KOELN], **fields}]


def test_a_full_record(one: One) -> None:
    question = one(
        record(
            answers=[{"id": "http://x/e/Anna", "name": "Anna", "aliases": ["Ann", "Anna", ""]}],
            gold_path=["^born_in", "sister"],
            sparql="ASK {}",
            kind="chain",
            level="zero-shot",
            split="train",
            split_group="test",
            split_year=2014,
            note="ignored",
        ),
        "kgqa",
    )
    assert question == Question(
        id="q1",
        text="who?",
        topics=(EntityRef("http://x/e/Ulm", "Ulm"), EntityRef("http://x/e/Koeln", "Köln")),
        readings=((EntityRef("http://x/e/Anna", "Anna", ("Ann",)),),),
        paths=(GoldPath("http://x/e/Ulm", ("^born_in", "sister")),),
        sparql="ASK {}",
        hops=2,
        kind="chain",
        level="zero-shot",
        splits={"split": "train", "split_group": "test"},
    )


@pytest.mark.parametrize(
    ("fields", "hops"),
    [
        ({"hops": 3, "min_hops_gold": 2, "gold_path": ["a"]}, 3),
        ({"hops": None, "min_hops_gold": 2, "gold_path": ["a"]}, 2),
        ({"hops": 0, "gold_path": ["a"]}, 0),
        ({"gold_paths": {"Ulm": ["a"], "Koeln": ["a", "b"]}}, 2),
        ({}, None),
    ],
)
def test_hops_are_given_or_the_length_of_the_longest_path(
    one: One, fields: dict[str, Any], hops: int | None
) -> None:
    assert one(record(**fields), "kgqa").hops == hops


@pytest.mark.parametrize(
    ("key", "topic"),
    [
        ("http://x/e/Ulm", "http://x/e/Ulm"),
        ("Ulm", "http://x/e/Ulm"),
        ("m.0u", "http://x/e/Ulm"),
        ("m.01mp", "m.01mp"),
        ("", None),
    ],
)
@pytest.mark.parametrize("listed", [True, False])
def test_a_branch_names_its_topic_by_id_or_by_a_short_one(
    one: One, key: str, topic: str | None, listed: bool
) -> None:
    branches = [{"topic": key, "path": ["r"]}] if listed else {key: ["r"]}
    assert one(record(gold_paths=branches), "kgqa").paths == (GoldPath(topic, ("r",)),)


def test_an_id_counts_before_a_short_one_of_another_topic(one: One) -> None:
    topics = [{"id": "http://x/e/Q1", "mid": "Q2"}, {"id": "Q2"}]
    question = one(record(topic_entities=topics, gold_paths={"Q2": ["r"]}), "kgqa")
    assert question.paths[0].topic == "Q2"


def test_branches_count_before_the_one_path_and_empty_ones_not_at_all(one: One) -> None:
    branches = [{"topic": None, "path": ["a"]}, {"topic": "Ulm", "path": []}]
    assert one(record(gold_paths=branches, gold_path=["b"]), "kgqa").paths == (GoldPath(None, ("a",)),)
    assert one(record(gold_paths=[], gold_path=["b"]), "kgqa").paths[0].relations == ("b",)
    assert one(record(gold_path=[]), "kgqa").paths == ()


def test_a_path_without_topics_has_none(one: One) -> None:
    question = one(record(topic_entities=None, gold_path=["r"], answers=[]), "kgqa")
    assert (question.topics, question.paths) == ((), (GoldPath(None, ("r",)),))


def test_truth_values_numbers_and_literals_are_answers_like_any_other(one: One) -> None:
    answers = [{"id": None, "name": True}, {"id": 3, "name": 3}, {"id": "", "name": "1.5"}, {"name": 2.5}]
    assert one(record(answers=answers), "kgqa").readings == (
        (EntityRef(None, "true"), EntityRef("3", "3"), EntityRef(None, "1.5"), EntityRef(None, "2.5")),
    )


def test_an_answer_given_twice_is_one(one: One) -> None:
    answers = [{"id": "a", "name": "A"}, {"id": "a", "name": "B"}, {"name": "C"}, {"name": "C"}]
    assert one(record(answers=answers), "kgqa").readings == ((EntityRef("a", "A"), EntityRef(None, "C")),)


def test_fields_of_other_formats_do_not_mislead(one: One) -> None:
    assert one(record(answers=[], url="u", function="count", sparql_query="x"), "kgqa").id == "q1"


@pytest.mark.parametrize("answers", [[], None])
def test_a_question_without_gold_has_no_reading(one: One, answers: Any) -> None:
    question = one(record(answers=answers), "kgqa")
    assert question.readings == ()
    assert not question.scored


def test_numbers_as_ids_become_text(one: One) -> None:
    assert one([{"id": 2100176005000, "question": "who?", "answers": []}], "kgqa").id == "2100176005000"


def test_an_answer_query_is_read(one: One) -> None:
    born, year = Hop("http://x/born_in", forward=False), Hop("http://x/year")
    before = Literal("1930", "http://www.w3.org/2001/XMLSchema#gYear")
    query = AnswerQuery(
        branches=(Branch(Chain(Entity("http://x/e/Ulm"), (born,)), (1,)),),
        returned=1,
        conditions=(Condition(1, (year,), "<", before, "before 1930"),),
        aggregate=Aggregate("argmax", (Hop("http://x/height"),)),
    )
    assert one(record(query=QUERY), "kgqa").query == query
    written = TypeAdapter(AnswerQuery).dump_python(query, mode="json", exclude_defaults=True)
    assert one(record(query=written), "kgqa").query == query
    assert written == QUERY
    of_type = changed({"id": "http://x/Person"}, "conditions", 0, "value")["query"]
    of_type["conditions"][0]["operator"] = "type"
    assert one(record(query=of_type), "kgqa").query.conditions[0].value == Entity("http://x/Person")


@pytest.mark.parametrize("fields", [{}, {"query": None}])
def test_an_answer_query_may_be_missing(one: One, fields: dict[str, Any]) -> None:
    assert one(record(**fields), "kgqa").query is None


def test_an_id_of_two_records_is_an_error_that_names_both(write: Callable[..., Any]) -> None:
    line = json.dumps(record()[0])
    with pytest.raises(
        DatasetError, match=r"^twice\.jsonl, line 4, field id: 'q1' .* line 2 has it already$"
    ):
        load(write(f"\n{line}\n\n{line}\n", "twice.jsonl"))


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"id": ""}, "field id: should have at least 1 character"),
        ({"question": "  "}, "field question: should have at least 1 character"),
        ({"answers": [{"id": "", "name": "null"}]}, "field answers.0: needs an id or a name"),
        ({"topic_entities": [ULM, {}]}, "field topic_entities.1: needs an id or a name"),
        ({"answers": [{"name": [1]}]}, "field answers.0.name: should be a valid string, not a list"),
        ({"answers": {"a": "b"}}, "field answers: should be a valid list, not an object"),
        ({"answers": ["Anna", 7]}, "field answers.1: should be an object, not 7"),
        ({"gold_paths": {"Ulm": ["a", 7]}}, "field gold_paths.Ulm.1: should be a valid string, not 7"),
        ({"gold_paths": [{"topic": "Ulm"}]}, "field gold_paths.0.path: is missing"),
        ({"gold_path": ["a", ""]}, "field gold_path.1: should have at least 1 character"),
        ({"hops": -1}, "field hops: should be greater than or equal to 0, not -1"),
        ({"hops": "two"}, "field hops: should be a valid integer"),
        ({"kind": 7}, "field kind: should be a valid string, not 7"),
        ({"query": "SELECT *"}, 'field query: should be an object, not "SELECT *"'),
        ({"query": {}}, "field query.branches: is missing"),
        (changed(7, "returned"), "field query: no branch binds place 7"),
        (changed("all", "returned"), "field query.returned: should be a valid integer"),
        (changed([], "branches"), "field query: no branch binds place 1"),
        (
            changed([1, 2], "branches", 0, "places"),
            "field query.branches.0: a branch of 1 nodes with 2 places",
        ),
        (
            changed([{"relation": "born"}], "branches", 0, "chain", "hops"),
            "field query.branches.0.chain.hops.0: not an IRI: 'born'",
        ),
        (changed("~", "conditions", 0, "operator"), "field query.conditions.0.operator: should be '=', '!='"),
        (
            changed("", "conditions", 0, "value"),
            'field query.conditions.0.value: should be an object, not ""',
        ),
        (changed({}, "conditions", 0, "value"), "field query.conditions.0.value.id: is missing"),
        (
            changed({"value": 1930}, "conditions", 0, "value"),
            "field query.conditions.0.value.value: should be a valid string, not 1930",
        ),
        (
            changed({"value": "1930", "datatype": "int"}, "conditions", 0, "value"),
            "field query.conditions.0.value: not an IRI: 'int'",
        ),
        (
            changed({"id": "http://x/e"}, "conditions", 0, "value"),
            "field query.conditions.0: \"<\" goes with number or date: 'http://x/e'",
        ),
        (
            changed({"function": "sum"}, "aggregate"),
            "field query.aggregate.function: should be 'count', 'min'",
        ),
        (changed([], "aggregate", "attribute"), 'field query.aggregate: "argmax" without an attribute'),
    ],
)
def test_a_wrong_field_is_named(write: Callable[..., Any], fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load(write([record(answers=[])[0], *record(**{"id": "q2", **fields})]))
    assert str(caught.value).startswith(f"questions.json, record 2, {complaint}")
