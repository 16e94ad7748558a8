"""QALD, as released and as ToG lists it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.scoring.scores import ZERO_SCORE, Score, score_answers

One = Callable[..., Question]


def official(*answers: dict[str, Any], **fields: Any) -> dict[str, Any]:
    question = {
        "id": 0,
        "question": [{"language": "de", "string": "Wer?"}, {"language": "en", "string": "Who?"}],
        "query": {"sparql": "SELECT 1"},
        "answers": list(answers),
        **fields,
    }
    return {"dataset": {"id": "qald-10"}, "questions": [question]}


def rows(*cells: dict[str, Any], variables: tuple[str, ...] = ("result",)) -> dict[str, Any]:
    return {"head": {"vars": list(variables)}, "results": {"bindings": list(cells)}}


def uri(value: str) -> dict[str, str]:
    return {"type": "uri", "value": value}


def test_entities_and_literals(one: One) -> None:
    literal = {"type": "literal", "datatype": "http://www.w3.org/2001/XMLSchema#decimal", "value": "+100"}
    answer = rows({"result": uri("http://www.wikidata.org/entity/Q42299")}, {"result": literal})
    assert one(official(answer), "qald") == Question(
        id="0",
        text="Who?",
        readings=((EntityRef("http://www.wikidata.org/entity/Q42299", None), EntityRef("+100", "+100")),),
        sparql="SELECT 1",
    )


@pytest.mark.parametrize("truth", [True, False])
def test_a_truth_value_is_an_answer(one: One, truth: bool) -> None:
    text = str(truth).lower()
    assert one(official({"head": {}, "boolean": truth}), "qald").readings == ((EntityRef(text, text),),)


@pytest.mark.parametrize("truth", [True, False])
def test_a_truth_value_is_what_a_record_says_as_yes_or_no(one: One, truth: bool) -> None:
    question = one(official({"head": {}, "boolean": truth}), "qald")
    found = {
        say.name: score_answers([say], question)
        for say in (EntityRef("true", "yes"), EntityRef("false", "no"))
    }
    right, wrong = ("yes", "no") if truth else ("no", "yes")
    assert (found[right], found[wrong]) == (Score(1, 1, 1, 1, 1), ZERO_SCORE)


def test_of_several_variables_the_first_is_the_answer(one: One) -> None:
    row = {"label": {"type": "literal", "value": "Ulm"}, "uri": uri("http://x/Ulm")}
    assert one(official(rows(row, variables=("uri", "label"))), "qald").readings == (
        (EntityRef("http://x/Ulm", None),),
    )
    no_head = {
        "results": {"bindings": [{"uri": uri("http://x/Ulm")}, {}, {"x": {"type": "bnode", "value": "b0"}}]}
    }
    assert one(official(no_head), "qald").readings == ((EntityRef("http://x/Ulm", None),),)


@pytest.mark.parametrize("answers", [[], [{}], [{"head": {"vars": ["x"]}, "results": {"bindings": []}}]])
def test_no_rows_are_no_gold(one: One, answers: list[dict[str, Any]]) -> None:
    assert not one(official(*answers), "qald").scored


def test_without_english_the_first_wording_stands(one: One) -> None:
    wordings = [{"language": "en", "string": " "}, {"language": "ba"}, {"language": "lt", "string": "Kas? "}]
    assert one(official(question=wordings), "qald").text == "Kas?"


def test_a_question_in_no_language_is_an_error(write: Callable[..., Path]) -> None:
    with pytest.raises(DatasetError, match=r"record 1, field question: should hold the question"):
        load(write(official(question=[])))


def test_a_cell_without_a_value_is_named(write: Callable[..., Path]) -> None:
    with pytest.raises(DatasetError, match=r"field answers\.0\.results\.bindings\.0\.x\.value: is missing$"):
        load(write(official(rows({"x": {"type": "uri"}}))))


def test_the_list_of_qald_10(one: One) -> None:
    record = {
        "question": "Who?",
        "answer": {"Q1": "One", "Q2": "Q2", "+100": "+100", "true": True},
        "sparql": "SELECT 2",
        "qid_topic_entity": {"Q3012": "Ulm"},
    }
    assert one([record], "qald") == Question(
        id="qald-1",
        text="Who?",
        topics=(EntityRef("Q3012", "Ulm"),),
        readings=(
            (
                EntityRef("Q1", "One"),
                EntityRef("Q2", None),
                EntityRef("+100", "+100"),
                EntityRef("true", "true"),
            ),
        ),
        sparql="SELECT 2",
    )


def test_either_form_may_be_named_qald(write: Callable[..., Path]) -> None:
    for content in (official(), [{"question": "Who?", "answer": {}}]):
        assert load(write(content), format="qald").questions[0].text == "Who?"
