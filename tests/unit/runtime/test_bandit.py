"""Equations 2 and 9 to 11 of VoG by numbers worked out by hand."""

import math
from typing import Any

import pytest

from kgqa.graphs.vog import VoG
from kgqa.nodes.vog.appraise import best_arm, entropy_bonus, kg_bonus, score_arms
from kgqa.nodes.vog.state import ARMS, Bandit
from kgqa.prompts.revise_plan import Arm

EARNED = Bandit({"local": 2, "lookahead": 1, "global": 1}, {"local": 1.2, "lookahead": 0.5, "global": 0.7})

PLAIN = {"local": 1.765577, "lookahead": 2.148374, "global": 2.348374}
"""Scores of `EARNED` without bonuses: .6 + 1.4 sqrt(ln 4 / 2), .5 and .7 + 1.4 sqrt(ln 4)."""


def scores(bandit: Bandit, **other: Any) -> dict[Arm, float]:
    """Score the arms; what is not of the step is an option."""
    given: dict[str, Any] = {"entropy": 0.5, "step_index": 1, "repeated": False}
    step = {name: other.pop(name, value) for name, value in given.items()}
    return score_arms(bandit, VoG(**other), **step)


def run(*arms: Arm, reward: float = 0.5) -> Bandit:
    bandit = Bandit.blank()
    for arm in arms:
        bandit = bandit.after(arm, reward)
    return bandit


def test_the_first_three_revisions_try_each_arm_once_whatever_they_earn() -> None:
    bandit, chosen = Bandit.blank(), []
    for reward in (0.0, 1.0, 0.3):
        arm = best_arm(scores(bandit))
        chosen.append(arm)
        bandit = bandit.after(arm, reward)
    assert chosen == ["local", "lookahead", "global"]


def test_an_arm_that_was_not_tried_is_before_any_that_was() -> None:
    bandit = run("local", "lookahead", "local")
    assert scores(bandit)["global"] == math.inf
    assert best_arm(scores(bandit)) == "global"


def test_equation_2_without_bonuses() -> None:
    found = scores(EARNED, kg_priors=False, diversity=False)
    assert found == pytest.approx(PLAIN, abs=1e-6)
    assert list(found) == list(ARMS)


@pytest.mark.parametrize(
    ("more", "bonus"),
    [
        pytest.param({}, {"lookahead": -0.0870062, "global": 0.05}, id="step 1, H = .5"),
        pytest.param({"step_index": 3}, {"lookahead": -0.0999329, "global": 0.05}, id="step 3"),
        pytest.param({"expected_depth": 5}, {"lookahead": -0.0664037, "global": 0.05}, id="expected depth 5"),
        pytest.param({"entropy": 1}, {"lookahead": -0.0870062, "global": 0.0952574}, id="H = 1"),
        pytest.param({"repeated": True}, {"lookahead": -0.0870062, "global": 0.07}, id="a loop"),
    ],
)
def test_bonuses_of_the_graph_are_added(more: dict[str, Any], bonus: dict[Arm, float]) -> None:
    expected = {arm: score + bonus.get(arm, 0) for arm, score in PLAIN.items()}
    assert scores(EARNED, **more) == pytest.approx(expected, abs=1e-6)
    assert scores(EARNED, **more, kg_priors=False) == pytest.approx(PLAIN, abs=1e-6)


def test_alpha_weighs_exploration() -> None:
    found = scores(EARNED, alpha=1.68, kg_priors=False, diversity=False)
    expected = {"local": 1.998692, "lookahead": 2.478048, "global": 2.678048}  # .6 + 1.68 sqrt(ln 4 / 2), ...
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_weights_of_all_bonuses_are_scaled_at_once() -> None:
    bandit = Bandit(EARNED.counts, EARNED.rewards, ("local", "global", "global"))
    bonus: dict[Arm, float] = {"local": -0.05, "lookahead": -0.0870062, "global": 0.05 - 0.4}
    for scale in (0.0, 0.8, 1.0, 1.2):
        expected = {arm: score + scale * bonus[arm] for arm, score in PLAIN.items()}
        assert scores(bandit, bonus_scale=scale) == pytest.approx(expected, abs=1e-6)


