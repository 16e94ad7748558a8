"""The threshold that tells right revisions from wrong ones."""

import pytest
from hypothesis import given, strategies as st

from kgqa.evaluation.paper_analysis.calibration import CalibrationError, Trial, calibrate, read_trials
from kgqa.evaluation.scoring.scores import score_results
from kgqa.tests.unit.evaluation.test_revision import RIGHT, WRONG, asked, planned, result, revised


def of(right: list[float], wrong: list[float]) -> list[Trial]:
    return [*(Trial(reward, True) for reward in right), *(Trial(reward, False) for reward in wrong)]


def test_each_threshold_is_measured() -> None:
    found = calibrate(of([0.6, 0.8, 0.9], [0.3, 0.7]))
    assert (found.right, found.wrong) == (3, 2)
    told = [(cut.threshold, cut.right, cut.wrong, cut.youden) for cut in found.cuts]
    assert told == [
        (0.3, 3, 2, 0),
        (0.6, 3, 1, 1 / 2),
        (0.7, 2, 1, pytest.approx(1 / 6)),
        (0.8, 2, 0, pytest.approx(2 / 3)),
        (0.9, 1, 0, pytest.approx(1 / 3)),
    ]
    assert (found.best.threshold, found.best.sensitivity, found.best.specificity) == (0.8, 2 / 3, 1)


def test_the_area_is_the_share_of_pairs_in_order_and_half_of_the_ties() -> None:
    assert calibrate(of([0.6, 0.8, 0.9], [0.3, 0.7])).auc == 5 / 6
    assert calibrate(of([0.5], [0.5])).auc == 0.5
    assert calibrate(of([0.1], [0.5, 0.6])).auc == 0


def test_of_equal_thresholds_the_lowest_is_best() -> None:
    assert calibrate(of([0.4, 0.8], [0.3, 0.7])).best.threshold == 0.4


def test_what_is_printed_accepts_what_was_measured() -> None:
    best = calibrate(of([0.71239], [0.71139])).best
    assert (best.threshold, best.right, best.wrong) == (0.712, 1, 0)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=30))
def test_a_reward_of_luck_is_no_better_than_luck_turned_round(pairs: list[tuple[float, bool]]) -> None:
    tried = [Trial(*pair) for pair in pairs]
    if len({trial.right for trial in tried}) == 1:
        with pytest.raises(CalibrationError, match="nothing is to be told apart"):
            calibrate(tried)
        return
    found = calibrate(tried)
    turned = calibrate([Trial(trial.reward, not trial.right) for trial in tried])
    assert found.auc + turned.auc == pytest.approx(1)
    assert all(cut.youden <= found.best.youden <= 1 for cut in found.cuts)
    assert found.best.youden >= 0


def test_without_revisions_of_both_kinds_one_line_says_what_to_do() -> None:
    with pytest.raises(CalibrationError, match=r"^no revision was made; take more questions, or others$"):
        calibrate([])
    with pytest.raises(CalibrationError, match=r"^all 2 revisions are wrong, so"):
        calibrate(of([], [0.1, 0.2]))
    with pytest.raises(CalibrationError, match=r"^all 1 revisions are right, so"):
        calibrate(of([0.1], []))


def test_every_revision_of_a_scored_question_is_a_trial() -> None:
    results = [
        result(0, planned(), *revised("local", RIGHT, reward=0.6), *revised("global", WRONG, reward=0.4)),
        result(1, planned(), *revised("local", RIGHT, reward=0.9)),
        result(2, planned()),
    ]
    assert read_trials(score_results(results, asked(4, 1))) == [Trial(0.6, True), Trial(0.4, False)]


def test_a_revision_after_an_empty_observation_is_no_trial() -> None:
    """It is taken up whether or not its reward reaches the threshold."""
    observed = revised("local", RIGHT, reward=0.6, empty=False)
    empty = revised("lookahead", WRONG, reward=0.9, empty=True)
    assert read_trials(score_results([result(0, planned(), *empty, *observed)], asked(1))) == [
        Trial(0.6, True)
    ]
