"""A run is measured over every question, by hand-made numbers."""

import json
import random
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.run_metrics import Metrics, measure_results
from kgqa.evaluation.scoring.statistics import BOOTSTRAP_RESAMPLES
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition
from kgqa.kg.terms import Chain, Entity, Hop, Literal

METRICS = ("hits_at_1", "hit_any", "precision", "recall", "f1")


def named(names: str) -> tuple[EntityRef, ...]:
    return tuple(EntityRef(None, name) for name in names.split())


def question(id: str, gold: str, **known: Any) -> Question:
    return Question(id, f"question {id}", readings=(named(gold),), **known)


def result(id: str, answers: str, outcome: str | None = "grounded", **more: Any) -> Result:
    return Result(id, f"question {id}", named(answers), outcome, **more)


def measured(results: Sequence[Result], questions: Sequence[Question], **more: Any) -> Metrics:
    return measure_results(results, questions, grounded=more.pop("grounded", None), **more)


def values(shares: Any) -> list[float | None]:
    return [shares[name]["value"] for name in METRICS]


def test_metrics_are_means_over_questions() -> None:
    # By question: (1, 1, 1, 1, 1), (0, 1, 1/2, 1/2, 1/2), (1, 1, 1, 1/3, 1/2), (0, 0, 0, 0, 0).
    questions = [
        question("1", "Ulm"),
        question("2", "Ulm Bonn"),
        question("3", "A1 B1 C1"),
        question("4", "X1"),
    ]
    results = [result("1", "Ulm"), result("2", "Rome Ulm"), result("3", "B1"), result("4", "")]
    found = measured(results, questions)
    assert values(found) == pytest.approx([2 / 4, 3 / 4, 2.5 / 4, (1 + 1 / 2 + 1 / 3) / 4, 2 / 4])
    assert (found["n"], found["errors"], found["missing"], found["unscored"]) == (4, 0, 0, 0)
    assert (found["protocol"], found["seed"], found["resamples"]) == ("strict", 0, BOOTSTRAP_RESAMPLES)


def test_what_failed_or_is_missing_is_wrong() -> None:
    questions = [question(id, "Ulm") for id in "12345"]
    results = [
        result("1", "Ulm"),
        result("2", "Ulm", "kg_unavailable"),
        result("3", "Ulm", "model_unavailable"),
        result("4", "Ulm", error="ValueError: x"),
    ]
    found = measured(results, questions)
    assert (found["n"], found["errors"], found["missing"]) == (5, 3, 1)
    assert values(found) == [0.2] * 5
    assert found["kg_grounded_rate"]["value"] == 0.2
    assert found["answered"]["n"] == 1
    assert values(found["answered"]) == [1.0] * 5
    assert found["outcomes"] == {"grounded": 2, "kg_unavailable": 1, "model_unavailable": 1}


def test_questions_without_gold_are_counted_and_not_scored() -> None:
    questions = [question("1", "Ulm"), question("2", ""), question("3", "")]
    found = measured([result("1", "Ulm"), result("2", "Ulm"), result("3", "", "none")], questions)
    assert (found["n"], found["unscored"], found["answered"]["n"]) == (3, 2, 1)
    assert values(found) == [1.0] * 5
    assert found["kg_grounded_rate"]["value"] == pytest.approx(2 / 3)


def test_over_no_questions_there_are_no_means() -> None:
    found = measured([], [])
    nothing = {"value": None, "low": None, "high": None}
    assert [found[name] for name in METRICS] == [nothing] * 5  # type: ignore[literal-required]
    assert found["kg_grounded_rate"] == nothing
    assert found["n"] == 0
    assert found["breakdowns"] == {"hops": {}, "kind": {}, "level": {}, "answers": {}, "intermediate": {}}


