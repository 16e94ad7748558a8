"""Equations 3 and 4 of VoG and its task reward by numbers worked out by hand."""

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from kgqa.priors.rewards import (
    RevisionMetrics,
    RewardPart,
    answer_confidence,
    answer_entropy,
    blend_rewards,
    cosine,
    default_threshold,
    measure_revision,
    task_reward,
)

FAIR = {"quality": 0.8, "coherence": 0.6, "efficiency": 0.5, "alignment": 0.7}

ULM, BONN, ROME, NONE = (frozenset(names) for names in (["ulm"], ["bonn"], ["rome"], []))

share = st.floats(0, 1)


def rows(*values: tuple[float, float]) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32).reshape(-1, 2)


def metrics(**other: Any) -> RevisionMetrics:
    """Measure a first step in a plane, its thought upright and its question level."""
    flat = {"question": (1, 0), "step": (0, 1), "predicted": (0.6, 0.8), "thought": (0, 1)}
    given: dict[str, Any] = {name: rows(value)[0] for name, value in flat.items()}
    return measure_revision(**{**given, "earlier": rows(), "facts": rows((1, 0)), **other})


def test_similarityes_are_cosines_from_0_to_1() -> None:
    assert asdict(metrics()) == {
        "quality": 0.8,
        "coherence": 0.5,
        "efficiency": 1.0,
        "alignment": 0.5,
        "contradicted": False,
        "unanswered": False,
    }


def test_similarityes_may_be_the_cosines_themselves() -> None:
    found = metrics(similarity=cosine, thought=rows((0.8, -0.6))[0], facts=rows((-1, 0), (0, 1)))
    assert (found.quality, found.coherence, found.efficiency, found.alignment) == (0.6, -0.6, 1.0, 0.0)
    assert task_reward(found) == pytest.approx(0.3 * 0.6 - 0.3 * 0.6 + 0.2)
    assert task_reward(RevisionMetrics(0.6, 0.5, 0.9, 0.7, unanswered=True)) == pytest.approx(0.55)


def test_nothing_predicted_has_no_quality() -> None:
    assert metrics(predicted=None).quality == 0


@pytest.mark.parametrize(
    ("earlier", "efficiency"),
    [
        pytest.param([], 1, id="a first step repeats nothing"),
        pytest.param([(0, 1)], 0, id="the same thought again"),
        pytest.param([(0, -1)], 1, id="the opposite"),
        pytest.param([(1, 0)], 1, id="another matter"),
        pytest.param([(1, 0), (0.8, 0.6)], 0.4, id="the one most alike counts: 1 - .6"),
    ],
)
def test_a_thought_is_compared_with_those_before_it(
    earlier: list[tuple[float, float]], efficiency: float
) -> None:
    assert metrics(earlier=rows(*earlier)).efficiency == pytest.approx(efficiency)


@pytest.mark.parametrize(
    ("facts", "coherence"),
    [
        pytest.param([], 0, id="nothing was observed"),
        pytest.param([(1, 0), (0.6, 0.8)], 0.9, id="the fact most alike counts"),
        pytest.param([(0, -1)], 0, id="the opposite"),
    ],
)
def test_a_thought_coheres_with_a_fact(facts: list[tuple[float, float]], coherence: float) -> None:
    assert metrics(facts=rows(*facts)).coherence == pytest.approx(coherence)


def test_rows_a_little_too_long_stay_within_1() -> None:
    long = rows((0, 1.0001))
    found = metrics(thought=long[0], earlier=long, facts=long)
    assert (found.coherence, found.efficiency) == (1, 0)


def test_what_an_answer_lacks_is_told_as_given() -> None:
    found = metrics(contradicted=True, unanswered=True)
    assert (found.contradicted, found.unanswered) == (True, True)


@pytest.mark.parametrize(
    ("contradicted", "unanswered", "reward"),
    [
        pytest.param(False, False, 0.66, id=".24 + .18 + .10 + .14"),
        pytest.param(True, False, 0.16, id="contradicted: - .5"),
        pytest.param(False, True, 0.56, id="unanswered: - .1"),
        pytest.param(True, True, 0.06, id="both"),
    ],
)
def test_the_task_reward_weighs_similarityes_and_takes_penalties(
    contradicted: bool, unanswered: bool, reward: float
) -> None:
    assert task_reward(
        RevisionMetrics(**FAIR, contradicted=contradicted, unanswered=unanswered)
    ) == pytest.approx(reward)


