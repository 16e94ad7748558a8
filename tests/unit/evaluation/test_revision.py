"""What a run tells of plans in steps, their verification and their revision, is read off its traces."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kgqa.evaluation.paper_analysis.calibration import read_trials
from kgqa.evaluation.paper_analysis.revision import Revision, measure_revision
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.run_metrics import measure_results
from kgqa.evaluation.scoring.scores import score_results

Json = dict[str, Any]

RIGHT, WRONG, OTHER = "Ulm", "Rome", "Bonn"


def asked(n: int, *unscored: int) -> list[Question]:
    gold = ((EntityRef("http://t/e/ulm", RIGHT),),)
    return [Question(str(at), f"question {at}", readings=() if at in unscored else gold) for at in range(n)]


def planned(answer: str = WRONG, steps: int = 2, tokens: int = 100) -> Json:
    return {
        "node": "plan",
        "decision": "forward",
        "steps": steps,
        "answers": [answer],
        "tokens": [tokens - 10, 10],
    }


def verified(step: int = 1, model: bool | None = False, nli: bool | None = False, **more: Any) -> Json:
    signals = {"model": model, "nli": nli}
    decision = "refine" if model or nli else "forward"
    check = {"node": "verify", "decision": decision, "step": step, "signals": signals, "verifier": "rules"}
    return {**check, **more}


def revised(
    arm: str, answer: str, before: str = WRONG, reward: float = 0.5, task: float = 0.5, **more: Any
) -> list[Json]:
    appraised = {
        "node": "appraise",
        "arm": arm,
        "answers": [answer],
        "before": [before],
        "reward": reward,
        "task": task,
        "confidence": 0.5,
        "entropy": 0.5,
        "accepted": False,
    }
    return [
        {"node": "revise", "decision": "forward", "arm": arm, "answers": [answer], "steps": 2},
        {**appraised, **more},
    ]


def ended(answer: str, arm: str | None = None, steps: int = 2) -> Json:
    return {
        "node": "answer",
        "decision": "stop",
        "plan": {"answers": [answer], "arm": arm, "steps": steps},
    }


def result(at: int, *trace: Json, right: bool = True) -> Result:
    answers = (EntityRef(None, RIGHT if right else WRONG),)
    return Result(str(at), f"question {at}", answers, "grounded", record={"trace": list(trace)})


def measured(results: list[Result], questions: list[Question]) -> Revision:
    found = measure_results(results, questions, grounded=None)["revision"]
    assert found is not None
    return found


def test_signals_are_told_apart_by_who_gave_them_at_any_step() -> None:
    found = measured(
        [
            result(0, planned(), verified(1), verified(2)),
            result(1, planned(), verified(1, model=True), verified(2)),
            result(2, planned(), verified(1, nli=True)),
            result(3, planned(), verified(1, model=True), verified(2, nli=True)),
            result(4, planned(), verified(1, model=True, nli=True), verified(2, model=True)),
            result(5, planned()),
        ],
        asked(7),
    )
    assert (found["planned"], found["verified"], found["rate"]["value"]) == (6, 5, 4 / 5)
    shares = {source: share["value"] for source, share in found["sources"].items()}
    assert shares == {"none": 0.2, "model": 0.2, "nli": 0.2, "both": 0.4}
    assert found["steps"] == {
        "1": {"none": 1, "model": 2, "nli": 1, "both": 1},
        "2": {"none": 2, "model": 1, "nli": 1, "both": 0},
    }
    assert found["verifiers"] == {"rules": 9}


def test_a_signal_that_was_not_acted_on_counts_as_a_signal_alone() -> None:
    spent = verified(2, nli=True, decision="forward", spent="revisions")
    results = [
        result(0, planned(), verified(1, model=True, decision="forward")),
        result(1, planned(), verified(1), spent),
        result(2, planned(), verified(1, model=True, nli=True), spent),
        result(3, planned(), verified(1)),
    ]
    found = measured(results, asked(4))
    assert (found["verified"], found["rate"]["value"]) == (4, 1 / 4)
    shares = {source: share["value"] for source, share in found["sources"].items()}
    assert shares == {"none": 1 / 4, "model": 1 / 4, "nli": 1 / 4, "both": 1 / 4}
    assert found["steps"]["2"] == {"none": 0, "model": 0, "nli": 2, "both": 0}


def test_a_verifier_that_was_not_asked_gives_no_signal() -> None:
    check = {**verified(1, model=True, nli=None), "verifier": None}
    found = measured([result(0, planned(), check)], asked(1))
    assert (found["sources"]["model"]["value"], found["verifiers"]) == (1, {})


def test_tokens_are_summed_by_stage() -> None:
    trace = [
        planned(tokens=100),
        {"node": "prune", "decision": "forward", "tokens": [150, 10]},
        {"node": "filter", "decision": "forward", "tokens": [30, 10]},
        {**verified(), "tokens": [90, 10]},
        {"node": "revise", "decision": "forward", "arm": "local", "tokens": [500, 50]},
        {"node": "judge", "decision": "forward", "tokens": [40, 10]},
        {"node": "expand", "decision": "forward"},
    ]
    found = measured([result(0, *trace), result(1, planned(tokens=1000))], asked(2))["tokens"]
    assert {stage: (cost["mean"], cost["share"]) for stage, cost in found.items()} == {
        "planning": (550, 1100 / 2000),
        "retrieval": (100, 200 / 2000),
        "verification": (50, 100 / 2000),
        "revision": (275, 550 / 2000),
        "other": (25, 50 / 2000),
    }


def test_success_is_over_the_revisions_of_plans_that_were_wrong() -> None:
    results = [
        result(0, planned(), *revised("local", RIGHT), *revised("local", OTHER), *revised("global", WRONG)),
        result(1, planned(RIGHT), *revised("local", WRONG, before=RIGHT)),
        result(2, planned(), *revised("global", RIGHT, accepted=True, reward=0.9)),
        result(3, planned(), *revised("lookahead", RIGHT)),
    ]
    found = measured(results, asked(4, 3))
    assert found["success"]["value"] == 2 / 4
    told = {
        arm: (one["revisions"], one["accepted"], one["wrong_before"], one["success"]["value"], one["reward"])
        for arm, one in found["strategies"].items()
    }
    assert told == {
        "local": (3, 0, 2, 1 / 2, 0.5),
        "lookahead": (1, 0, 0, None, 0.5),
        "global": (2, 1, 2, 1 / 2, pytest.approx(0.7)),
    }


def test_choices_are_counted_over_all_questions_with_a_plan() -> None:
    failed = {"node": "revise", "decision": "forward", "arm": "local", "failure": "MalformedReply"}
    results = [
        result(0, planned(), *revised("local", RIGHT), failed, *revised("global", RIGHT)),
        result(1, planned()),
        result(2),
    ]
    found = measured(results, asked(3))
    assert (found["planned"], found["revisions"]["mean"], found["revisions"]["max"]) == (2, 1.5, 3)
    chosen = {arm: one["chosen"] and one["chosen"]["mean"] for arm, one in found["strategies"].items()}
    assert chosen == {"local": 1, "global": 0.5}


def test_right_answers_are_attributed_to_the_plan_in_force_at_the_end() -> None:
    results = [
        result(0, planned(RIGHT), ended(RIGHT, steps=2)),
        result(1, planned(), ended(RIGHT, "global", steps=4)),
        result(2, planned(), ended(WRONG, "global", steps=3), right=False),
        result(3, planned(), ended(RIGHT, "local", steps=3)),
        result(4, planned(), {"node": "answer", "decision": "stop"}),
    ]
    found = measured(results, asked(5))
    told = {
        origin: (one["questions"], one["hits_at_1"]["value"], one["attributed"]["value"])
        for origin, one in found["plans"].items()
    }
    assert told == {"first": (1, 1, 1 / 3), "local": (1, 1, 1 / 3), "global": (2, 1 / 2, 1 / 3)}
    assert found["plan_steps"] == pytest.approx({"mean": 3.0, "p50": 3.0, "p95": 3.85, "max": 4.0})


def test_the_best_revision_is_that_of_the_highest_reward_and_of_equals_the_first() -> None:
    results = [
        result(0, planned(WRONG), *revised("local", RIGHT, task=0.9), *revised("global", WRONG, task=0.4)),
        result(1, planned(RIGHT), *revised("local", WRONG, task=0.9), *revised("global", RIGHT, task=0.4)),
        result(2, planned(OTHER), *revised("local", RIGHT), *revised("global", WRONG)),
        result(3, planned(RIGHT)),
    ]
    found = measured(results, asked(4))
    assert found["best_task"]["value"] == 2 / 3
    assert found["best_confidence"]["value"] == 2 / 3
    assert found["entropy"] == 0.5


def test_the_best_revision_may_be_told_without_a_part_of_the_task_reward() -> None:
    """VoG, Table 12: by the traced metrics, no further run is needed."""
    good = {"quality": 0.9, "coherence": 0.2, "efficiency": 0.5, "alignment": 0.5}
    other = {"quality": 0.1, "coherence": 0.8, "efficiency": 0.5, "alignment": 0.5}
    first = result(
        0, planned(), *revised("local", RIGHT, metrics=good), *revised("global", WRONG, metrics=other)
    )
    refuted = revised("global", WRONG, metrics={**good, "contradicted": True})
    second = result(1, planned(), *refuted, *revised("local", RIGHT, metrics=other))
    untold = result(2, planned(), *revised("local", RIGHT))
    found = measured([first, second, untold], asked(3))["best_without"]
    assert {part: share["value"] for part, share in found.items()} == {
        "quality": 0.5,
        "coherence": 1,
        "efficiency": 1,
        "alignment": 1,
        "validation": 0.5,
    }


def test_confidence_is_among_the_candidate_plans() -> None:
    trace = [planned(RIGHT), *revised("local", WRONG), *revised("global", RIGHT)]
    assert measured([result(0, *trace)], asked(1))["best_confidence"]["value"] == 1
    alone = {"trace": trace, "config": {"candidate_plans": "revised"}}
    without_first = replace(result(0), record=alone)
    assert measured([without_first], asked(1))["best_confidence"]["value"] == 0


def test_confidence_compares_answers_not_spellings() -> None:
    trace = [planned("the ulm"), *revised("local", WRONG), *revised("global", RIGHT)]
    assert measured([result(0, *trace)], asked(1))["best_confidence"]["value"] == 1


def test_without_revisions_there_is_nothing_to_measure_of_them() -> None:
    found = measured([result(0, planned())], asked(1))
    nothing = {"value": None, "low": None, "high": None}
    assert found["rate"] == found["success"] == found["best_task"] == found["sources"]["both"] == nothing
    assert (found["entropy"], found["plan_steps"], found["strategies"], found["plans"]) == (
        None,
        None,
        {},
        {},
    )


def test_a_run_without_plans_in_steps_says_nothing_of_them() -> None:
    subgoals = {"node": "plan", "decision": "forward", "subgoals": ["x"], "tokens": [10, 1]}
    check = {"node": "verify", "decision": "stop", "reason": "enough"}
    assert measure_results([result(0, subgoals, check)], asked(1), grounded=None)["revision"] is None
    assert measure_results([], asked(1), grounded=None)["revision"] is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["step", "signals", "arm", "answers", "before", "reward", "tokens", "plan"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=8,
)

entry = st.fixed_dictionaries(
    {"node": st.sampled_from(["plan", "verify", "revise", "appraise", "answer", "prune"])},
    optional={
        "decision": anything,
        "empty": anything,
        "step": anything,
        "steps": anything,
        "signals": anything,
        "arm": anything,
        "answers": anything,
        "before": st.lists(st.text(max_size=3)) | anything,
        "reward": anything,
        "task": anything,
        "entropy": anything,
        "plan": anything,
        "metrics": anything,
        "tokens": anything,
    },
)


@given(st.lists(entry, max_size=6) | anything)
def test_a_trace_may_be_anything(trace: Any) -> None:
    given_plan = [planned(), *trace] if isinstance(trace, list) else trace
    foreign = score_results([Result("0", "question 0", (), record={"trace": given_plan})], asked(1))
    found = measure_revision(foreign, 0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert all(0 <= trial.reward <= 1 for trial in read_trials(foreign))
