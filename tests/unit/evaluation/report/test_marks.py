"""Which answers were right, and how a question went."""

import pytest

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.report.questions import mark_result
from kgqa.evaluation.result import Result

ULM, BONN, ROME = (EntityRef(f"http://t/e/{name.lower()}", name) for name in ("Ulm", "Bonn", "Rome"))


def question(*readings: tuple[EntityRef, ...]) -> Question:
    return Question("1", "Where?", readings=readings)


def result(*answers: EntityRef, error: str | None = None, outcome: str = "grounded") -> Result:
    return Result("1", "Where?", answers, outcome, error)


@pytest.mark.parametrize(
    ("answers", "state", "right", "missed"),
    [
        ((ULM, BONN), "right", (True, True), ()),
        ((ULM, ROME), "partly", (True, False), (BONN,)),
        ((ROME,), "wrong", (False,), (ULM, BONN)),
        ((), "wrong", (), (ULM, BONN)),
        ((EntityRef(None, "ulm"), ULM), "partly", (True, True), (BONN,)),
    ],
)
def test_each_answer_is_held_against_the_gold(
    answers: tuple[EntityRef, ...], state: str, right: tuple[bool, ...], missed: tuple[EntityRef, ...]
) -> None:
    found = mark_result(result(*answers), question((ULM, BONN)))
    assert (found.state, found.right, found.missed) == (state, right, missed)


def test_the_reading_that_fits_best_counts() -> None:
    found = mark_result(result(ULM), question((BONN, ROME), (), (ULM,)))
    assert (found.state, found.right, found.missed) == ("right", (True,), ())


def test_among_readings_of_one_f1_that_of_the_first_answer_counts() -> None:
    found = mark_result(result(ULM, BONN), question((BONN,), (ULM,)))
    assert (found.right, found.score and found.score.hit_at_1) == ((True, False), 1.0)


@pytest.mark.parametrize("failure", [{"error": "ValueError: no"}, {"outcome": "kg_unavailable"}])
def test_a_question_that_failed_has_failed_whatever_it_answered(failure: dict[str, str]) -> None:
    assert mark_result(result(ULM, **failure), question((ULM,))).state == "failed"
    assert mark_result(result(ULM, **failure), question()).state == "failed"


def test_without_gold_nothing_is_right_or_wrong() -> None:
    found = mark_result(result(ULM), question())
    assert (found.state, found.score, found.right) == ("unscored", None, None)


def test_without_a_record_a_question_is_missing() -> None:
    assert mark_result(None, question((ULM,))).state == "missing"
