"""The arithmetic of CoG's evaluation code: PoG's matching with another way out, and its F1."""

import pytest

from kgqa.evaluation.datasets import load
from kgqa.evaluation.protocols.pog import measure_cog as measure
from kgqa.evaluation.protocols.shared import character_f1, matches_any_gold
from kgqa.evaluation.result_files import read_results
from kgqa.tests.support.perfect import DATA
from kgqa.tests.unit.evaluation.protocols.cases import answered, asked, ours, said, value


def test_cog_says_that_it_is_legacy() -> None:
    found = measure([], [])
    assert (found["protocol"], found["legacy"]) == ("cog", True)


def test_cog_compares_the_whole_reply_where_it_finds_no_answer() -> None:
    questions = [asked("a", "Rome"), asked("b", "Ulm")]
    assert measure([answered("a", "Rome"), said("b", "{Ulm, oops")], questions)["correct"] == 2
    assert measure([answered("a", "Rome"), said("b", "{Rome, oops")], questions)["correct"] == 1


def test_cog_finds_every_gold_that_shares_a_letter() -> None:
    gold = [f"a{number}" for number in range(1, 11)]
    assert character_f1("a1", gold, matches_any_gold) == (1.0, 1.0, 1.0)


def test_cog_gives_a_wrong_answer_full_recall() -> None:
    assert character_f1("Paris", ["Jamaican English"], matches_any_gold) == (0.0, 1.0, 0.0)


def test_cog_finds_no_gold_without_a_common_letter() -> None:
    assert character_f1("12", ["Ulm", "21st"], matches_any_gold) == (0.0, 0.5, 0.0)


def test_cog_finds_every_gold_with_a_space() -> None:
    assert character_f1("12", ["New York"], matches_any_gold)[1] == 1.0


def test_cog_counts_right_pieces_between_commas() -> None:
    precision, _, f1 = character_f1("Ulm, Rome, , Bonn", ["Ulm", "Bonn"], matches_any_gold)
    assert (precision, f1) == (pytest.approx(2 / 3), pytest.approx(0.8))


def test_cog_splits_a_list_as_python_prints_it() -> None:
    found = measure([answered("a", ["Ulm", "Rome"])], [asked("a", "Ulm")])
    assert (value(found, "precision"), value(found, "recall")) == (0.5, 1.0)


def test_cog_leaves_empty_answers_out_of_its_f1() -> None:
    questions = [asked("a", "Ulm"), asked("b", "Ulm")]
    found = measure([answered("a", ""), answered("b", "Ulm")], questions)
    assert (found["correct"], found["n"], found["predicted"]) == (2, 2, 1)
    assert value(found, "f1") == 1.0


def test_cog_has_no_f1_for_commas_or_for_no_gold() -> None:
    assert character_f1(",,", ["Ulm"], matches_any_gold) == (0.0, 0.0, 0.0)
    assert character_f1("Ulm", [], matches_any_gold) == (0.0, 0.0, 0.0)


def test_our_records_take_part_as_with_pog() -> None:
    questions = [asked("a", "Ulm"), asked("b", "Ulm")]
    found = measure([ours("a", "Ulm"), ours("b", outcome="none")], questions)
    assert (found["correct"], found["predicted"], value(found, "f1")) == (1, 1, 1.0)


PUBLISHED = DATA / "published" / "pog_webqsp_gpt-3.5.jsonl.gz"


@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"needs {PUBLISHED}")
def test_cog_on_the_published_output_of_pog_for_webqsp() -> None:
    found = measure(read_results(PUBLISHED), load(DATA / "published" / "webqsp_gold.json.gz").questions)
    metrics = {name: value(found, name) for name in ("hits_at_1", "precision", "recall", "f1")}
    percent = {name: round(100 * (share or 0), 1) for name, share in metrics.items()}
    assert percent == {"hits_at_1": 78.6, "precision": 75.9, "recall": 98.8, "f1": 76.8}
