from typing import Any

import pytest

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.priors.exemplars import gather_exemplars
from kgqa.priors.hop_model import Exemplar
from kgqa.priors.slots import Slot
from kgqa.priors.training_questions import read_training_questions
from kgqa.tests.unit.priors.exemplars.conftest import ANN, BOB, BOTH, LINES, line


def gathered(*lines: dict[str, Any]) -> list[tuple[str, str, int]]:
    found = gather_exemplars(read_training_questions(lines)).exemplars
    return [(each.question, " ".join(map(str, each.chain)), each.weight) for each in found]


def test_each_topic_of_a_question_makes_an_exemplar_of_its_own() -> None:
    assert gathered(line("which films has Ann made with Bob?", topics=[ANN, BOB], **BOTH)) == [
        ("which films has [ENT] made with [OTHER]?", "film", 1),
        ("which films has [OTHER] made with [ENT]?", "made", 1),
    ]


def test_questions_that_are_equal_when_masked_are_one_exemplar() -> None:
    asked = [
        line("who is Ann?", "self"),
        line("who is Bob?", "self", topics=[BOB]),
        line("who is Ann?", "kin"),
    ]
    assert gathered(*asked) == [("who is [ENT]?", "kin", 1), ("who is [ENT]?", "self", 2)]


def test_the_shortest_branch_of_a_topic_is_its_chain() -> None:
    long = {"topic": ANN["id"], "path": ["a", "b"]}
    paths = {"gold_paths": [long, {"topic": ANN["id"], "path": ["^c"]}]}
    assert gathered(line("who is Ann?", **paths)) == [("who is [ENT]?", "^c", 1)]


def test_what_a_query_asks_is_part_of_an_exemplar() -> None:
    query = "SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE { <http://x/e/Ann> <http://x/r/film> ?x }"
    found = gather_exemplars(read_training_questions([line("how many films has Ann made?", sparql=query)]))
    assert found.exemplars == (
        Exemplar("how many films has [ENT] made?", (Slot("film"),), QuestionIntent("count"), 1),
    )


def test_where_a_query_unites_alternatives_the_gold_paths_lead_from_the_other_topics() -> None:
    parts = (
        f"{{ <{topic['id']}> <http://x/r/{relation}> ?x }}" for topic, relation in ((ANN, "a"), (BOB, "b"))
    )
    paths = [{"topic": ANN["id"], "path": ["never"]}, {"topic": BOB["id"], "path": ["b"]}]
    query = f"SELECT ?x WHERE {{ {' UNION '.join(parts)} }}"
    asked = line("is it Ann or Bob?", topics=[ANN, BOB], sparql=query, gold_paths=paths)
    assert gathered(asked) == [("is it [ENT] or [OTHER]?", "a", 1), ("is it [OTHER] or [ENT]?", "b", 1)]


def test_a_constant_that_is_no_topic_makes_no_exemplar() -> None:
    query = (
        "SELECT ?x WHERE { <http://x/e/Ann> <http://x/r/film> ?x . ?x <http://x/r/kind> <http://x/e/Epic> }"
    )
    assert gathered(line("which epics has Ann made?", sparql=query)) == [
        ("which epics has [ENT] made?", "film", 1)
    ]


def test_a_topic_may_lack_a_name_or_an_id() -> None:
    assert gathered(line("who is she?", "self", topics=[{"id": "http://x/e/Ann"}])) == [
        ("who is she?", "self", 1)
    ]
    assert gathered(line("who is Ann?", "self", topics=[{"name": "Ann"}])) == [("who is [ENT]?", "self", 1)]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (line("how is Ann?"), "no SPARQL and no gold path"),
        (line("how is it?", "self", topics=[]), "no chain from a topic entity"),
        (
            line("how is Ann?", sparql="ASK { ?s ?p ?o }"),
            "only a SELECT asks for something that a chain can lead to",
        ),
        (line("how is Ann?", "user.ann.is"), "a relation outside of the schema, such as a user's own"),
    ],
)
def test_why_a_question_makes_no_exemplar_is_told(asked: dict[str, Any], reason: str) -> None:
    found = gather_exemplars(read_training_questions([asked]))
    assert (found.exemplars, found.questions, found.without) == ((), 1, {reason: 1})


def test_the_order_of_the_questions_makes_no_difference() -> None:
    assert gather_exemplars(read_training_questions(LINES)) == gather_exemplars(
        read_training_questions(LINES[::-1])
    )