def test_a_fixed_strategy_that_is_no_arm_is_booked_as_well() -> None:
    bandit = run("mixed", "mixed", reward=0.25)
    assert (bandit.counts["mixed"], bandit.rewards["mixed"], bandit.recent) == (2, 0.5, ("mixed", "mixed"))


@pytest.mark.parametrize(("entropy", "bonus"), [(0, 0.0047426), (0.5, 0.05), (1, 0.0952574)])
def test_uncertainty_speaks_for_a_new_plan(entropy: float, bonus: float) -> None:
    assert entropy_bonus("global", entropy) == pytest.approx(bonus, abs=1e-7)
    assert entropy_bonus("local", entropy) == entropy_bonus("lookahead", entropy) == 0


@pytest.mark.parametrize(
    ("arm", "repeated", "bonus"),
    [
        ("lookahead", False, -0.0870062),
        ("lookahead", True, -0.0870062),
        ("global", True, 0.02),
        ("global", False, 0),
        ("local", True, 0),
        ("local", False, 0),
    ],
)
def test_depth_speaks_against_looking_ahead_and_a_loop_for_a_new_plan(
    arm: Arm, repeated: bool, bonus: float
) -> None:
    assert kg_bonus(arm, 1, 3, repeated) == pytest.approx(bonus, abs=1e-7)


@pytest.mark.parametrize(
    ("recent", "penalty"),
    [
        pytest.param(("local",) * 3, {"local": 0.15}, id="local: 3 x .05"),
        pytest.param(("lookahead",) * 3, {"lookahead": 0.3}, id="lookahead: 3 x .1"),
        pytest.param(("global",) * 3, {"global": 0.6}, id="global: 3 x .2"),
        pytest.param(ARMS, {"local": 0.05, "lookahead": 0.1, "global": 0.2}, id="each once"),
        pytest.param(
            ("global", "local", "global"), {"local": 0.05, "global": 0.4}, id="a window and no streak"
        ),
    ],
)
def test_arms_chosen_of_late_are_penalised(recent: tuple[Arm, ...], penalty: dict[Arm, float]) -> None:
    bandit = Bandit(EARNED.counts, EARNED.rewards, recent)
    expected = {arm: score - penalty.get(arm, 0) for arm, score in PLAIN.items()}
    assert scores(bandit, kg_priors=False) == pytest.approx(expected, abs=1e-6)
    assert scores(bandit, kg_priors=False, diversity=False) == pytest.approx(PLAIN, abs=1e-6)


def test_a_selection_is_forgotten_after_three_others() -> None:
    counted = [
        run("global", *arms).recent.count("global")
        for arms in ([], ["local"], ["local", "local"], ["local", "local", "lookahead"])
    ]
    assert counted == [1, 1, 1, 0]


def test_a_penalty_larger_than_exploration_is_a_score_still() -> None:
    bandit = run(*["local"] * 2, *["lookahead"] * 2, *["global"] * 12)
    found = scores(bandit, kg_priors=False)
    assert found["global"] == pytest.approx(0.5 + 1.4 * math.sqrt(math.log(16) / 12) - 0.6)


def test_the_best_is_chosen_and_the_first_of_equals() -> None:
    assert best_arm({"local": 1, "lookahead": 3, "global": 2}) == "lookahead"
    assert best_arm({"global": 1, "lookahead": 1, "local": 0}) == "lookahead"
    assert best_arm(dict.fromkeys(ARMS, 0.5)) == "local"


def test_diversity_can_turn_the_choice() -> None:
    bandit = Bandit(EARNED.counts, EARNED.rewards, ("global", "global", "local"))
    assert best_arm(scores(bandit, diversity=False)) == "global"
    assert best_arm(scores(bandit)) == "lookahead"


def test_a_revision_is_booked_without_changing_what_was() -> None:
    before = run("local", "lookahead")
    after = before.after("local", 0.25).after("global", 1)
    assert before == run("local", "lookahead")
    assert after.counts == {"local": 2, "lookahead": 1, "global": 1}
    assert after.rewards == {"local": 0.75, "lookahead": 0.5, "global": 1}
    assert after.recent == ("lookahead", "local", "global")
