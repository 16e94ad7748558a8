"""The arithmetic of PoG's evaluation code, quirk by quirk."""

import json

import pytest

from kgqa.evaluation.datasets import load
from kgqa.evaluation.protocols.pog import measure_pog as measure
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.result_files import read_results
from kgqa.tests.support.perfect import DATA
from kgqa.tests.unit.evaluation.protocols.cases import answered, asked, ours, said, value


def right(result: Result, *gold: str | EntityRef, level: str | None = None) -> bool:
    """Return whether a single record counts as right."""
    found = measure([result], [asked(result.question, *gold, level=level)])
    return bool(found["correct"])


def test_pog_says_that_it_is_legacy() -> None:
    found = measure([], [])
    assert (found["protocol"], found["legacy"]) == ("pog", True)
    assert found["note"].endswith("For comparison with published numbers only.")


@pytest.mark.parametrize(
    ("answer", "gold", "correct"),
    [
        ("New York", "newyork", True),
        ("2014", "2014 World Series", True),
        ("Shia Islam", "Islam", True),
        ("Ulm, Bonn, Rome", "Rome", True),
        ("Beyoncé", "Beyonce", False),
        ("U.S.", "US", False),
        ("Greece", "C", True),
        (1999, "1999", True),
        (None, "None", True),
    ],
)
def test_pog_matches_by_substring_in_both_directions(answer: object, gold: str, correct: bool) -> None:
    assert right(answered("?", answer), gold) is correct


def test_pog_counts_an_empty_answer_as_right() -> None:
    assert right(answered("?", ""), "Ulm")
    assert right(said("?", ""), "Ulm")


def test_pog_counts_a_list_as_the_string_that_python_prints() -> None:
    assert right(answered("?", ["Ulm", "Bonn"]), "Bonn")
    assert right(answered("?", ["Ulm", "Bonn"]), "ulm', 'bonn")


def test_pog_counts_a_question_without_gold_as_wrong() -> None:
    found = measure([answered("a", "Ulm"), answered("b", "Ulm")], [asked("a"), asked("b", "Ulm")])
    assert (found["n"], found["correct"], value(found, "hits_at_1")) == (2, 1, 0.5)


def test_pog_divides_by_records_not_by_questions() -> None:
    found = measure([answered("a", "Ulm")], [asked("a", "Ulm"), asked("b", "Bonn")])
    assert (found["n"], value(found, "hits_at_1")) == (1, 1.0)


def test_pog_counts_records_of_no_question_as_wrong() -> None:
    found = measure([answered("a", "Ulm"), answered("zzz", "Ulm")], [asked("a", "Ulm")])
    assert (found["n"], found["correct"], found["unmatched"]) == (2, 1, 1)


def test_pog_takes_the_last_record_of_a_question() -> None:
    found = measure([answered("a", "Ulm"), answered("a", "Bonn")], [asked("a", "Ulm")])
    assert (found["n"], found["correct"]) == (1, 0)


def test_pog_takes_any_reading_and_alias() -> None:
    readings = ((EntityRef("m.1", "Ulm"),), (EntityRef("m.2", "Rome", ("Eternal City",)),))
    question = Question("1", "a", readings=readings)
    assert measure([answered("a", "eternal city")], [question])["correct"] == 1


def test_pog_takes_the_id_of_gold_without_a_name() -> None:
    assert right(answered("?", "m.0abc"), EntityRef("m.0abc", None))
    assert not right(answered("?", "null"), EntityRef("m.0abc", None))


def test_pog_takes_null_for_a_name_in_grailqa() -> None:
    assert right(answered("?", "Null"), EntityRef("m.0abc", None), level="zero-shot")
    assert not right(answered("?", "m.0abc"), EntityRef("m.0abc", None), level="zero-shot")
    assert right(answered("?", "m.0abc"), EntityRef("m.0abc", None), level="easy")


@pytest.mark.parametrize(
    ("reply", "gold", "correct"),
    [
        ('So: {"Answer": "Ulm"}', "Ulm", True),
        ('{"A": {"Sufficient": "Yes"}, "Answer": "Ulm"}', "Ulm", True),  # no A.Answer: the pattern finds it
        ('{"Answer": "Rome", "Answer": "Ulm"', "Rome", False),  # the last one counts
        ('{"Answer": "Rome", "Answer": "Ulm"', "Ulm", True),
        ('{"Answer": "St John\'s", oops', "Johns", False),  # up to the next quote of either kind
        ('{"Answer": ["Rome", "Ulm"], oops', "Ulm", True),  # one by one
        ('{"Answer": ["Rome", "Ulm"], oops', "', '", False),
        ("{\"Answer\": ['Rome', 'Ulm'], oops", "Ulm", True),
        ("It is Ulm, I think.", "Ulm", True),
        ('{"Answer": "Rome"} "Ulm"', "Ulm", False),  # more after the JSON: the pattern
    ],
)
def test_pog_reads_a_reply_step_by_step(reply: str, gold: str, correct: bool) -> None:
    assert right(said("?", reply), gold) is correct


