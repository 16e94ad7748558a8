"""How likely an answer is right, and which word nothing says."""

from typing import Any

import pytest

from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term
from kgqa.models.offline.interpretation import Interpretation
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.models.offline.question_intent import QuestionIntent
from kgqa.retrieval.candidate_chains import CandidateChain
from kgqa.retrieval.confidence import Reading, _find_doubt, _is_other_kind, _says_other_name
from kgqa.tests.conftest import MEMO

TOWNS = """
e:ulm rdfs:label "Ulm" ; r:mayor e:ada ; r:river e:danube .
e:bonn rdfs:label "Bonn" ; r:mayor e:ben ; r:river e:rhine .
e:ada rdfs:label "Ada" . e:ben rdfs:label "Ben" . e:danube rdfs:label "Danube" . e:rhine rdfs:label "Rhine" .
"""
ULM = Entity("http://t/e/ulm", "Ulm")
ADA = Entity("http://t/e/ada", "Ada")


@pytest.fixture
def read(graph) -> Any:
    interpreter = QuestionInterpreter(graph(TOWNS), MEMO.encode, None, frozenset())

    async def read(question: str) -> Reading:
        reading = (await interpreter.interpret(question, (ULM,))).reading
        assert reading is not None
        return reading

    return read


async def test_what_the_graph_says_is_likelier_right_than_what_it_does_not(read: Any) -> None:
    said, silent = await read("Who is the mayor of Ulm?"), await read("Which opera was sung in Ulm?")
    assert said.confidence > 0.5 > silent.confidence
    assert (said.missing, said.trained) == (None, False)
    assert silent.missing in {"opera", "sung"}
    assert (said.signals["unsaid"], silent.signals["unsaid"]) == (0, 2)


async def test_where_is_in_doubt_unless_a_place_is_said(read: Any) -> None:
    found = [await read(f"{asked} is the mayor of Ulm?") for asked in ("Who", "Where")]
    assert [each.doubt for each in found] == [None, "where"]
    assert [each.signals["doubt"] for each in found] == [0, 1]
    assert found[0].confidence > found[1].confidence


def test_a_chain_that_comes_back_is_in_doubt_unless_others_of_the_same_are_asked_for() -> None:
    river = Hop("http://t/r/river")
    back = CandidateChain(Chain(ULM, (river, river.inverse)), moves=((river,), (river.inverse,)))
    asked = ("Which river has [ENT]?", "Which town is by the same river as [ENT]?")
    doubts = [_find_doubt(each, 1.0, [back], MEMO.encode) for each in asked]
    assert doubts == ["others of the same", None]


@pytest.mark.parametrize(("counted", "doubt"), [([ADA], "how many"), ([ADA, ULM], None)])
def test_a_count_of_one_is_in_doubt(graph: Any, counted: list[Term], doubt: str | None) -> None:
    ends = {ULM: Page(tuple(map(Candidate, counted)))}
    known = Interpretation(graph(TOWNS), MEMO.encode, ends=ends, intent=QuestionIntent("count"))
    assert known.doubt == doubt


async def test_the_name_of_a_topic_does_not_ask(graph: Any) -> None:
    film = Entity("http://t/e/film", "When Ulm Sleeps")
    towns = f'{TOWNS} e:film rdfs:label "When Ulm Sleeps" ; r:starred_actors e:ada .'
    interpreter = QuestionInterpreter(graph(towns), MEMO.encode, None, frozenset())
    reading = (await interpreter.interpret("The film When Ulm Sleeps starred who?", (film,))).reading
    assert reading is not None
    assert reading.signals["kind"] == 0


async def test_a_word_that_an_end_is_called_by_is_said(read: Any) -> None:
    assert (await read("Is Ada not the mayor of Ulm, or who?")).missing != "ada"


async def test_several_things_of_a_kind_are_named_by_the_name_of_one(graph: Any) -> None:
    airport = Entity("http://t/e/Airport", "airport")
    interpreter = QuestionInterpreter(graph(f"{TOWNS} e:ulm a e:Airport ."), MEMO.encode, None, frozenset())
    reading = (await interpreter.interpret("How many airports are there?", (airport,))).reading
    assert reading is not None
    assert reading.signals["named"] == 1


@pytest.mark.parametrize(
    ("question", "ends", "other"),
    [
        ("When was Ulm founded?", [ADA], True),
        ("When was Ulm founded?", [Literal("0854-07-22")], False),
        ("How high is Ulm?", [ADA], True),
        ("How high is Ulm?", [Literal("478")], False),
        ("How many rivers does Ulm have?", [ADA], False),
        ("Who rules Ulm?", [Literal("478")], True),
        ("Who rules Ulm?", [ADA, Literal("478")], False),
        ("What is in Ulm?", [Literal("478")], False),
        ("Who was mayor when Ada lived in Ulm?", [ADA], False),
        ("Who plays in [ENT]?", [ADA], False),
        ("How [ENT]'s child died?", [ADA], False),
        ("What year was Ada the best of the season?", [Entity("http://t/e/s", "2000–01 season")], False),
        ("When is the feast of Ulm?", [Literal("April 23")], False),
    ],
)
def test_ends_are_of_another_kind_than_the_question_asks_for(
    question: str, ends: list[Term], other: bool
) -> None:
    assert _is_other_kind(question, ends) is other


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Who wrote War and Peace about Ulm?", True),
        ("Who is the mayor of Ulm?", False),
        ("Is Ulm's mayor Ada?", False),
        ("Which river is in ulm?", False),
    ],
)
def test_names_that_are_none_of_the_topics_are_told_by_their_capitals(question: str, other: bool) -> None:
    assert _says_other_name(question, ["Ulm", "Ada"]) is other
