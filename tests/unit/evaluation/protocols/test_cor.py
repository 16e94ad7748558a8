"""The arithmetic of CoR's evaluation code: gold names inside of all answers joined."""

from dataclasses import replace

import pytest

from kgqa.evaluation.protocols.cor import (
    measure_cor as measure,
    measure_cor_paper as measure_paper,
    normalise_text,
    predicted_names,
    score_names,
)
from kgqa.evaluation.protocols.shared import measure_exact
from kgqa.evaluation.question import EntityRef
from kgqa.tests.unit.evaluation.protocols.cases import answered, asked, cor, ours, said, value


def test_cor_says_that_it_is_legacy() -> None:
    found = measure([], [])
    assert (found["protocol"], found["legacy"]) == ("cor", True)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The  Beatles", "beatles"),
        ("3.5", "35"),
        ("Beyoncé's <pad>", "beyoncés pad"),
        ("Vitamin A", "vitamin"),
        ("Ánna – the Great", "ánna – great"),
    ],
)
def test_cor_normalises(text: str, plain: str) -> None:
    assert normalise_text(text) == plain


@pytest.mark.parametrize(
    ("predicted", "gold", "hit"),
    [
        (["1993"], ["3"], True),
        (["New", "York"], ["New York"], True),
        (["Ulm"], ["Ulm on the Danube"], False),
        (["None"], ["One"], True),
        (["Ulm"], ["!!!"], True),
    ],
)
def test_cor_hits_by_substring_of_all_answers_joined(
    predicted: list[str], gold: list[str], hit: bool
) -> None:
    assert bool(score_names(predicted, gold).recall) is hit


def test_cor_counts_found_gold_as_precision() -> None:
    gold = ["Canada", "Mexico"]
    joined, listed = (
        score_names(["Canada, Mexico, Cuba, Peru"], gold, most=1.0),
        score_names(["Canada", "Mexico", "Cuba", "Peru"], gold, most=1.0),
    )
    assert (joined.precision, joined.f1) == (1.0, 1.0)
    assert (listed.precision, listed.recall, listed.f1) == (0.5, 1.0, pytest.approx(2 / 3))


def test_cor_gives_accuracy_as_the_share_of_gold_found() -> None:
    found = measure([cor("a", "Ulm")], [asked("a", "Ulm", "Bonn", "Rome", "Oslo")])
    assert (value(found, "accuracy"), value(found, "recall"), value(found, "f1")) == (0.25, 0.25, 0.4)


def test_cor_counts_two_golds_of_one_name_twice() -> None:
    twins = asked(
        "a", EntityRef("m.1", "Springfield"), EntityRef("m.2", "Springfield"), EntityRef("m.3", "Ulm")
    )
    assert value(measure([cor("a", "Springfield")], [twins]), "recall") == pytest.approx(2 / 3)


def test_cor_does_not_know_aliases() -> None:
    question = asked("a", EntityRef("m.1", "Rome", ("Eternal City",)))
    assert measure([cor("a", "Eternal City")], [question])["correct"] == 0


@pytest.mark.parametrize(
    ("name", "predicted"),
    [
        ("{Yes}. It is {Ulm, Bonn}", ["Ulm", "Bonn"]),
        ("It is {Ulm and Bonn}", ["Ulm", "Bonn"]),
        ("It is {Ulm AND Bonn}", ["Ulm", "Bonn"]),
        ("f{x} in Maths", ["x"]),
        ("{} in Maths", ["{} in Maths"]),
        ("Ulm, Bonn", ["Ulm, Bonn"]),
    ],
)
def test_cor_takes_what_the_last_braces_hold(name: str, predicted: list[str]) -> None:
    assert predicted_names(cor("a", name)) == predicted


def test_cor_takes_no_answer_for_the_word_none() -> None:
    assert predicted_names(cor("a")) == ["None"]
    assert measure([cor("a")], [asked("a", "One")])["correct"] == 1


def test_cor_leaves_questions_without_gold_out_of_its_means_but_not_of_kgr() -> None:
    questions = [asked("a", "Ulm"), asked("b")]
    found = measure([cor("a", "Ulm"), cor("b", "Ulm", action="generate_directly")], questions)
    assert (found["n"], found["excluded"], found["correct"]) == (2, 1, 1)
    assert (value(found, "hits_at_1"), value(found, "kgr")) == (1.0, 0.5)


def test_cor_counts_records_of_no_question_as_wrong() -> None:
    found = measure([cor("a", "Ulm"), cor("zzz", "Ulm")], [asked("a", "Ulm")])
    assert (found["unmatched"], value(found, "hits_at_1"), value(found, "f1")) == (1, 0.5, 0.5)


