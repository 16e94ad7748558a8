"""The arithmetic of RoG's evaluation code, worked out by hand."""

import pytest

from kgqa.evaluation.protocols.cor import measure_rog, score_names
from kgqa.evaluation.result_files import InvalidRecord, parse_result
from kgqa.tests.unit.evaluation.protocols.cases import asked, ours, value


@pytest.mark.parametrize(
    ("predicted", "gold", "scores"),
    [
        (["The Ash Water"], ["Ash Water"], (1.0, 1.0, 1.0)),
        (["Ash", "Water"], ["Ash Water"], (0.5, 1.0, 2 / 3)),  # joined, they are one
        (["Ida", "Ben", "Cora"], ["Ben", "Dan"], (1 / 3, 0.5, 0.4)),
        (["Ida, Ben"], ["Ida", "Ben"], (2.0, 1.0, 4 / 3)),
        (["1987"], ["7"], (1.0, 1.0, 1.0)),
        (["Ida"], ["Ben"], (0.0, 0.0, 0.0)),
        ([], ["Ben"], (0.0, 0.0, 0.0)),
    ],
)
def test_gold_that_is_found_in_all_answers_joined_counts(
    predicted: list[str], gold: list[str], scores: tuple[float, float, float]
) -> None:
    assert tuple(score_names(predicted, gold)) == pytest.approx(scores)


def test_predictions_are_read_as_rog_and_those_after_it_write_them() -> None:
    text = {"id": "1", "question": "a", "prediction": "Ida\nBen", "ground_truth": ["Ben"]}
    listed = {"id": "1", "question": "a", "prediction": ["Ben", "Ida", "Ida"]}
    assert [answer.name for answer in parse_result(text).answers] == ["Ida", "Ben"]
    assert [answer.name for answer in parse_result(listed).answers] == ["Ida", "Ben"]
    with pytest.raises(InvalidRecord, match=r"field prediction.1: should be a valid string"):
        parse_result({"question": "a", "prediction": ["Ben", {}]})


def test_a_file_is_measured_question_by_question() -> None:
    results = [
        parse_result({"id": "id of a", "question": "a", "prediction": "Ida\nBen"}),
        ours("b", "Oslo"),
        ours("c", "Rome"),
    ]
    questions = [asked("a", "Ben", "Dan"), asked("b", "Bern"), asked("c")]
    found = measure_rog(results, questions)
    assert (found["protocol"], found["n"], found["excluded"], found["correct"]) == ("rog", 3, 1, 1)
    assert (value(found, "hits_at_1"), value(found, "accuracy")) == (0.5, 0.25)
    assert (value(found, "f1"), value(found, "precision")) == (0.25, 0.25)