def test_pog_compares_the_answer_before_where_it_finds_none() -> None:
    questions = [asked("a", "Ulm"), asked("b", "Ulm"), asked("c", "Rome")]
    found = measure([answered("a", "Ulm"), said("b", "{oops"), said("c", "{oops")], questions)
    assert found["correct"] == 2
    assert measure([said("b", "{oops")], questions)["correct"] == 0


def test_pog_keeps_the_item_that_was_right_for_the_record_after() -> None:
    listed = said("a", '{"Answer": ["Ulm", "Rome"], oops')
    questions = [asked("a", "Ulm"), asked("b", "Ulm"), asked("c", "Rome")]
    assert measure([listed, said("b", "{oops")], questions)["correct"] == 2
    assert measure([listed, said("c", "{oops")], questions)["correct"] == 1


def test_one_of_our_records_is_put_into_the_json_of_pog() -> None:
    assert right(ours("?", "Ulm"), "Ulm")
    assert right(ours("?", "Ulm", "Bonn"), "bonn")
    assert right(ours("?", "Ulm", "Bonn"), "Ulm', 'Bonn")


def test_one_of_our_records_without_an_answer_is_wrong() -> None:
    assert not right(ours("?", outcome="none"), "Ulm")
    assert not right(said("?", None), "Ulm")


def test_pog_means_costs_over_the_records_that_state_a_time() -> None:
    spent = {"call_num": 4, "input_token": 100, "output_token": 10, "time": 2.0}
    records = [answered("a", "Ulm", **spent), answered("b", "Ulm", **{**spent, "call_num": 8})]
    free = answered("c", "Ulm", call_num=99)
    found = measure([*records, free], [asked("a", "Ulm")])
    assert found["llm_calls"] == {"mean": 6.0, "p50": 6.0, "p95": pytest.approx(7.8), "max": 8.0}
    assert found["total_tokens"]["mean"] == 110
    assert measure([free], [asked("c", "Ulm")])["llm_calls"] is None


def test_pog_breaks_down_by_type_and_level() -> None:
    questions = [
        asked("a", "Ulm", kind="conjunction"),
        asked("b", "Bonn", kind="conjunction", level="i.i.d."),
    ]
    found = measure([answered("a", "Ulm"), answered("b", "Ulm")], questions)["breakdowns"]
    assert [(key, group["n"], group["correct"]) for key, group in found["kind"].items()] == [
        ("conjunction", 2, 1)
    ]
    assert found["level"]["i.i.d."]["hits_at_1"] == {"value": 0.0, "low": 0.0, "high": 0.0}


PUBLISHED = DATA / "published" / "pog_webqsp_gpt-3.5.jsonl.gz"
GOLD = DATA / "published" / "webqsp_gold.json.gz"
needs_data = pytest.mark.skipif(not PUBLISHED.exists(), reason=f"needs {PUBLISHED}")


@needs_data
def test_pog_on_its_published_output_for_webqsp() -> None:
    found = measure(read_results(PUBLISHED), load(GOLD).questions)
    assert (found["correct"], found["n"], found["unmatched"]) == (1288, 1639, 0)
    assert value(found, "hits_at_1") == pytest.approx(0.7858, abs=5e-5)
    assert found["hits_at_1"]["low"] < 0.77 < 0.80 < found["hits_at_1"]["high"]
    assert (round(found["llm_calls"]["mean"], 1), round(found["total_tokens"]["mean"], 1)) == (9.0, 5517.7)


GRAILQA = DATA / "formats" / "grailqa_pog.json"


@pytest.mark.skipif(not GRAILQA.exists(), reason=f"needs {GRAILQA}")
def test_pog_takes_every_gold_string_of_grailqa_as_its_file_has_it() -> None:
    records = json.loads(GRAILQA.read_bytes())
    for record, question in zip(records, load(GRAILQA).questions, strict=True):
        for answer in record["answer"]:
            assert right(
                answered(question.text, answer.get("entity_name", answer["answer_argument"])), *question.gold
            )
