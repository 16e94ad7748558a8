"""Answers to one question are scored as a set, one to one with the gold."""

import time
from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.scoring.scores import Score, score_answers


def question(*readings: Sequence[EntityRef]) -> Question:
    return Question("1", "?", readings=tuple(map(tuple, readings)))


def names(*given: str) -> list[EntityRef]:
    return [EntityRef(None, name) for name in given]


def test_precision_is_over_the_answers_and_recall_over_the_gold() -> None:
    found = score_answers(names("Ulm", "Rome", "Bonn", "Oslo"), question(names("Ulm", "Bonn", "Kiel")))
    assert found == Score(hit_at_1=1.0, hit_any=1.0, precision=2 / 4, recall=2 / 3, f1=4 / 7)


def test_only_the_first_answer_is_the_hit_at_1() -> None:
    found = score_answers(names("Rome", "Ulm"), question(names("Ulm")))
    assert found == Score(hit_at_1=0.0, hit_any=1.0, precision=0.5, recall=1.0, f1=2 / 3)


@pytest.mark.parametrize("answers", [[], names("Rome"), [EntityRef(None, None)], [EntityRef("m.0a", "Ulm")]])
def test_no_right_answer_scores_nothing(answers: list[EntityRef]) -> None:
    assert score_answers(answers, question([EntityRef("m.0b", "Ulm")])) == Score(0.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("readings", [(), ((),), ((), ())])
def test_without_gold_there_is_no_score(readings: tuple[tuple[EntityRef, ...], ...]) -> None:
    assert score_answers(names("Ulm"), question(*readings)) is None


def test_the_reading_that_fits_best_counts_and_one_without_gold_does_not() -> None:
    gold = question([], names("Ulm", "Bonn", "Kiel"), names("Ulm", "Oslo"), names("Oslo", "Ulm"))
    assert score_answers(names("Ulm"), gold) == Score(1.0, 1.0, 1.0, 0.5, 2 / 3)
    assert score_answers(names(), gold) == Score(0.0, 0.0, 0.0, 0.0, 0.0)


def test_among_readings_of_one_f1_that_of_the_first_answer_counts() -> None:
    gold = question(names("Ulm", "Bonn"), names("Oslo", "Kiel"))
    assert score_answers(names("Oslo", "Ulm"), gold) == Score(1.0, 1.0, 0.5, 0.5, 0.5)


def test_among_equal_readings_the_first_counts() -> None:
    # Both have F1 2/3 and no hit: 2 right of 4 answers and 2 gold, 3 right of 4 answers and 5 gold.
    gold = question(names("A1", "B1"), names("A1", "B1", "C1", "D1", "E1"))
    answers = names("X1", "A1", "B1", "C1")
    assert score_answers(answers, gold) == Score(0.0, 1.0, 0.5, 1.0, 2 / 3)
    swapped = question(*reversed(gold.readings))
    assert score_answers(answers, swapped) == Score(0.0, 1.0, 0.75, 0.6, 2 / 3)


@pytest.mark.parametrize("first", [0, 1])
def test_an_answer_that_is_there_with_and_without_its_id_counts_once(first: int) -> None:
    answers = [EntityRef("m.1", "Ulm"), EntityRef(None, "the Ulm")]
    given = [answers[first], answers[1 - first]]
    assert score_answers(given, question([EntityRef("m.1", "Ulm")])) == Score(1.0, 1.0, 1.0, 1.0, 1.0)
    assert score_answers(given, question(names("Ulm"))) == Score(1.0, 1.0, 1.0, 1.0, 1.0)
    assert score_answers(given, question([EntityRef("m.2", "Ulm")])) == Score(0.0, 0.0, 0.0, 0.0, 0.0)


def test_an_answer_that_is_there_twice_counts_once() -> None:
    once = score_answers(names("Rome", "Ulm"), question(names("Ulm", "Bonn")))
    assert (
        score_answers(names("Rome", "Ulm", "the Rome", "ulm", "ULM"), question(names("Ulm", "Bonn"))) == once
    )
    assert score_answers(names("Rome", "Ulm"), question(names("Ulm", "Bonn", "ulm"))) == once


def test_two_names_of_one_gold_answer_are_one_right_answer() -> None:
    gold = question([EntityRef("Q30", "United States", ("US", "USA")), EntityRef("Q183", "Germany")])
    assert score_answers(names("US", "USA"), gold) == Score(1.0, 1.0, 0.5, 0.5, 0.5)


def test_one_answer_is_one_of_two_gold_answers_of_that_name() -> None:
    gold = question([EntityRef("m.0a", "C*"), EntityRef("m.0b", "C*")])
    assert score_answers(names("C*"), gold) == Score(1.0, 1.0, 1.0, 0.5, 2 / 3)
    assert score_answers([EntityRef("m.0b", "x"), EntityRef(None, "C*")], gold) == Score(
        1.0, 1.0, 1.0, 1.0, 1.0
    )


def test_answers_are_matched_so_that_most_are_right() -> None:
    gold = question([EntityRef(None, "A1", ("B1",)), EntityRef(None, "C1", ("A1",))])
    for answers in (names("A1", "B1"), names("B1", "A1")):
        assert score_answers(answers, gold) == Score(1.0, 1.0, 1.0, 1.0, 1.0)


def test_names_of_gold_that_is_listed_twice_count_together() -> None:
    gold = question([EntityRef("m.0a", "Ulm"), EntityRef("m.0a", "Ulm (Donau)")])
    assert score_answers(names("ulm donau"), gold) == Score(1.0, 1.0, 1.0, 1.0, 1.0)


def test_a_truth_value_and_a_number_are_answers_like_any_other() -> None:
    assert score_answers([EntityRef("true", "true")], question(names("Yes"))) == Score(
        1.0, 1.0, 1.0, 1.0, 1.0
    )
    assert score_answers([EntityRef("53", "53")], question([EntityRef("53.0", "53.0")])) == Score(
        1.0, 1.0, 1.0, 1.0, 1.0
    )


def test_many_answers_are_scored_at_once() -> None:
    gold = question([EntityRef(f"m.0{at}", f"Thing {at}", (f"Alias {at}",)) for at in range(1500)])
    sets = (
        [EntityRef(f"m.0{at}", None) for at in range(1500, 0, -1)],
        names(*(f"the alias {at}" for at in range(1500))),
        [EntityRef(f"http://x/{at}", f"thing {at % 750}") for at in range(1500)],
    )
    start = time.process_time()
    found = [score_answers(answers, gold) for answers in sets]
    assert time.process_time() - start < 2  # all pairs: 6.75 million comparisons
    assert [one and one.recall for one in found] == [1499 / 1500, 1.0, 0.5]


IDS = st.sampled_from([None, "m.0a", "m.0b", "http://rdf.freebase.com/ns/m.0a", "Q1", "http://x/1", "3"])
NAMES = st.sampled_from(["Ulm", "the ulm", "Bonn", "3", "3.0", "yes", "C*", "1999-01-01"])
ANSWER = st.builds(EntityRef, IDS, NAMES)
GOLD = st.builds(EntityRef, IDS, NAMES, st.lists(NAMES, max_size=2).map(tuple))
READING = st.lists(GOLD, min_size=1, max_size=5)


@given(st.lists(ANSWER, max_size=6), st.lists(READING, min_size=1, max_size=3))
def test_a_score_is_consistent(answers: list[EntityRef], readings: list[list[EntityRef]]) -> None:
    found = score_answers(answers, question(*readings))
    assert found is not None
    assert all(0 <= value <= 1 for value in found)
    assert found.hit_at_1 <= found.hit_any
    assert (found.precision > 0) == (found.recall > 0) == (found.f1 > 0) == (found.hit_any > 0)
    assert min(found.precision, found.recall) <= found.f1 <= max(found.precision, found.recall)


@given(READING, st.data())
def test_the_gold_itself_is_perfect_in_any_order(gold: list[EntityRef], data: st.DataObject) -> None:
    answers = [EntityRef(named.id, named.name) for named in data.draw(st.permutations(gold))]
    assert score_answers(answers, question(gold)) == Score(1.0, 1.0, 1.0, 1.0, 1.0)


@given(st.lists(ANSWER, max_size=5), READING, st.data())
def test_the_order_of_answers_matters_to_the_first_only(
    answers: list[EntityRef], gold: list[EntityRef], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(answers))
    one, other = (
        score_answers(answers, question(gold)),
        score_answers(shuffled, question(data.draw(st.permutations(gold)))),
    )
    assert one is not None and other is not None
    assert one[1:] == other[1:]


@given(st.lists(ANSWER, max_size=5), READING, st.data())
def test_saying_an_answer_again_changes_nothing(
    answers: list[EntityRef], gold: list[EntityRef], data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(answers), max_size=3)) if answers else []
    assert score_answers(answers + again, question(gold)) == score_answers(answers, question(gold))


@given(st.lists(ANSWER, max_size=5), READING)
def test_a_wrong_answer_more_never_raises_precision(answers: list[EntityRef], gold: list[EntityRef]) -> None:
    before, after = (
        score_answers(answers, question(gold)),
        score_answers([*answers, EntityRef(None, "wrong")], question(gold)),
    )
    assert before is not None and after is not None
    assert after.precision < before.precision or before.precision == after.precision == 0
    assert after.recall == before.recall


def test_one_thing_with_an_id_and_without_is_one_in_any_order() -> None:
    answers = [EntityRef(None, "Ulm"), EntityRef("3", "3")]
    gold = [EntityRef(None, "Ulm"), EntityRef(None, "Bonn", ("Ulm",)), EntityRef("3", "Ulm")]
    found = {score_answers(answers, question(list(order))) for order in permutations(gold)}
    assert len(found) == 1
