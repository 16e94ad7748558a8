"""Whether confidence tells right answers."""

import pytest

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.run_metrics import measure_results


def asked(id: str, gold: str = "Ulm") -> Question:
    return Question(id, id, readings=((EntityRef(None, gold),),) if gold else ())


def answered(id: str, answer: str, confidence: object = None) -> Result:
    said = (EntityRef(None, answer),) if answer else ()
    return Result(id, id, said, "grounded", record={"confidence": confidence})


def test_the_calibration_error_is_the_mean_distance_of_confidence_and_right_answers() -> None:
    results = [
        *(answered("1", "Ulm", 0.91), answered("2", "Bonn", 0.99)),  # 0.95 against 0.5
        answered("3", "Bonn", 0.25),  # 0.25 against 0
        *(
            answered("4", "", 0.9),
            answered("5", "Ulm"),
            answered("6", "Ulm", "high"),
        ),  # of these nobody can say
    ]
    found = measure_results(results, [asked(id) for id in "123456"], grounded=None)["reliability"]
    assert found is not None
    assert found["n"] == 3
    assert found["expected_calibration_error"]["value"] == pytest.approx((2 * 0.45 + 0.25) / 3)
    bins = [(each["n"], each["confidence"], each["right"]["value"]) for each in found["bins"]]
    assert bins == [(1, 0.25, 0.0), (2, pytest.approx(0.95), 0.5)]


def test_a_certain_answer_is_in_the_last_bin() -> None:
    found = measure_results([answered("1", "Ulm", 1)], [asked("1")], grounded=None)["reliability"]
    assert found is not None
    assert found["expected_calibration_error"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_records_without_confidence_have_no_reliability() -> None:
    assert measure_results([answered("1", "Ulm")], [asked("1")], grounded=None)["reliability"] is None


def test_what_cannot_be_answered_is_declined_or_not() -> None:
    questions = [asked("1", ""), asked("2", ""), asked("3"), asked("4", "")]
    results = [answered("1", ""), answered("2", "Ulm"), answered("3", "")]
    found = measure_results([*results, Result("4", "4", (), error="failed")], questions, grounded=None)
    assert (found["declined"] or {})["value"] == 1 / 2
    assert measure_results(results[2:], questions[2:3], grounded=None)["declined"] is None