@pytest.mark.parametrize(
    ("part", "reward"),
    [
        pytest.param("quality", 0.6, id="quality: .42/.7"),
        pytest.param("coherence", 0.48 / 0.7, id="coherence: .48/.7"),
        pytest.param("efficiency", 0.7, id="efficiency: .56/.8"),
        pytest.param("alignment", 0.65, id="alignment: .52/.8"),
    ],
)
def test_a_part_that_is_left_out_leaves_its_weight_to_the_others(part: RewardPart, reward: float) -> None:
    assert task_reward(RevisionMetrics(**FAIR), part) == pytest.approx(reward)
    assert task_reward(RevisionMetrics(**FAIR, unanswered=True), part) == pytest.approx(reward - 0.1)
    assert task_reward(RevisionMetrics(1, 1, 1, 1), part) == pytest.approx(1)


def test_without_validation_there_are_no_penalties() -> None:
    assert task_reward(
        RevisionMetrics(**FAIR, contradicted=True, unanswered=True), "validation"
    ) == pytest.approx(0.66)


def test_a_reward_is_not_below_0() -> None:
    assert task_reward(RevisionMetrics(0.4, 0.4, 0.4, 0.4, contradicted=True)) == 0


@given(share, share, share, share, st.booleans(), st.booleans())
def test_a_reward_lies_between_0_and_1(
    a: float, b: float, c: float, d: float, contradicted: bool, unanswered: bool
) -> None:
    found = RevisionMetrics(a, b, c, d, contradicted, unanswered)
    parts: list[RewardPart | None] = ["quality", "coherence", "efficiency", "alignment", "validation", None]
    assert all(0 <= task_reward(found, part) <= 1 for part in parts)


def test_confidence_is_the_share_of_the_plans_that_agree() -> None:
    pool = [ULM, BONN, ULM, NONE]
    assert [answer_confidence(pool, key) for key in pool] == [0.5, 0.25, 0.5, 0.25]


@pytest.mark.parametrize(
    ("pool", "entropy"),
    [
        pytest.param([ULM], 0, id="one plan"),
        pytest.param([ULM] * 5, 0, id="all agree"),
        pytest.param([NONE] * 3, 0, id="all are without an answer"),
        pytest.param([ULM, BONN, ROME], 1, id="no two agree"),
        pytest.param([ULM, NONE, NONE, ULM], 1, id="half are without an answer"),
        pytest.param([ULM, BONN, ULM, ROME], 0.946395, id="1/2, 1/4, 1/4"),
        pytest.param([], 0, id="no plan"),
    ],
)
def test_the_entropy_of_answers(pool: list[frozenset[str]], entropy: float) -> None:
    assert answer_entropy(pool) == pytest.approx(entropy, abs=1e-6)


@pytest.mark.parametrize(
    ("entropy", "beta", "reward"),
    [
        pytest.param(0, 0.2, 0.6, id="lambda = .2"),
        pytest.param(1, 0.2, 0.536788, id="lambda = .2/e = .0736"),
        pytest.param(0, 0.4, 0.7, id="lambda = .4"),
        pytest.param(0.5, 0.4, 0.621306, id="lambda = .4/sqrt(e) = .2426"),
        pytest.param(0, 0, 0.5, id="no weight"),
    ],
)
def test_consensus_weighs_less_among_uncertain_answers(entropy: float, beta: float, reward: float) -> None:
    assert blend_rewards(0.5, 1.0, entropy, beta) == pytest.approx(reward, abs=1e-6)


@given(share, share, share, share)
def test_a_mixed_reward_lies_between_what_is_mixed(
    local: float, conf: float, entropy: float, beta: float
) -> None:
    low, high = sorted((local, conf))
    assert low - 1e-9 <= blend_rewards(local, conf, entropy, beta) <= high + 1e-9


def test_a_threshold_is_that_of_the_encoder() -> None:
    assert default_threshold("sentence-transformers/msmarco-bert-base-dot-v5") == 0.77
    assert default_threshold(None) == default_threshold("all-MiniLM-L6-v2") != 0.77
    assert default_threshold("msmarco-bert-base-dot-v5", "raw") == 0.77
    assert default_threshold(None, "raw") < default_threshold(None)


def test_without_a_threshold_one_is_told_how_to_find_it() -> None:
    with pytest.raises(ValueError, match=r"'some/encoder'.*kgqa calibrate.* --option threshold=$"):
        default_threshold("some/encoder")
