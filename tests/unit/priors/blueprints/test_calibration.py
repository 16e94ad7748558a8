import math

import numpy as np
import pytest

from kgqa.priors import copy_threshold
from kgqa.priors.copy_threshold import (
    THRESHOLDS,
    ThresholdCalibration,
    ThresholdResult,
    calibrate_copy_threshold,
)
from kgqa.priors.errors import BlueprintError
from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import BlueprintLesson
from kgqa.tests.unit.priors.blueprints.conftest import words


def lesson(question: str, *branches: str) -> BlueprintLesson:
    return BlueprintLesson(question, question, Blueprint.parse([branch.split() for branch in branches]))


def at(found: ThresholdCalibration, tau: float) -> ThresholdResult:
    return next(row for row in found.rows if row.tau == tau)


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> ThresholdCalibration:
    """Two templates are learned and four questions held out, at cosines 1, 1, 3/4 and 0."""
    monkeypatch.setattr(copy_threshold, "_draw_share", lambda question, seed: float(question[0].islower()))
    vectors = {
        "abcd": (1, 1, 1, 1, 0),
        "e": (0, 0, 0, 0, 1),
        "Same": (1, 1, 1, 1, 0),
        "Turned": (0, 0, 0, 0, 1),
    }
    vectors |= {"Near": (1, 1, 1, 0, 1), "Far": (1, -1, 0, 0, 0)}

    def encode(texts: list[str]) -> np.ndarray:
        rows = np.array([vectors[text] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    learned = [lesson("abcd", "r s"), lesson("e", "t")]
    held_out = [lesson("Same", "r s"), lesson("Turned", "^t"), lesson("Near", "u"), lesson("Far", "v")]
    return calibrate_copy_threshold([*learned, *held_out], encode, "longest", 0.5)


def test_what_is_copied_and_what_is_right_is_counted(four: ThresholdCalibration) -> None:
    assert (four.learned, four.held_out, four.templates) == (2, 4, 2)
    assert at(four, 0.75) == ThresholdResult(0.75, copied=2, share=0.5, precision=0.5, same_relations=1.0)
    assert at(four, 0.7) == ThresholdResult(0.7, copied=3, share=0.75, precision=1 / 3, same_relations=2 / 3)


def test_a_threshold_has_to_be_exceeded(four: ThresholdCalibration) -> None:
    assert at(four, 0.75).copied == 2  # one question is at 0.75 exactly


def rows(*counts: tuple[int, float | None]) -> ThresholdCalibration:
    made = (
        ThresholdResult(tau, n, n / 100, right, right)
        for tau, (n, right) in zip(THRESHOLDS, counts, strict=False)
    )
    return ThresholdCalibration(100, 100, 10, tuple(made))


def test_the_least_threshold_that_is_precise_enough_is_recommended() -> None:
    found = rows((90, 0.5), (60, 0.9), (50, 0.85), (40, 0.95))
    assert found.recommended(0.9) == THRESHOLDS[1]
    assert found.recommended(0.92) == THRESHOLDS[3]


def test_few_copies_prove_nothing() -> None:
    assert rows((90, 0.5), (19, 1.0), (0, None)).recommended(0.9) is None
    assert rows((20, 1.0)).recommended(1.0) == THRESHOLDS[0]


LESSONS = [lesson(f"question {n}?", f"r{n % 3}") for n in range(300)]


def test_the_seed_alone_tells_who_is_held_out() -> None:
    first, again, other = (
        calibrate_copy_threshold(LESSONS, words, "longest", 0.2, seed) for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other
    assert first.learned + first.held_out == 300
    # of 300 draws with chance 0.2 all but one of a million give 60 within 5 deviations of 6.9
    assert math.isclose(first.held_out, 60, abs_tol=35)


def test_questions_of_one_text_are_on_one_side() -> None:
    found = calibrate_copy_threshold([lesson(f"q {n // 2}", "r") for n in range(100)], words, "longest")
    assert found.held_out % 2 == found.learned % 2 == 0


def test_questions_without_a_blueprint_are_passed_over() -> None:
    without = [BlueprintLesson("q?", "q?", "none")] * 50
    assert calibrate_copy_threshold([*LESSONS, *without], words, "longest") == calibrate_copy_threshold(
        LESSONS, words, "longest"
    )


def test_too_few_questions_are_told() -> None:
    with pytest.raises(BlueprintError, match="1 questions with a blueprint are too few"):
        calibrate_copy_threshold(LESSONS[:1], words, "longest")
