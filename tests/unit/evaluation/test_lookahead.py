"""How solved questions guided a run is read off its traces."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kgqa.evaluation.paper_analysis.lookahead import Lookahead, Pruning
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.run_metrics import measure_results
from kgqa.tests.unit.evaluation.test_refinement import asked, result

Json = dict[str, Any]


def look(fired: bool = True, realised: int = 1, ended: bool = False) -> Json:
    taken = {"decision": "stop", "chain": "Ulm -r->"} if ended else {"decision": "forward"}
    return {"node": "smart_lookahead", "fired": fired, "realised": realised, **taken}


def prune(chosen: int, guided: int | None = None) -> Json:
    added = {} if guided is None else {"guided": ["x"] * guided}
    return {"node": "prune", "decision": "forward", "chosen": ["x"] * chosen, **added}


def looked(*results: Result, unscored: tuple[int, ...] = ()) -> Lookahead:
    found = measure_results(results, asked(len(results), *unscored), grounded=None)["lookahead"]
    assert found is not None
    return found


def pruned(*results: Result) -> Pruning:
    found = measure_results(results, asked(len(results)), grounded=None)["pruning"]
    assert found is not None
    return found


def test_each_share_is_over_the_questions_with_a_lookahead() -> None:
    found = looked(
        result(0, look(ended=True)),
        result(1, look(ended=True), right=False),
        result(2, look(realised=0)),
        result(3, look(fired=False, realised=0)),
        result(4),
    )
    assert found["questions"] == 4
    shares = {name: found[name]["value"] for name in ("fired", "realised", "ended", "right")}  # type: ignore[literal-required]
    assert shares == {"fired": 3 / 4, "realised": 2 / 4, "ended": 2 / 4, "right": 1 / 4}
    assert found["right_of_fired"]["value"] == pytest.approx(1 / 3)
    assert (found["fired"]["low"] or 0) <= 3 / 4 <= (found["fired"]["high"] or 0)


def test_paths_that_were_tried_in_the_first_round_count_the_same_and_later_rounds_not_at_all() -> None:
    first = {**look(ended=True), "node": "lookahead_by_path"}
    later = {"node": "lookahead_by_path", "decision": "forward", "reason": "only the first round looks ahead"}
    found = looked(result(0, first), result(1, {**look(), "node": "lookahead_by_path"}, later))
    assert (found["questions"], found["fired"]["value"], found["ended"]["value"]) == (2, 1.0, 0.5)


def test_questions_without_gold_can_end_but_neither_rightly_nor_wrongly() -> None:
    found = looked(result(0, look(ended=True)), result(1, look(ended=True)), unscored=(1,))
    assert (found["ended"]["value"], found["right"]["value"]) == (1.0, 1.0)


def test_a_budget_that_ends_is_no_lookahead_that_does() -> None:
    spent = {**look(), "decision": "stop", "reason": "the budget of llm_calls is spent"}
    assert looked(result(0, spent))["ended"]["value"] == 0


def test_what_survives_a_pruning_is_what_was_chosen_and_what_was_added() -> None:
    found = pruned(result(0, prune(1), prune(2, 3)), result(1, prune(0, 0)), result(2))
    assert (found["prunings"], found["chosen"]["mean"], found["kept"]["mean"]) == (3, 1.0, 2.0)
    assert found["counts"] == {"0": 1, "1": 1, "5": 1}


def test_a_run_without_either_says_nothing() -> None:
    metrics = measure_results([result(0)], asked(1), grounded=None)
    assert (metrics["lookahead"], metrics["pruning"]) == (None, None)


ANY = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), st.lists, max_leaves=3)
ENTRIES = st.dictionaries(st.sampled_from(["fired", "realised", "decision", "chosen", "guided"]), ANY)


@given(st.lists(st.tuples(st.sampled_from(["prune", "smart_lookahead"]), ENTRIES), max_size=3))
def test_any_trace_is_measured(trace: list[tuple[str, Json]]) -> None:
    found = result(0, *({**entry, "node": node} for node, entry in trace))
    json.dumps(measure_results([found], asked(1), grounded=None))