def test_without_results_every_question_is_wrong() -> None:
    found = measured([], [question("1", "Ulm"), question("2", "Ulm")], grounded={})
    assert found["missing"] == 2
    assert values(found) == [0.0] * 5
    assert found["kg_grounded_rate"]["value"] == 0.0
    assert found["kg_grounded_rate_strict"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_grounded_takes_an_answer_and_strictly_a_query_that_gives_it() -> None:
    questions = [question(id, "Ulm") for id in "12345678"]
    results = [
        result("1", "Ulm"),
        result("2", "Rome"),
        result("3", "", "grounded"),
        result("4", "Ulm", "parametric"),
        result("5", "", "none"),
        result("6", "Ulm", "grounded_inference"),
        result("7", "Ulm"),
    ]
    graph = {"1": True, "2": False, "3": True, "4": True, "7": True}
    found = measured(results, questions, grounded=graph)
    assert found["kg_grounded_rate"]["value"] == 4 / 8
    assert found["kg_grounded_rate_strict"] is not None
    assert found["kg_grounded_rate_strict"]["value"] == 2 / 8
    assert measured(results, questions)["kg_grounded_rate_strict"] is None


def test_grounded_results_without_a_path_are_left_out_of_what_is_checked() -> None:
    questions = [question(id, "Ulm") for id in "1234"]
    results = [result("1", "Ulm"), result("2", "Ulm"), result("3", "Ulm"), result("4", "", "none")]
    some = measured(results, questions, grounded={"1": True, "2": False, "3": None, "4": False})
    assert some["kg_grounded_rate"]["value"] == 3 / 4
    assert (some["kg_grounded_rate_strict"] or {})["value"] == pytest.approx(1 / 3)
    none = measured(results, questions, grounded={"1": None, "2": None, "3": None, "4": False})
    assert none["kg_grounded_rate"]["value"] == 3 / 4
    assert none["kg_grounded_rate_strict"] == {"value": None, "low": None, "high": None}


def stated(id: str, *by: object) -> Result:
    return result(id, "Ulm", record={"conditions": [{"by": each} for each in by]})


def test_conditions_are_the_graphs_where_it_has_decided_every_one() -> None:
    results = [
        stated("1", "graph"),
        stated("2", "graph", "graph"),
        stated("3", "graph", "model"),
        stated("4", "model"),
        stated("5", None, "graph"),
        stated("6"),
        result("7", "Ulm", record={"conditions": "graph"}),
        result("8", "Ulm", record={"conditions": ["graph"]}),
        result("9", "Ulm"),
    ]
    share = measured(results, [question(id, "Ulm") for id in "1234567890"])["conditions_by_graph"]
    assert share is not None
    assert share["value"] == pytest.approx(2 / 7)
    assert measured([stated("1")], [question("1", "Ulm")])["conditions_by_graph"] is None


def test_a_question_with_conditions_counts_whatever_its_record_says() -> None:
    born = Branch(Chain(Entity("http://x/Ulm"), (Hop("http://x/born"),)), (1,))
    late = Condition(1, (Hop("http://x/year"),), ">", Literal("1905"))
    queries = [
        AnswerQuery((born,), 1, (late,)),
        AnswerQuery((born,), 1, (late,), Aggregate("count")),
        AnswerQuery((born,), 1, aggregate=Aggregate("argmax", (Hop("http://x/year"),))),
        AnswerQuery((born,), 1, aggregate=Aggregate("max")),
        AnswerQuery((born,), 1),
        AnswerQuery((born,), 1, aggregate=Aggregate("count")),
    ]
    questions = [question(str(at), "Ulm", query=query) for at, query in enumerate(queries)]
    results = [stated("0", "graph"), stated("1"), result("2", "Ulm"), stated("4"), stated("5")]
    share = measured(results, questions)["conditions_by_graph"]
    assert share is not None
    assert share["value"] == 1 / 4
    assert measured(results[3:], questions[4:])["conditions_by_graph"] is None


def test_results_that_do_not_tell_how_they_were_found_have_no_grounded_rate() -> None:
    found = measured([result("1", "Ulm", None)], [question("1", "Ulm")])
    assert found["kg_grounded_rate"] == {"value": None, "low": None, "high": None}
    assert found["outcomes"] == {}


def test_a_result_without_id_is_grounded_by_its_question() -> None:
    given = Result(None, "question 1", named("Ulm"), "grounded")
    found = measured([given], [question("1", "Ulm")], grounded={"question 1": True})
    assert found["kg_grounded_rate_strict"] == {"value": 1.0, "low": 1.0, "high": 1.0}


def test_breakdowns_hold_the_scored_questions_of_a_kind() -> None:
    questions = [
        question("1", "Ulm", hops=2, kind="superlative", level="zero-shot"),
        question("2", "A1 B1", hops=10, kind="conjunction"),
        question("3", "A1 B1 C1 D1 E1", hops=2),
        question("4", " ".join(f"A{at}" for at in range(10)), kind="conjunction"),
        question("5", "", hops=2, kind="conjunction"),
    ]
    results = [result("1", "Ulm"), result("2", "A1"), result("3", "Rome"), result("4", "A1 A2")]
    found = measured(results, questions)["breakdowns"]
    assert {name: group["n"] for name, group in found["hops"].items()} == {"2": 2, "10": 1}
    assert list(found["hops"]) == ["2", "10"]
    assert values(found["hops"]["2"]) == [0.5] * 5
    assert values(found["kind"]["conjunction"]) == pytest.approx([1, 1, 1, 0.7 / 2, (2 / 3 + 1 / 3) / 2])
    assert list(found["kind"]) == ["conjunction", "superlative"]
    assert {name: group["n"] for name, group in found["level"].items()} == {"zero-shot": 1}
    assert {name: group["n"] for name, group in found["answers"].items()} == {
        "1": 1,
        "2-4": 1,
        "5-9": 1,
        "10+": 1,
    }
    assert list(found["answers"]) == ["1", "2-4", "5-9", "10+"]


@pytest.mark.parametrize(
    ("gold", "bucket"), [(1, "1"), (2, "2-4"), (4, "2-4"), (5, "5-9"), (9, "5-9"), (10, "10+")]
)
def test_gold_answers_are_counted_in_buckets(gold: int, bucket: str) -> None:
    one = question("1", " ".join(f"A{at}" for at in range(gold)) + " A0")
    assert list(measured([], [one])["breakdowns"]["answers"]) == [bucket]


def test_costs_are_over_the_results_that_tell_them() -> None:
    questions = [question(id, "Ulm") for id in "1234"]
    results = [
        result("1", "Ulm", usage={"llm_calls": 2, "seconds": None, "unknown_calls": 2, "cached_calls": 1}),
        result("2", "Ulm", usage={"llm_calls": 4, "input_tokens": 100, "seconds": None}),
        result("3", "Ulm", "kg_unavailable", usage={"llm_calls": 9, "unknown_calls": 1}),
    ]
    found = measured(results, questions)
    # Percentile p of n values lies at place (n - 1) p: 1 is the 4, 1.9 between 4 and 9.
    assert found["llm_calls"] == pytest.approx({"mean": 5.0, "p50": 4.0, "p95": 8.5, "max": 9.0})
    assert found["input_tokens"] == {"mean": 100.0, "p50": 100.0, "p95": 100.0, "max": 100.0}
    assert found["seconds"] is None and found["output_tokens"] is None and found["kg_queries"] is None
    assert (found["unknown_calls"], found["cached_calls"], found["cost"]) == (3, 1, None)


def test_every_cost_is_told_under_its_own_name() -> None:
    names = ("llm_calls", "input_tokens", "output_tokens", "kg_queries", "model_queries", "seconds")
    spent = result("1", "Ulm", usage={name: 10 + place for place, name in enumerate(names)})
    found: dict[str, Any] = dict(measured([spent], [question("1", "Ulm")]))
    assert [found[name]["mean"] for name in names] == [10, 11, 12, 13, 14, 15]
    assert (found["total_tokens"]["mean"], found["total_tokens"]["total"]) == (23, 23)


def test_tokens_together_are_over_the_results_that_tell_both() -> None:
    usages = [
        {"input_tokens": 90, "output_tokens": 10},
        {"input_tokens": 7},
        dict.fromkeys(["output_tokens"]),
    ]
    usages += [{"input_tokens": 200, "output_tokens": 0}]
    results = [result(str(at), "Ulm", usage=usage) for at, usage in enumerate(usages)]
    found = measured(results, [question(str(at), "Ulm") for at in range(len(usages))])["total_tokens"]
    assert found == {"mean": 150.0, "p50": 150.0, "p95": 195.0, "max": 200.0, "total": 300.0}


def test_metrics_have_the_fields_that_they_are_documented_with() -> None:
    assert measured([], []).keys() == Metrics.__optional_keys__


def test_a_grounded_result_that_nobody_checked_is_not_strictly_grounded() -> None:
    found = measured(
        [result("1", "Ulm"), result("2", "Ulm")],
        [question(id, "Ulm") for id in "12"],
        grounded={"1": True},
    )
    assert (found["kg_grounded_rate_strict"] or {})["value"] == 1 / 2


def guided(at: int) -> Result:
    """Make the result of a question that every part of a run's metrics tells of."""
    right, draw = at % 3 > 0, random.Random(at)
    trace = [
        {"node": "blueprint", "source": draw.choice(["copied", "adapted", "none"])},
        {"node": "smart_lookahead", "decision": "forward", "fired": draw.random() < 0.5, "realised": 1},
        {"node": "diagnose", "signal": draw.choice(["no_gain", "wrong_type"]), "step": at % 2},
        {"node": "plan", "answers": [draw.choice(["Ulm", "Rome"])], "steps": 2, "tokens": [90, 10]},
        {"node": "verify", "step": 1, "signals": {"model": draw.random() < 0.5, "nli": False}},
    ]
    conditions = [{"by": draw.choice(["graph", "model"])}]
    record = {"trace": trace, "config": {"method": "cog", "refinement": True}, "conditions": conditions}
    return result(str(at), "Ulm" if right else "Rome", draw.choice(["grounded", "parametric"]), record=record)


def test_the_seed_decides_every_interval() -> None:
    questions, results = [question(str(at), "Ulm") for at in range(97)], [guided(at) for at in range(97)]
    graph = {str(at): at % 5 > 0 for at in range(97)}

    def drawn() -> list[dict[str, Any]]:
        return [dict(measured(results, questions, grounded=graph, seed=seed)) for seed in range(6)]

    first, again = drawn(), drawn()
    parts = ("refinement", "blueprints", "revision", "lookahead", "answered", "breakdowns", "f1")
    for part in (*parts, "kg_grounded_rate", "kg_grounded_rate_strict", "conditions_by_graph"):
        found = [json.dumps(one[part]) for one in first]
        assert found == [json.dumps(one[part]) for one in again]
        assert len(set(found)) > 1, part


def test_the_last_result_of_a_question_counts_and_strangers_do_not() -> None:
    results = [result("1", "Rome"), result("x", "Ulm", "none"), result("1", "Ulm")]
    found = measured(results, [question("1", "Ulm")])
    assert values(found) == [1.0] * 5
    assert found["outcomes"] == {"grounded": 1}


def many(n: int) -> tuple[list[Question], list[Result]]:
    draw = random.Random(7)
    questions, results = [], []
    for at in range(n):
        gold = " ".join(f"A{place}" for place in range(draw.choice([1, 1, 2, 3, 5, 12])))
        answers = " ".join(f"A{draw.randrange(15)}" for _ in range(draw.randrange(6)))
        known = {"hops": at % 3 + 1, "kind": f"kind {at % 4}", "level": f"level {at % 3}"}
        questions.append(question(str(at), gold, **known))
        results.append(result(str(at), answers, usage={"llm_calls": at % 9, "seconds": 0.5}))
    return questions, results


def test_the_same_results_in_any_order_give_the_same_metrics() -> None:
    questions, results = many(60)
    text = json.dumps(measured(results, questions, seed=3))
    assert json.dumps(measured(results[::-1], questions[::-1], seed=3)) == text
    assert json.dumps(measured(results, questions, seed=4)) != text


@settings(max_examples=25)
@given(st.integers(0, 30), st.integers(0, 100))
def test_every_mean_is_a_share_in_its_interval(n: int, seed: int) -> None:
    questions, results = many(30)
    found = measured(results[:n], questions, seed=seed)
    kinds: dict[str, Any] = dict(found["breakdowns"])
    groups: list[Any] = [found, found["answered"], *(one for kind in kinds.values() for one in kind.values())]
    for group in groups:
        for share in (group[name] for name in METRICS):
            if share["value"] is not None:
                assert 0 <= share["low"] <= share["value"] <= share["high"] <= 1
        if group["hits_at_1"]["value"] is not None:
            assert group["hits_at_1"]["value"] <= group["hit_any"]["value"]


def test_thousands_of_questions_are_measured_in_a_second_or_two() -> None:
    questions, results = many(5000)
    start = time.process_time()
    measured(results, questions)
    assert time.process_time() - start < 4
