"""What a run tells of refinement and blueprints is read off its traces."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kgqa.evaluation.paper_analysis.refinement import Refinement, measure_blueprints, measure_refinement
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.run_metrics import Metrics, measure_results
from kgqa.evaluation.scoring.scores import score_results

ON = {"method": "cog", "refinement": True}

Json = dict[str, Any]


def asked(n: int, *unscored: int) -> list[Question]:
    gold = ((EntityRef(None, "Ulm"),),)
    return [Question(str(at), f"question {at}", readings=() if at in unscored else gold) for at in range(n)]


def diagnosis(signal: str = "no_gain", step: int = 1, blueprint: str = "keep") -> Json:
    return {
        "node": "diagnose",
        "decision": "backtrack",
        "signal": signal,
        "step": step,
        "blueprint": blueprint,
    }


def result(at: int, *trace: Json, right: bool = True, outcome: str = "grounded", **more: Any) -> Result:
    record = {"trace": [{"node": "link", "decision": "forward"}, *trace], "config": more.pop("config", ON)}
    answers = (EntityRef(None, "Ulm" if right else "Rome"),)
    return Result(str(at), f"question {at}", answers, outcome, record=record, **more)


def measured(results: list[Result], questions: list[Question]) -> Metrics:
    return measure_results(results, questions, grounded=None)


def refined(results: list[Result], questions: list[Question]) -> Refinement:
    found = measured(results, questions)["refinement"]
    assert found is not None
    return found


def test_the_rate_is_over_all_questions() -> None:
    found = refined([result(0, diagnosis()), result(1), result(2, diagnosis())], asked(5))
    assert (found["triggered"], found["rate"]["value"]) == (2, 2 / 5)
    assert 0 <= (found["rate"]["low"] or 0) < 2 / 5 < (found["rate"]["high"] or 0)


def test_accuracy_and_outcomes_are_over_the_triggered_questions() -> None:
    results = [
        result(0, diagnosis()),
        result(1, diagnosis(), right=False),
        result(2, diagnosis(), outcome="grounded_inference"),
        result(3, diagnosis(), right=False, outcome="none"),
        result(4, diagnosis()),
        result(5, diagnosis(), outcome="kg_unavailable"),
        result(6, diagnosis(), outcome="none", error="ValueError: x"),
        result(7, right=False),
    ]
    found = refined(results, asked(8, 4))
    assert (found["triggered"], found["n"]) == (7, 6)
    assert found["hits_at_1"]["value"] == found["f1"]["value"] == 2 / 6
    assert found["outcomes"] == {
        "error": {"right": 0, "wrong": 1, "unscored": 0},
        "grounded": {"right": 1, "wrong": 1, "unscored": 1},
        "grounded_inference": {"right": 1, "wrong": 0, "unscored": 0},
        "kg_unavailable": {"right": 0, "wrong": 1, "unscored": 0},
        "none": {"right": 0, "wrong": 1, "unscored": 0},
    }


def test_diagnoses_are_counted_and_may_drop_the_blueprint() -> None:
    results = [
        result(0, diagnosis(), diagnosis(blueprint="drop"), diagnosis()),
        result(1, diagnosis()),
        result(2),
    ]
    found = refined(results, asked(3))
    assert found["diagnoses"] == pytest.approx({"mean": 2.0, "p50": 2.0, "p95": 2.9, "max": 3.0})
    assert found["dropped"]["value"] == 1 / 2


def test_recovered_is_what_was_rerouted_and_ended_with_an_answer_of_the_graph_and_right() -> None:
    results = [
        result(0, diagnosis(step=0), diagnosis(step=2)),
        result(1, diagnosis(step=1), outcome="grounded_inference"),
        result(2, diagnosis(step=1), right=False),
        result(3, diagnosis(step=0)),
        result(4, {"node": "diagnose", "signal": "no_gain", "failure": "MalformedReply"}),
    ]
    found = refined(results, asked(5))
    assert (found["triggered"], found["rerouted"], found["recovered"]["value"]) == (5, 3, 2 / 3)


def test_the_first_signal_sorts_the_questions() -> None:
    results = [
        result(0, diagnosis("wrong_type"), diagnosis("insufficient")),
        result(1, diagnosis("no_candidates"), right=False),
        result(2, diagnosis("wrong_type"), right=False),
    ]
    signals = refined(results, asked(3))["signals"]
    assert list(signals) == ["no_candidates", "wrong_type"]
    found = {signal: (group["triggered"], group["hits_at_1"]["value"]) for signal, group in signals.items()}
    assert found == {"no_candidates": (1, 0.0), "wrong_type": (2, 0.5)}
    assert signals["wrong_type"]["outcomes"] == {"grounded": {"right": 1, "wrong": 1, "unscored": 0}}


def test_a_step_without_a_signal_triggers_nothing() -> None:
    found = refined([result(0, {"node": "diagnose", "decision": "infer"})], asked(1))
    assert (found["triggered"], found["rate"]["value"], found["diagnoses"]) == (0, 0.0, None)
    assert found["hits_at_1"] == found["recovered"] == {"value": None, "low": None, "high": None}
    assert (found["signals"], found["outcomes"]) == ({}, {})


@pytest.mark.parametrize("config", [{"method": "cor"}, {"method": "cog", "refinement": False}, None, "cog"])
def test_a_run_without_refinement_says_nothing_of_it(config: Any) -> None:
    assert measured([result(0, config=config)], asked(1))["refinement"] is None
    assert measured([Result("0", "question 0", ())], asked(1))["refinement"] is None


def told(source: str, **more: Any) -> Json:
    return {"node": "blueprint", "decision": "forward", "source": source, "similarity": 0.9, **more}


def test_blueprints_are_sorted_by_where_they_are_from() -> None:
    results = [
        result(0, told("adapted")),
        result(1, told("none"), right=False),
        result(2, told("adapted"), right=False),
        result(3, told("copied")),
        result(4),
    ]
    found = measured(results, asked(6, 2))["blueprints"]
    assert found is not None
    assert list(found) == ["copied", "adapted", "none"]
    assert [one["questions"] for one in found.values()] == [1, 2, 1]
    assert [one["share"]["value"] for one in found.values()] == [0.25, 0.5, 0.25]
    assert [(one["n"], one["hits_at_1"]["value"]) for one in found.values()] == [(1, 1.0), (1, 1.0), (1, 0.0)]


def test_relations_that_the_graph_does_not_have_are_counted() -> None:
    dropped = [["school"], ["school", "pet"], []]
    results = [result(at, told("adapted", dropped=names)) for at, names in enumerate(dropped)]
    found = measured([*results, result(3, told("nearest", dropped=["zoo"]))], asked(4))["blueprints"]
    assert found is not None
    assert {source: one["dropped"] for source, one in found.items()} == {"adapted": 3, "nearest": 1}


def test_a_run_without_blueprints_says_nothing_of_them() -> None:
    failed = {"node": "blueprint", "decision": "stop", "failure": "EncoderError"}
    assert measured([result(0), result(1, failed)], asked(2))["blueprints"] is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["diagnose", "signal"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["node", "signal", "step", "source", "blueprint", "dropped"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(anything, anything)
def test_a_trace_may_be_anything(trace: Any, config: Any) -> None:
    foreign = Result("0", "question 0", (), record={"trace": trace, "config": config})
    for found in (
        measure_refinement(score_results([foreign], asked(1)), 0),
        measure_blueprints(score_results([foreign], asked(1)), 0),
    ):
        assert json.loads(json.dumps(found)) == found
