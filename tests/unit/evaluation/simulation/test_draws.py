"""Chance is a function of seed, question and step."""

from hypothesis import given, strategies as st

from kgqa.evaluation.simulation.error_rates import Draws


def test_draws_depend_on_seed_question_step_and_kind_and_on_nothing_else() -> None:
    usual = Draws(1, "q1", "prune").uniform("accuracy")
    assert Draws(1, "q1", "prune").uniform("accuracy") == usual
    others = [
        Draws(2, "q1", "prune").uniform("accuracy"),
        Draws(1, "q2", "prune").uniform("accuracy"),
        Draws(1, "q1", "verify").uniform("accuracy"),
        Draws(1, "q1", "prune").uniform("recall"),
    ]
    assert len({usual, *others}) == 5


def test_draws_are_the_same_in_every_process_and_version() -> None:
    assert round(Draws(1, "q1", "prune").uniform("accuracy"), 12) == 0.482395372455
    assert list(Draws(1, "q1", "prune").shuffled("relations", "abcde")) == ["e", "c", "b", "a", "d"]


def test_what_holds_throughout_a_question_is_the_same_at_every_step_of_it() -> None:
    usual = Draws(1, "q1", "prune").throughout("memory")
    assert Draws(1, "q1", "verify").throughout("memory") == usual
    others = [Draws(1, "q2", "prune"), Draws(2, "q1", "prune")]
    assert usual not in [each.throughout("memory") for each in others]
    assert usual not in (
        Draws(1, "q1", "prune").throughout("plan"),
        Draws(1, "q1", "prune").uniform("memory"),
    )


def test_question_and_step_cannot_be_taken_for_each_other() -> None:
    assert Draws(1, "a\nb", "c").uniform("x") != Draws(1, "a", "b\nc").uniform("x")


def test_draws_are_spread_evenly() -> None:
    drawn = [Draws(0, str(number), "").uniform("x") for number in range(4000)]
    assert all(0 <= each < 1 for each in drawn)
    for tenth in range(10):
        share = sum(tenth <= 10 * each < tenth + 1 for each in drawn)
        assert 340 < share < 460  # 400, give or take three standard deviations


def test_every_order_is_drawn() -> None:
    orders = {tuple(Draws(0, str(number), "").shuffled("x", "abc")) for number in range(200)}
    assert len(orders) == 6


@given(st.lists(st.integers(), max_size=20), st.text(), st.integers())
def test_a_shuffle_leaves_out_nothing(things: list[int], question: str, seed: int) -> None:
    assert sorted(Draws(seed, question, "step").shuffled("x", things)) == sorted(things)
