"""The comparison of `make bench-gate` with the figures that are kept."""

import json

import pytest

from kgqa.benchmarks.gate import KEPT, Figures, compare, least

FIGURES: Figures = {"processor": {"linking": 50.0}, "counts": {"queries": 100}, "memory": {"CoR": 200.0}}


def grown(kind: str, name: str, ratio: float) -> Figures:
    return {**FIGURES, kind: {name: FIGURES[kind][name] * ratio}}


@pytest.mark.parametrize(("kind", "name"), [("processor", "linking"), ("counts", "queries")])
def test_a_figure_may_grow_by_14_percent_and_fails_by_its_name_beyond_15(kind: str, name: str) -> None:
    assert compare(FIGURES, grown(kind, name, 1.14)) == []
    (line,) = compare(FIGURES, grown(kind, name, 1.16))
    kept = FIGURES[kind][name]
    assert line == f"{kind}, {name}: kept {kept:g}, now {kept * 1.16:g}, ratio 1.16 (at most 1.15)"


def test_a_figure_that_falls_passes() -> None:
    assert compare(FIGURES, grown("processor", "linking", 0.5)) == []


def test_memory_has_a_few_megabytes_of_slack() -> None:
    assert compare(FIGURES, grown("memory", "CoR", 1.18)) == []
    assert compare(FIGURES, grown("memory", "CoR", 1.20)) != []


def test_a_count_that_was_0_fails_when_there_is_one() -> None:
    none, one = ({"counts": {"errors": count}} for count in (0, 1))
    assert compare(none, none) == []
    assert compare(none, one) == ["counts, errors: kept 0, now 1, ratio - (at most 1.15)"]


def test_a_figure_that_only_one_of_both_has_is_told() -> None:
    fewer = {**FIGURES, "counts": {}}
    assert compare(FIGURES, fewer) == ["counts, queries: kept, not measured"]
    assert compare(fewer, FIGURES) == ["counts, queries: measured, not kept"]


def test_processor_figures_alone_have_more_room_on_another_machine() -> None:
    assert compare(FIGURES, grown("processor", "linking", 1.4), elsewhere=True) == []
    assert compare(FIGURES, grown("processor", "linking", 1.6), elsewhere=True) != []
    assert compare(FIGURES, grown("counts", "queries", 1.16), elsewhere=True) != []


def test_what_is_kept_names_its_machine_and_passes_itself() -> None:
    kept = json.loads(KEPT.read_bytes())
    assert "Python" in kept.pop("machine")
    assert compare(kept, kept) == []


def test_what_slows_all_is_the_machine_and_what_slows_one_place_more_is_not() -> None:
    kept = {"processor": dict.fromkeys(("linking", "chains", "profile", "loading", "answer"), 50.0)}
    slow = {"processor": dict.fromkeys(kept["processor"], 65.0)}
    assert compare(kept, slow) == []
    (line,) = compare(kept, {"processor": {**slow["processor"], "chains": 78.0}})
    assert line == "processor, chains: kept 50, now 60, ratio 1.20 (at most 1.15)"
    few = {name: 65.0 if name in {"linking", "chains", "answer"} else 50.0 for name in kept["processor"]}
    assert len(compare(kept, {"processor": few})) == 3


def test_what_is_slower_once_alone_passes() -> None:
    first, second = grown("processor", "linking", 1.3), grown("counts", "queries", 1.3)
    assert compare(FIGURES, least(first, second)) == []
    assert len(compare(FIGURES, least(first, first))) == 1
