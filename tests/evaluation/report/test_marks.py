"""Which answers were right, and how a question went."""

import pytest

from kgqa.evaluation.question import Named, Question
from kgqa.evaluation.report.marks import mark
from kgqa.evaluation.result import Result

ULM, BONN, ROME = (Named(f"http://t/e/{name.lower()}", name) for name in ("Ulm", "Bonn", "Rome"))


def question(*readings: tuple[Named, ...]) -> Question:
    return Question("1", "Where?", readings=readings)


def result(*answers: Named, error: str | None = None, outcome: str = "grounded") -> Result:
    return Result("1", "Where?", answers, outcome, error)


@pytest.mark.parametrize(
    ("answers", "state", "right", "missed"),
    [
        ((ULM, BONN), "right", (True, True), ()),
        ((ULM, ROME), "partly", (True, False), (BONN,)),
        ((ROME,), "wrong", (False,), (ULM, BONN)),
        ((), "wrong", (), (ULM, BONN)),
        ((Named(None, "ulm"), ULM), "partly", (True, True), (BONN,)),
    ],
)
def test_each_answer_is_held_against_the_gold(
    answers: tuple[Named, ...], state: str, right: tuple[bool, ...], missed: tuple[Named, ...]
) -> None:
    found = mark(result(*answers), question((ULM, BONN)))
    assert (found.state, found.right, found.missed) == (state, right, missed)


def test_the_reading_that_fits_best_counts() -> None:
    found = mark(result(ULM), question((BONN, ROME), (), (ULM,)))
    assert (found.state, found.right, found.missed) == ("right", (True,), ())


def test_among_readings_of_one_f1_that_of_the_first_answer_counts() -> None:
    found = mark(result(ULM, BONN), question((BONN,), (ULM,)))
    assert (found.right, found.score and found.score.hit_at_1) == ((True, False), 1.0)


@pytest.mark.parametrize("failure", [{"error": "ValueError: no"}, {"outcome": "kg_unavailable"}])
def test_a_question_that_failed_has_failed_whatever_it_answered(failure: dict[str, str]) -> None:
    assert mark(result(ULM, **failure), question((ULM,))).state == "failed"
    assert mark(result(ULM, **failure), question()).state == "failed"


def test_without_gold_nothing_is_right_or_wrong() -> None:
    found = mark(result(ULM), question())
    assert (found.state, found.score, found.right) == ("unscored", None, None)


def test_without_a_record_a_question_is_missing() -> None:
    assert mark(None, question((ULM,))).state == "missing"
