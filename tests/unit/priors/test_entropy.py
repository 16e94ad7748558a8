"""Equations 5 to 8 of VoG by numbers worked out by hand, and what holds for any."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.priors.candidate_ranking import (
    adaptive_width,
    normalised_entropy,
    select_candidates,
    similarity_to_suggestions,
    softmax,
)

SHARP, PAPER = 0.05, 1.0

weights = st.lists(st.floats(-1, 1, width=32), max_size=40)


def test_a_candidate_weighs_as_much_as_it_is_like_the_suggestion_most_like_it() -> None:
    candidates = np.array([[1, 0], [0, 1], [-1, 0]], np.float32)
    suggested = np.array([[0.8, 0.6], [0.6, -0.8]], np.float32)
    assert similarity_to_suggestions(candidates, suggested).tolist() == [0.8, 0.6, -0.6]


@pytest.mark.parametrize(
    ("given", "temperature", "p"),
    [
        pytest.param([0, math.log(3)], 1, [0.25, 0.75], id="1 to 3"),
        pytest.param([0, math.log(3)], 0.5, [0.1, 0.9], id="1 to 3 squared"),
        pytest.param([5000, 5000 + math.log(3)], 1, [0.25, 0.75], id="powers too large for a float"),
        pytest.param([-0.4, -0.4, -0.4, -0.4], 0.05, [0.25] * 4, id="equals"),
        pytest.param([7], 1, [1], id="one"),
        pytest.param([], 1, [], id="none"),
    ],
)
def test_softmax(given: list[float], temperature: float, p: list[float]) -> None:
    assert softmax(given, temperature).tolist() == pytest.approx(p)


@pytest.mark.parametrize("temperature", [0, -1, math.nan])
def test_a_temperature_is_above_0(temperature: float) -> None:
    with pytest.raises(ValueError, match="a temperature must be above 0"):
        softmax([1, 2], temperature)


@pytest.mark.parametrize(
    ("p", "entropy"),
    [
        pytest.param([0.5, 0.5], 1, id="two equals"),
        pytest.param([0.1] * 10, 1, id="ten equals"),
        pytest.param([0.9, 0.1], 0.468996, id="in bits .137 + .332 of 1"),
        pytest.param([0.5, 0.25, 0.25], 0.946395, id="1.5 bits of 1.585"),
        pytest.param([0.5, 0.5, 0, 0], 0.5, id="an impossible outcome counts in the base: 1 bit of 2"),
        pytest.param([1, 0, 0], 0, id="certain"),
        pytest.param([1], 0, id="one outcome"),
        pytest.param([], 0, id="none"),
    ],
)
def test_normalised_entropy(p: list[float], entropy: float) -> None:
    assert normalised_entropy(p) == pytest.approx(entropy, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "temperature", "width"),
    [
        pytest.param([0.4] * 20, SHARP, 10, id="no one stands out: H = 1, 3 + 7"),
        pytest.param([1] + [0] * 19, SHARP, 3, id="one stands out: H = 0"),
        pytest.param([1, 1] + [0] * 14, SHARP, 4, id="two of 16: H = 1/4, 3 + 1.75"),
        pytest.param([1] * 4 + [0] * 12, SHARP, 6, id="four of 16: H = 1/2, 3 + 3.5"),
        pytest.param([1] + [0] * 10, PAPER, 9, id="no temperature, one stands out: H = .9714, 3 + 6.8"),
        pytest.param([0.4] * 5, SHARP, 5, id="no more than there are"),
        pytest.param([0.4] * 2, SHARP, 3, id="as in the paper, the least is stronger than what there is"),
        pytest.param([0.4], SHARP, 3, id="one candidate"),
        pytest.param([], SHARP, 3, id="none"),
    ],
)
def test_the_width_grows_with_the_entropy(given: list[float], temperature: float, width: int) -> None:
    assert adaptive_width(given, 3, 10, temperature) == width


@pytest.mark.parametrize("size", range(11, 60))
def test_among_equals_the_width_is_the_largest_whatever_their_number(size: int) -> None:
    assert adaptive_width([0.3] * size, 3, 10, SHARP) == 10


def test_the_best_are_kept_and_the_first_of_equals() -> None:
    given = [0.0, 1.0, 0.2, 0.2] + [0.0] * 6 + [0.2, -1.0]
    assert select_candidates(given, 3, 10, SHARP) == [1, 2, 3]


def test_what_is_few_stays_the_best_first() -> None:
    assert select_candidates([0.1, 0.9, 0.5], 1, 3, SHARP) == [1, 2, 0]
    assert select_candidates([0.1, 0.9, 0.5, 0.2], 1, 3, SHARP) == [1]


@given(weights, st.integers(1, 5), st.integers(5, 12), st.sampled_from([SHARP, PAPER]))
def test_none_that_is_left_out_is_better_than_one_that_is_kept(
    given: list[float], k_min: int, k_max: int, temperature: float
) -> None:
    places = select_candidates(given, k_min, k_max, temperature)
    out = [given[place] for place in range(len(given)) if place not in places]
    assert len(set(places)) == len(places) <= k_max
    assert len(places) >= min(k_min, len(given))
    assert not out or max(out) <= min(given[place] for place in places)
    assert [given[place] for place in places] == sorted(given, reverse=True)[: len(places)]
