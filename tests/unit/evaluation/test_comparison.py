"""Two runs are compared on the same questions."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.comparison import (
    Comparison,
    Difference,
    McNemar,
    compare_results,
    compare_scored,
)
from kgqa.evaluation.scoring.scores import ScoredQuestion, score_results

METRICS = ["hits_at_1", "hit_any", "precision", "recall", "f1"]


def asked(n: int, gold: str = "Ulm") -> list[Question]:
    return [Question(str(at), f"question {at}", readings=((EntityRef(None, gold),),)) for at in range(n)]


def run(answers: str) -> list[Result]:
    """One result for each letter: ``r`` right, ``w`` wrong, ``f`` failed, ``.`` missing."""
    names = {"r": "Ulm", "w": "Rome", "f": "Ulm"}
    return [
        Result(
            str(at), f"question {at}", (EntityRef(None, names[one]),), error="X: y" if one == "f" else None
        )
        for at, one in enumerate(answers)
        if one != "."
    ]


def test_the_difference_is_that_of_the_means() -> None:
    found = compare_results(run("rrrw"), run("rwww"), asked(4))
    assert found.n == 4
    assert list(found.differences) == METRICS
    assert {one.value for one in found.differences.values()} == {0.5}
    assert found.mcnemar == McNemar(both=1, only_a=2, only_b=0, neither=1, p=0.5)


def test_each_metric_has_its_own_difference() -> None:
    questions = [Question("0", "?", readings=((EntityRef(None, "Ulm"), EntityRef(None, "Bonn")),))]
    a = [Result("0", "?", (EntityRef(None, "Ulm"),))]
    b = [
        Result(
            "0",
            "?",
            (
                EntityRef(None, "Rome"),
                EntityRef(None, "Ulm"),
                EntityRef(None, "Oslo"),
                EntityRef(None, "Bonn"),
            ),
        )
    ]
    # a: (1, 1, 1, 1/2, 2/3), b: (0, 1, 1/2, 1, 2/3).
    found = [one.value for one in compare_results(a, b, questions).differences.values()]
    assert found == pytest.approx([1.0, 0.0, 0.5, -0.5, 0.0])


def test_what_one_run_failed_at_is_wrong_there() -> None:
    found = compare_results(run("rrrr"), run("rfff"), asked(4))
    assert found.mcnemar == McNemar(both=1, only_a=3, only_b=0, neither=0, p=0.25)
    assert found.differences["f1"].value == 0.75


def test_what_a_run_has_no_record_of_is_left_out_and_counted() -> None:
    # Both have questions 0 and 2; a lacks 1 and 4, b lacks 3 and 4.
    questions = [*asked(5), Question("5", "question 5")]
    found = compare_results(run("r.rr."), run("rrw"), questions)
    assert (found.n, found.missing_a, found.missing_b) == (2, 2, 2)
    assert found.mcnemar == McNemar(both=1, only_a=1, only_b=0, neither=0, p=1.0)
    assert found.differences["hits_at_1"].value == 0.5


def test_questions_without_gold_are_left_out() -> None:
    questions = [*asked(2), Question("2", "question 2"), Question("3", "question 3", readings=((),))]
    assert compare_results(run("rrrr"), run("rwww"), questions).n == 2


def test_the_interval_of_paired_differences_is_known() -> None:
    # Five of ten questions differ by 1: B(10, 1/2) / 10, whose 2.5% and 97.5% are 2 and 8.
    found = compare_results(run("r" * 10), run("rrrrrwwwww"), asked(10))
    assert found.differences["hits_at_1"] == Difference(0.5, 0.2, 0.8)


def test_a_run_does_not_differ_from_itself() -> None:
    found = compare_results(run("rwrw"), run("rwrw"), asked(4))
    assert set(found.differences.values()) == {Difference(0.0, 0.0, 0.0)}
    assert found.mcnemar == McNemar(both=2, only_a=0, only_b=0, neither=2, p=1.0)


def test_without_questions_there_is_no_difference() -> None:
    found = compare_results([], [], [])
    assert (found.n, found.mcnemar.p) == (0, 1.0)
    assert set(found.differences.values()) == {Difference(None, None, None)}


def test_a_comparison_is_written_as_json() -> None:
    written = json.loads(json.dumps(asdict(compare_results(run("rr"), run("rw"), asked(2)))))
    assert written["mcnemar"] == {"both": 1, "only_a": 1, "only_b": 0, "neither": 0, "p": 1.0}
    assert written["differences"]["f1"] == {"value": 0.5, "low": 0.0, "high": 1.0}


@settings(max_examples=30)
@given(st.text("rwf.", max_size=12), st.text("rwf.", max_size=12), st.integers(0, 3))
def test_a_comparison_the_other_way_round_is_its_opposite(a: str, b: str, seed: int) -> None:
    one, other = (compare_results(run(x), run(y), asked(12), seed) for x, y in ((a, b), (b, a)))
    assert (one.mcnemar.only_a, one.mcnemar.only_b) == (other.mcnemar.only_b, other.mcnemar.only_a)
    assert one.mcnemar.p == pytest.approx(other.mcnemar.p)
    assert one.mcnemar.both + one.mcnemar.only_a + one.mcnemar.only_b + one.mcnemar.neither == one.n
    assert (one.missing_a, one.missing_b) == (other.missing_b, other.missing_a)
    assert max(one.missing_a, one.missing_b) <= 12 - one.n <= one.missing_a + one.missing_b
    for name in METRICS if one.n else []:
        difference = one.differences[name]
        assert difference.value == pytest.approx(-(other.differences[name].value or 0))
        assert -1 <= (difference.low or 0) <= (difference.value or 0) <= (difference.high or 0) <= 1


def test_a_comparison_is_the_same_for_a_seed() -> None:
    def found(seed: int) -> Comparison:
        return compare_results(run("rwrwrrw" * 9), run("wwrrrwr" * 9), asked(63), seed)

    assert found(5) == found(5)


def judged(*answers: str, gold: int) -> list[list[ScoredQuestion]]:
    return [score_results(run(one), asked(gold)) for one in answers]


def test_of_several_seeds_a_question_counts_once_with_its_mean() -> None:
    # Differences at the questions: (1 + 1)/2, (1 - 1)/2, (0 + 1)/2, 0.
    a, b = judged("rrrw", "rwrw", gold=4), judged("wwrw", "wrww", gold=4)
    found = compare_scored(list(zip(a, b, strict=True)))
    assert (found.n, found.differences["hits_at_1"].value) == (4, (1 + 0 + 0.5 + 0) / 4)
    assert found.mcnemar == McNemar(both=1, only_a=2, only_b=0, neither=1, p=0.5)


def test_the_same_pair_twice_is_that_pair() -> None:
    a, b = judged("rrrwwf.r", "rwwrwrrr", gold=8)
    assert compare_scored([(a, b)] * 2) == compare_scored([(a, b)])


def test_of_several_seeds_those_questions_count_that_all_have() -> None:
    a, b = judged("rr", ".r", gold=2), judged("ww", "ww", gold=2)
    found = compare_scored(list(zip(a, b, strict=True)))
    assert (found.n, found.missing_a, found.missing_b) == (1, 1, 0)