def test_cor_counts_actions_and_two_of_them_for_kgr() -> None:
    actions = ["Stop", "Constraint", "stop", "generate_directly", "ERROR"]
    questions = [asked(str(at), "Ulm") for at in range(5)]
    found = measure([cor(str(at), "Ulm", action=action) for at, action in enumerate(actions)], questions)
    assert found["actions"] == dict.fromkeys(actions, 1)
    assert value(found, "kgr") == 0.6


@pytest.mark.parametrize(
    ("gold", "given", "right"),
    [
        (
            EntityRef("m.1", "Rome", ("Eternal City",)),
            EntityRef("http://rdf.freebase.com/ns/m.1", "Roma"),
            True,
        ),
        (EntityRef("m.1", "Rome", ("Eternal City",)), EntityRef("m.2", "Rome"), False),
        (EntityRef("m.1", "Rome", ("Eternal City",)), EntityRef(None, "Rome"), True),
        (EntityRef("m.1", "Rome", ("Eternal City",)), EntityRef(None, "Eternal City"), False),
        (EntityRef("m.1", "Rome"), EntityRef(None, "rome"), False),
        (EntityRef(None, "The Beatles"), EntityRef(None, "Beatles"), False),
        (EntityRef(None, "4"), EntityRef("4", "4"), True),
        (EntityRef("4", None), EntityRef(None, "4"), True),
        (EntityRef(None, "4"), EntityRef("4.0", "4.0"), False),
    ],
)
def test_the_paper_compares_to_the_letter_and_without_aliases(
    gold: EntityRef, given: EntityRef, right: bool
) -> None:
    found = measure_paper([replace(ours("a"), answers=(given,))], [asked("a", gold)])
    assert (value(found, "hits_at_1"), value(found, "f1")) == (right, right)


def test_the_paper_hits_with_any_answer_and_scores_sets_per_question() -> None:
    questions = [asked("a", "Ulm", "Bonn"), asked("b", "Rome"), asked("c")]
    results = [ours("a", "Oslo", "Ulm", "Ulm", "Bern"), ours("b", "Bern"), ours("c", "Bern")]
    found = measure_paper(results, questions)
    names = ("hits_at_1", "precision", "recall", "f1", "kgr")
    assert [value(found, name) for name in names] == [
        1 / 2,  # "Ulm" is second, and hits
        pytest.approx((1 / 3 + 0) / 2),
        (1 / 2 + 0) / 2,
        (2 / 5 + 0) / 2,
        1.0,  # over all questions, those without gold as well
    ]
    assert (found["protocol"], found["n"], found["excluded"]) == ("cor_paper", 3, 1)


def test_by_exact_match_the_first_answer_is_the_one_that_counts() -> None:
    questions = [asked("a", "Ulm", "Bonn"), asked("b", "Rome"), asked("c", "Oslo"), asked("d")]
    results = [ours("a", "Oslo", "Ulm"), ours("b", "Rome", "Bern"), ours("c"), said("d", "Bern")]
    found = measure_exact(results, questions)
    assert (value(found, "hits_at_1"), value(found, "recall")) == (1 / 3, (1 / 2 + 1 + 0) / 3)
    assert (found["protocol"], found["legacy"], found["excluded"], "kgr" in found) == (
        "exact",
        True,
        1,
        False,
    )


def test_the_paper_s_kgr_is_of_answers_that_stop_or_filter_released() -> None:
    outcomes = ["grounded", "grounded_unverified", "grounded_inference", "parametric", "none"]
    published = [cor("f", "Ulm", action="Constraint"), cor("g", "Ulm", action="generate_directly"), cor("h")]
    results = [*(ours(text, "Ulm", outcome=o) for text, o in zip("abcde", outcomes, strict=True)), *published]
    found = measure_paper(results, [asked(text, "Ulm") for text in "abcdefgh"])
    assert value(found, "kgr") == 3 / 8  # what a filter picked is an inference


def test_one_of_our_records_is_its_list_of_answers() -> None:
    questions = [asked("a", "Ulm", "Bonn"), asked("b", "Ulm")]
    found = measure([ours("a", "Ulm", "Bonn"), ours("b", outcome="none")], questions)
    assert found["actions"] == {"Stop": 1, "none": 1}
    assert (value(found, "hits_at_1"), value(found, "f1")) == (0.5, 0.5)


def test_a_published_reply_in_text_is_one_string() -> None:
    assert predicted_names(answered("a", ["Ulm", "Bonn"])) == ["Ulm, Bonn"]
    assert predicted_names(said("a", None)) == ["None"]
