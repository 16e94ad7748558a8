"""Equations 4 to 6 of CoG by numbers worked out by hand, and what holds for any."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kgqa.priors.candidate_ranking import (
    RelationSignals,
    SignalWeights,
    Similarities,
    align_steps,
    relation_words,
)

PAPER = SignalWeights(0.6, 0.25, 0.15)

LOCAL, STEP, GLOB = ([0.5, 0.1], [0.2, 0.8], [0.4, 0.9])

similarity = st.floats(-1, 1, width=32)


@st.composite
def tables(draw: st.DrawFn) -> Similarities:
    """Similarities of up to 6 subgoals to up to 5 slots."""
    steps, slots = draw(st.integers(0, 6)), draw(st.integers(1, 5))
    row = st.lists(similarity, min_size=slots, max_size=slots)
    return array(draw(st.lists(row, min_size=steps, max_size=steps))).reshape(steps, slots)


def array(values: object) -> Similarities:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("table", "aligned"),
    [
        pytest.param([[0.9, 0.1, 0.2]], [0], id="one step has the slot most alike to it"),
        pytest.param([[0.2, 0.1, 0.9]], [2], id="the first step may have any slot"),
        pytest.param([[0.9, 0.1, 0.2], [0.1, 0.3, 0.8], [0.9, 0.2, 0.1]], [0, 2, 2], id="never back"),
        pytest.param([[0.1, 0.9, 0.3], [0.9, 0.2, 0.4]], [1, 2], id="the best of the slots that are left"),
        pytest.param([[0.9, 0.1, 0.2], [0.8, 0.1, 0.2]], [0, 0], id="a slot may have several steps"),
        pytest.param([[0.5, 0.5, 0.5]], [0], id="the first of equals"),
        pytest.param([[0.1, 0.7, 0.2], [0.9, 0.4, 0.4]], [1, 1], id="the first of equals that are left"),
        pytest.param([[-0.9, -0.1, -0.5]], [1], id="similarities below 0"),
        pytest.param([[0.3], [0.9]], [0, 0], id="one slot"),
        pytest.param([[0.9, 0.1]] * 4, [0, 0, 1, 1], id="steps beyond the last slot are at it"),
    ],
)
def test_alignment(table: list[list[float]], aligned: list[int]) -> None:
    assert align_steps(array(table)) == aligned


def test_no_steps_are_aligned_with_nothing() -> None:
    assert align_steps(np.empty((0, 3), np.float32)) == []


@pytest.mark.parametrize(
    ("passed", "aligned"),
    [
        ([0, 0, 0], [0, 0, 0]),
        ([0, 1, 1], [0, 1, 1]),
        ([2, 0, 0], [2, 2, 2]),
        ([0, 9, 0], [0, 2, 2]),
        ([1], [1, 1, 1]),
        ([], [0, 0, 0]),
    ],
)
def test_slots_that_lie_behind_are_not_waited_at(passed: list[int], aligned: list[int]) -> None:
    assert align_steps(array([[0.9, 0.5, 0.1]] * 3), passed) == aligned


def test_what_lies_behind_leaves_the_choice_among_the_rest() -> None:
    assert align_steps(array([[0.9, 0.1, 0.7]]), [1]) == [2]


@given(tables(), st.lists(st.integers(0, 9), max_size=7))
def test_an_alignment_never_goes_back_and_stays_among_the_slots(
    table: Similarities, passed: list[int]
) -> None:
    steps, slots = table.shape
    aligned = align_steps(table, passed)
    assert len(aligned) == steps
    assert aligned == sorted(aligned)
    assert all(0 <= slot < slots for slot in aligned)
    assert all(slot >= min(behind, slots - 1) for slot, behind in zip(aligned, passed, strict=False))


@given(tables())
def test_each_step_has_the_first_of_the_slots_most_alike_from_the_one_before_on(table: Similarities) -> None:
    aligned = align_steps(table)
    for step, (before, slot) in enumerate(zip([0, *aligned], aligned, strict=False)):
        if step < table.shape[1]:
            assert all(table[step, slot] > other for other in table[step, before:slot])
            assert table[step, slot] == table[step, before:].max()
        else:
            assert slot == table.shape[1] - 1


@pytest.mark.parametrize(
    ("local", "step", "glob", "fused"),
    [
        pytest.param(LOCAL, STEP, GLOB, [0.41, 0.395], id=".30+.05+.06 and .06+.20+.135"),
        pytest.param(LOCAL, STEP, None, [0.35 / 0.85, 0.26 / 0.85], id="no global signal"),
        pytest.param(LOCAL, None, GLOB, [0.48, 0.26], id="no step signal: .36/.75 and .195/.75"),
        pytest.param(None, STEP, GLOB, [0.275, 0.8375], id="no local signal: .11/.4 and .335/.4"),
        pytest.param(LOCAL, None, None, LOCAL, id="local alone"),
        pytest.param(None, STEP, None, STEP, id="step alone"),
        pytest.param(None, None, GLOB, GLOB, id="global alone"),
    ],
)
def test_fusion_weighs_the_signals_that_are_there(
    local: list[float] | None, step: list[float] | None, glob: list[float] | None, fused: list[float]
) -> None:
    signals = RelationSignals(*(None if signal is None else array(signal) for signal in (local, step, glob)))
    assert signals.fuse(PAPER) == pytest.approx(fused, abs=1e-6)


@pytest.mark.parametrize(
    ("weights", "fused"),
    [
        pytest.param(SignalWeights(3, 1, 0), [0.425, 0.275], id="weights need not add up to 1"),
        pytest.param(SignalWeights(0, 0, 2), GLOB, id="one weight"),
        pytest.param(SignalWeights(0, 0, 0), [0, 0], id="no weight"),
    ],
)
def test_weights_are_made_to_add_up_to_1(weights: SignalWeights, fused: list[float]) -> None:
    signals = RelationSignals(array(LOCAL), array(STEP), array(GLOB))
    assert signals.fuse(weights) == pytest.approx(fused, abs=1e-6)


def test_a_weight_on_what_is_missing_leaves_nothing() -> None:
    assert RelationSignals(array(LOCAL)).fuse(SignalWeights(0, 0.6, 0.4)).tolist() == [0, 0]


def test_without_any_signal_nothing_can_be_fused() -> None:
    with pytest.raises(ValueError, match="at least one signal"):
        RelationSignals(None).fuse(PAPER)


def test_relations_with_equal_signals_are_equal() -> None:
    fused = RelationSignals(array([0.3, 0.3]), array([0.1, 0.1]), array([0.7, 0.7])).fuse(PAPER)
    assert fused[0] == fused[1]


def test_fusion_leaves_the_signals_as_they_are() -> None:
    signals = RelationSignals(array(LOCAL), array(STEP), array(GLOB))
    assert signals.fuse(PAPER).dtype == np.float32
    assert [signal.tolist() for signal in signals if signal is not None] == [
        array(values).tolist() for values in (LOCAL, STEP, GLOB)
    ]


@given(
    st.lists(st.tuples(similarity, similarity, similarity), min_size=1, max_size=5),
    st.tuples(st.booleans(), st.booleans(), st.booleans()).filter(any),
    st.tuples(*[st.floats(0.01, 1)] * 3),
)
def test_a_fused_score_lies_among_its_signals(
    rows: list[tuple[float, float, float]], there: tuple[bool, ...], weights: tuple[float, float, float]
) -> None:
    columns = array(rows).T
    signals = RelationSignals(
        *(column if given else None for column, given in zip(columns, there, strict=True))
    )
    known = columns[list(there)]
    fused = signals.fuse(SignalWeights(*weights))
    assert fused.shape == (len(rows),)
    assert (fused >= known.min(axis=0) - 1e-5).all() and (fused <= known.max(axis=0) + 1e-5).all()


@pytest.mark.parametrize(
    ("name", "words"),
    [("film.director.film_s", "film director film s"), ("born in", "born in"), ("_a.._b_", "a b"), ("", "")],
)
def test_a_relation_is_encoded_as_words(name: str, words: str) -> None:
    assert relation_words(name) == words
