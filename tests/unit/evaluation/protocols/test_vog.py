"""The arithmetic of VoG's evaluation code: pieces between commas."""

import pytest

from kgqa.evaluation.protocols.pog import measure_vog as measure
from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.result import Result
from kgqa.tests.unit.evaluation.protocols.cases import answered, asked, ours, said, value

SPENT = {"call_num": 4, "total_token": 110, "input_token": 100, "output_token": 10, "time": 2.0}


def right(result: Result, *gold: str | EntityRef) -> bool:
    return bool(measure([result], [asked(result.question, *gold)])["correct"])


def test_vog_says_that_it_is_legacy() -> None:
    found = measure([], [])
    assert (found["protocol"], found["legacy"]) == ("vog", True)


@pytest.mark.parametrize(
    ("answer", "gold", "correct"),
    [
        ("Rome, New York", "newyork", True),
        ("Ulm]", "Ulm", True),
        ("Rome, Bonn", "Rome and Bonn", True),
        ("RomexBonn", "Rome, Bonn", False),
        ("Rome", "Ulm", False),
    ],
)
def test_vog_takes_any_piece_between_commas(answer: str, gold: str, correct: bool) -> None:
    assert right(said("?", answer), gold) is correct


def test_vog_counts_a_comma_at_the_end_as_right() -> None:
    assert right(said("?", "Rome,"), "Ulm")
    assert right(said("?", ","), "Ulm")


def test_vog_leaves_records_without_an_answer_out_of_all_but_the_count() -> None:
    questions = [asked("a", "Ulm", kind="simple"), asked("b", "Ulm", kind="simple")]
    found = measure([said("a", ""), said("b", "Ulm")], questions)
    assert (found["n"], found["correct"], found["predicted"]) == (2, 1, 1)
    assert (value(found, "hits_at_1"), value(found, "f1")) == (0.5, 1.0)
    assert found["breakdowns"]["kind"]["simple"]["n"] == 1


def test_vog_gives_a_wrong_answer_full_recall() -> None:
    found = measure([said("a", "Paris")], [asked("a", "Jamaican English")])
    assert [value(found, name) for name in ("precision", "recall", "f1")] == [0.0, 1.0, 0.0]


def test_vog_finds_every_gold_by_an_empty_piece() -> None:
    assert value(measure([said("a", "12,")], [asked("a", "Ulm")]), "recall") == 1.0
    assert value(measure([said("a", "12")], [asked("a", "Ulm")]), "recall") == 0.0


def test_vog_ends_the_count_at_a_record_that_cost_nothing() -> None:
    questions = [asked(text, "Ulm") for text in "abc"]
    records = [
        said("a", "Ulm", **SPENT),
        said("b", "Ulm", **{**SPENT, "call_num": 0}),
        said("c", "Ulm", **SPENT),
    ]
    found = measure(records, questions)
    assert (found["n"], found["correct"], found["predicted"], found["cut"]) == (3, 1, 1, 2)
    assert found["llm_calls"]["mean"] == 2.0


def test_vog_takes_a_reply_in_json_by_its_answers() -> None:
    assert right(answered("?", ["Rome", "Ulm"]), "Ulm")
    assert not right(answered("?", "Rome"), "Sufficient")


def test_one_of_our_records_is_its_names_joined_by_commas() -> None:
    free = {"usage": {"llm_calls": 0, "input_tokens": 0, "output_tokens": 0, "seconds": 1.0}}
    assert right(ours("?", "Rome", "Ulm", **free), "Ulm")
    assert not right(ours("?", outcome="none"), "Ulm")
    assert value(measure([ours("?", "Rome", "Ulm")], [asked("?", "Ulm")]), "precision") == 0.5


@pytest.mark.parametrize("gold", ["no", "No", "nk"])
def test_vog_does_not_take_our_unknown_for_what_is_inside_of_this_word(gold: str) -> None:
    assert not right(ours("?", "unknown", outcome="none"), gold)
    assert right(ours("?", gold), gold)
