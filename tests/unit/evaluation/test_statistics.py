"""Intervals and tests, against numbers worked out by hand."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.evaluation.scoring import statistics
from kgqa.evaluation.scoring.statistics import (
    Interval,
    bootstrap_interval,
    bootstrap_intervals,
    mcnemar_p_value,
    summarise_costs,
)

SHARES = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 1 / 3])


def test_over_nothing_there_is_no_mean() -> None:
    assert bootstrap_interval([]) == Interval(None, None, None)
    assert bootstrap_intervals([], columns=2) == [Interval(None, None, None)] * 2


def test_one_question_says_nothing_of_how_others_would_do() -> None:
    assert bootstrap_interval([0.25]) == Interval(0.25, 0.25, 0.25)


def test_the_resamples_of_two_questions_are_known() -> None:
    # 0, 1/2 and 1 come up in 1/4, 1/2 and 1/4 of the resamples: 2.5% and 97.5% lie in the outer ones.
    assert bootstrap_interval([0, 1]) == Interval(0.5, 0.0, 1.0)


def test_the_interval_of_ten_questions_is_that_of_the_binomial() -> None:
    # Of B(10, 1/2): P(X <= 1) = 11/1024 = 1.1%, P(X <= 2) = 56/1024 = 5.5%, and so from above.
    assert bootstrap_interval([0, 1] * 5) == Interval(0.5, 0.2, 0.8)
    # Of B(10, 1/10): P(X = 0) = 34.9%, P(X <= 2) = 93.0%, P(X <= 3) = 98.7%.
    assert bootstrap_interval([1] + [0] * 9) == Interval(0.1, 0.0, 0.3)


def test_the_interval_of_many_questions_is_that_of_the_normal_curve() -> None:
    # Standard error of the mean: sqrt(1/4 / 10000) = 0.005; 1.96 of these on either side.
    found = bootstrap_interval([0, 1] * 5000)
    assert found.value == 0.5
    assert found.low == pytest.approx(0.4902, abs=0.001)
    assert found.high == pytest.approx(0.5098, abs=0.001)


def test_many_distinct_questions_are_drawn_in_blocks_and_as_the_normal_curve_says() -> None:
    # Of 20,000 evenly spread values the standard error is sqrt(1/12 / 20000) = 0.00204.
    rows = [[at / 19_999, 1 - at / 19_999] for at in range(20_000)]
    tracemalloc.start()
    first, second = bootstrap_intervals(rows, columns=2)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 100e6  # all draws at once: 320 MB
    assert first.value == pytest.approx(0.5)
    assert first.low == pytest.approx(0.4960, abs=0.0004)
    assert first.high == pytest.approx(0.5040, abs=0.0004)
    assert second.low == pytest.approx(1 - (first.high or 0))


def test_metrics_of_one_question_are_drawn_together() -> None:
    first, second = bootstrap_intervals([(0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (1.0, 0.0)], columns=2)
    assert first.value == 1 - (second.value or 0)
    assert first.low == pytest.approx(1 - (second.high or 0))


def test_a_seed_gives_one_interval_and_another_gives_another() -> None:
    values = [at / 97 for at in range(97)]
    assert bootstrap_interval(values, seed=1) == bootstrap_interval(values, seed=1)
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)


def test_without_a_seed_the_intervals_are_those_of_seed_0() -> None:
    values = [at / 97 for at in range(97)]
    assert (
        bootstrap_interval(values) == bootstrap_interval(values, seed=0) != bootstrap_interval(values, seed=1)
    )
    assert bootstrap_intervals(np.c_[values], columns=1) == [bootstrap_interval(values, seed=0)]


def test_of_2000_resamples_50_lie_below_the_interval_and_50_above() -> None:
    values = np.sqrt(np.arange(97))
    means = np.concatenate(list(statistics._draw_resamples(np.ones(97, int), seed=3))) @ values / 97
    found = bootstrap_interval(values.tolist(), seed=3)
    assert (int((means < found.low).sum()), int((means > found.high).sum())) == (50, 50)


@pytest.mark.parametrize("counts", [[1], [3, 1], [900, 600], [40_000, 1], [1] * 50, [1] * 2500, [2, 1] * 900])
def test_as_many_resamples_as_are_told_are_drawn_each_of_all_questions(counts: list[int]) -> None:
    blocks = list(statistics._draw_resamples(np.array(counts), seed=1))
    assert sum(map(len, blocks)) == statistics.BOOTSTRAP_RESAMPLES
    assert all((block.sum(axis=1) == sum(counts)).all() for block in blocks)
    assert max(map(len, blocks)) * sum(counts) <= statistics.MAX_BLOCK_NUMBERS


@settings(max_examples=30)
@given(st.lists(SHARES, min_size=1, max_size=20), st.integers(0, 5), st.data())
def test_a_mean_lies_in_its_interval_whatever_the_order(
    values: list[float], seed: int, data: st.DataObject
) -> None:
    found = bootstrap_interval(values, seed)
    assert found.value is not None and found.low is not None and found.high is not None
    assert min(values) - 1e-12 <= found.low <= found.value <= found.high <= max(values) + 1e-12
    assert found.value == pytest.approx(sum(values) / len(values))
    assert bootstrap_interval(data.draw(st.permutations(values)), seed) == found


def test_a_spread_is_worked_out_by_hand() -> None:
    # Percentile p lies at place (n - 1) p: 1.5 between 2 and 4; 2.85 between 4 and 10.
    assert summarise_costs([10, 2, 1, 4]) == pytest.approx(
        {"mean": 4.25, "p50": 3.0, "p95": 4 + 0.85 * 6, "max": 10.0}
    )
    assert summarise_costs([7]) == {"mean": 7.0, "p50": 7.0, "p95": 7.0, "max": 7.0}
    assert summarise_costs([]) is None


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (6, 0, 2 / 64),
        (0, 6, 2 / 64),
        (5, 1, 2 * (1 + 6) / 64),
        (3, 3, 1.0),
        (10, 2, 2 * (1 + 12 + 66) / 4096),
    ],
)
def test_mcnemar_is_the_exact_binomial_test(only_a: int, only_b: int, p: float) -> None:
    assert mcnemar_p_value(only_a, only_b) == pytest.approx(p)
