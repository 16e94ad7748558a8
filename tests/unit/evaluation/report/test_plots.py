"""The plots: what they show, and that they are fit for a page."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from kgqa.evaluation.report.ablation import find_ablations
from kgqa.evaluation.report.cells import Interval
from kgqa.evaluation.report.groups import ReportedRun, RunName, group_by_dataset
from kgqa.evaluation.report.plots import (
    MAX_BARS,
    breakdown_plots,
    contribution_plots,
    cost_plots,
    draw_plots,
    error_plots,
    spread_plots,
    stacked_plots,
)
from kgqa.evaluation.report.run_folder import RunFolder, read_run
from kgqa.evaluation.report.svg import RUN_COLOURS, Plot, format_percent_axis, share_limits
from kgqa.evaluation.result import Result
from kgqa.tests.unit.evaluation.report.conftest import Folder

SHARE = {"value": 0.5, "low": 0.4, "high": 0.6}


def entry(
    number: int, *, name: str = "cor", model: str = "m", calls: tuple[int, ...] = (), **metrics: Any
) -> ReportedRun:
    run = RunFolder(Path("a"), {"config": {"method": "cor", "model": model}, "dataset": {}}, (), None)
    results = {str(at): Result(str(at), "?", (), usage={"llm_calls": made}) for at, made in enumerate(calls)}
    return ReportedRun(
        number, RunName(name, name, name), {}, run, (), results, {"hits_at_1": SHARE, "f1": SHARE, **metrics}
    )


def costing(number: int, mean: float, **more: Any) -> ReportedRun:
    return entry(number, llm_calls={"mean": mean}, **more)


def test_no_tick_of_an_axis_is_rounded() -> None:
    figure = Figure()
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_yticks([0.0, 0.3, 0.9525, 0.975, 1.0])
    format_percent_axis(axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0%", "30%", "95.25%", "97.5%", "100%"]


def texts(plot: Plot) -> list[str]:
    """Return what a plot says in letters."""
    root = ElementTree.fromstring(plot.svg)
    return [text.text or "" for text in root.iter("text")]


def alt(plot: Plot) -> str:
    """Return what a plot says to who cannot see it."""
    return ElementTree.fromstring(plot.svg).get("aria-label") or ""


@pytest.fixture(scope="module")
def all_plots() -> list[Plot]:
    by_hops = {
        "hops": {
            "1": {"n": 3, "hits_at_1": SHARE, "f1": SHARE},
            "2": {"n": 4, "hits_at_1": SHARE, "f1": SHARE},
        }
    }
    reliability = {"bins": [{"n": 4, "confidence": 0.55, "right": SHARE}]}
    tokens = {"input_tokens": {"mean": 100}, "output_tokens": {"mean": 10}}
    return draw_plots(
        "d1",
        [
            costing(
                at,
                2 + at,
                model=f"simulated:accuracy=0.{9 - at}",
                calls=(2, 3),
                breakdowns=by_hops,
                reliability=reliability,
                **tokens,
            )
            for at in range(1, 4)
        ],
    )


def test_there_is_a_plot_of_each_kind(all_plots: list[Plot]) -> None:
    assert [plot.title for plot in all_plots] == [
        "Hits@1 against LLM calls",
        "F1 against LLM calls",
        "Hits@1 against tokens",
        "F1 against tokens",
        "Hits@1 against simulated error",
        "F1 against simulated error",
        "Right answers by confidence",
        "Hits@1 by hops of the gold path",
        "F1 by hops of the gold path",
        "LLM calls per question",
    ]


def test_a_plot_has_neither_style_nor_script_nor_anything_from_elsewhere(all_plots: list[Plot]) -> None:
    for plot in all_plots:
        assert not re.search(r"style|<script|<image|onload|url\((?!#)|href=\"(?!#)|#a1b[23]", plot.svg)
        assert "data-" not in plot.svg


def test_every_reference_meets_an_id_and_no_id_is_there_twice(all_plots: list[Plot]) -> None:
    drawn = "".join(plot.svg for plot in all_plots)
    ids = re.findall(r'\bid="([^"]+)"', drawn)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', drawn)) | set(re.findall(r"url\(#([^)]+)\)", drawn)) <= set(ids)


def test_a_plot_says_in_words_what_it_shows(all_plots: list[Plot]) -> None:
    assert alt(all_plots[0]).startswith(
        "Hits@1 against mean LLM calls per question. run 1, cor: 50.0% (40.0% to 60.0%) at 3.0; run 2"
    )


def test_right_answers_are_drawn_by_their_confidence(all_plots: list[Plot]) -> None:
    (plot,) = (each for each in all_plots if each.title == "Right answers by confidence")
    assert "run 1 at 55%: 50.0% (40.0% to 60.0%) of 4 right" in alt(plot)


def test_the_same_runs_make_the_same_plot() -> None:
    one, two = (cost_plots("d", [costing(1, 2.5), costing(2, 3.5)]) for _ in range(2))
    assert one == two


def test_names_are_text_whatever_they_hold() -> None:
    plot = cost_plots("d", [costing(1, 2.0, name="<b>$x_1$&")])[0]
    assert "1 <b>$x_1$&" in texts(plot)


def test_without_calls_there_is_no_plot_of_calls() -> None:
    runs = [costing(1, 0.0, calls=(0, 0)), entry(2, llm_calls=None)]
    assert cost_plots("d", runs) + spread_plots("d", runs) == []


def test_of_many_runs_points_are_named_by_number() -> None:
    plot = cost_plots("d", [costing(at, at, name="a long name") for at in range(1, RUN_COLOURS + 2)])[0]
    assert {str(at) for at in range(1, RUN_COLOURS + 2)} <= set(texts(plot))
    assert not any("long" in text for text in texts(plot))


def test_many_numbers_of_calls_share_bars() -> None:
    (plot,) = spread_plots("d", [entry(1, calls=(1, 2, 3 * MAX_BARS))])
    assert "A bar stands for 4 numbers." in plot.sentence


def test_relations_that_survive_prunings_are_drawn_with_and_without_lookahead() -> None:
    pruned = [{"node": "prune", "chosen": ["a"], "guided": guided} for guided in ([], ["b", "c"], ["b"])]
    runs = [entry(1), entry(2, name="plain"), entry(3)]
    for run, trace in zip(
        runs, (pruned, [{"node": "prune", "chosen": ["a"]}], [{"node": "prune"}]), strict=True
    ):
        run.results["q"] = Result("q", "?", (), record={"trace": trace})
    (plot,) = spread_plots("d", runs)
    assert alt(plot) == (
        "Relations after pruning. run 1, cor: median 2, at most 3; run 2, plain: median 1, at most 1."
    )
    assert "a round, all its chains or entities together" in plot.sentence


def test_runs_that_differ_in_accuracy_and_seed_only_are_one_line() -> None:
    models = ["simulated", "simulated:accuracy=0.5", "simulated:accuracy=0.5,seed=2"]
    runs = [entry(at, model=model) for at, model in enumerate(models)]
    others = [entry(4, model="simulated:accuracy=0.5,judge=0.1"), entry(5, name="cor · x=1", model=models[1])]
    plot = error_plots("d", [*runs, *others])[0]
    assert [text for text in texts(plot) if text.startswith("cor")] == ["cor", "cor · judge=0.1", "cor · x=1"]
    said = "cor: 50.0% at 0% error, 50.0% at 50% error; cor · judge=0.1: 50.0% at 50% error"
    assert said in alt(plot)


@pytest.mark.parametrize(
    "models",
    [["offline", "openai:x"], ["simulated:accuracy=0.9"], ["simulated:accuracy=high", "simulated"]],
)
def test_without_two_error_rates_there_is_no_curve(models: list[str]) -> None:
    assert error_plots("d", [entry(at, model=model) for at, model in enumerate(models)]) == []


def test_breakdowns_count_their_questions() -> None:
    kind = {"n": 3, "hits_at_1": SHARE, "f1": SHARE}
    runs = [
        entry(1, breakdowns={"hops": {"2": kind, "1": kind, "10": kind}, "kind": {"chain": kind}}),
        entry(2, breakdowns={"hops": {"2": {**kind, "n": 5}}}),
    ]
    plots = breakdown_plots("d", runs)
    assert [plot.title for plot in plots] == [
        "Hits@1 by hops of the gold path",
        "F1 by hops of the gold path",
    ]
    assert [text for text in texts(plots[0]) if "hop" in text] == [
        "1 hop (n=3)",
        "2 hops (n=3 to 5)",
        "10 hops (n=3)",
    ]


def test_beside_a_bar_stands_what_a_run_has_more_than_the_first(folder: Folder) -> None:
    (group,) = group_by_dataset([read_run(folder("far")), read_run(folder("near"))])
    plot = next(
        plot for plot in breakdown_plots("d", group.runs) if plot.title == "Hits@1 by kind of question"
    )
    # Of the kinds chain and set, the second run has 2 of 3 and 1 of 2 right, the first all.
    assert [text for text in texts(plot) if "." in text] == [
        "100.0",
        "66.7",
        "−33.3",
        "100.0",
        "50.0",
        "−50.0",
    ]
    assert "chain, run 2: 66.7% (0.0% to 100.0%), −33.3 points (−100.0 to 0.0)" in alt(plot)
    assert "what it has more or less than run 1" in plot.sentence


def test_the_first_run_alone_is_compared_with_nothing(folder: Folder) -> None:
    (group,) = group_by_dataset([read_run(folder("far"))])
    plot = breakdown_plots("d", group.runs)[0]
    assert not any(text.startswith(("+", "−", "0.0")) for text in texts(plot))
    assert "run 1" not in plot.sentence


def test_a_part_has_a_bar_as_long_as_its_contribution(folder: Folder) -> None:
    (group,) = group_by_dataset([read_run(folder("far")), read_run(folder("near"))])
    first, second = contribution_plots("d", 1, find_ablations(group.runs))
    assert first.title == "What each part of cor contributes, with scripted: Hits@1"
    assert {"without backtracking", "+40.0"} <= set(texts(first))
    assert "without backtracking: +40.0 points (0.0 to +80.0)" in alt(first)
    assert second.title.endswith(": F1")


ENDED = {
    "grounded": {"right": 6, "wrong": 1, "unscored": 0},
    "parametric": {"right": 1, "wrong": 1, "unscored": 1},
    "none": {"right": 0, "wrong": 3, "unscored": 0},
    "kg_unavailable": {"right": 0, "wrong": 2, "unscored": 0},
}


def test_triggered_questions_are_stacked_by_how_they_ended() -> None:
    runs = [entry(1, refinement={"outcomes": ENDED}), entry(2, refinement={"outcomes": {}}), entry(3)]
    (plot,) = stacked_plots("d", runs)
    ended = "6 right, from the graph, 1 right, otherwise, 2 wrong, 3 no answer, 2 failed, 1 not scored"
    assert alt(plot) == f"How refinement ends. run 1, cor: {ended}."
    assert {"1 cor", "15", "40", "13", "20"} <= set(texts(plot))
    for colour in ("right", "partly", "wrong", "soft", "failed", "line"):
        assert f"var(--{colour})" in plot.svg
    assert "#a1b" not in plot.svg


def test_where_refinement_was_never_triggered_there_is_no_plot() -> None:
    assert stacked_plots("d", [entry(1, refinement={"outcomes": {}}), entry(2, refinement=None)]) == []


REVISED = {
    "verified": 8,
    "sources": {one: {"value": share} for one, share in {"none": 0.5, "model": 0.375, "both": 0.125}.items()},
    "tokens": {"planning": {"mean": 100.4}, "revision": {"mean": 300}},
    "plans": {"first": {"n": 4, "hits_at_1": {"value": 0.25}}, "global": {"n": 3, "hits_at_1": SHARE}},
}


def test_signals_right_answers_and_tokens_are_stacked() -> None:
    runs = [entry(1, name="vog", revision=REVISED), entry(2, revision={"verified": 0}), entry(3)]
    signals, arms, tokens = stacked_plots("d", runs)
    assert alt(signals).endswith(". run 1, vog: 4 no signal, 3 model only, 1 both.")
    assert alt(arms).endswith(". run 1, vog: 1 first plan, 2 global.")
    assert alt(tokens).endswith(". run 1, vog: 100 planning, 300 revision.")
    assert {"1 vog", "8", "50", "38", "12"} <= set(texts(signals))
    assert {"400", "25", "75"} <= set(texts(tokens))
    assert "#a1b" not in signals.svg + arms.svg + tokens.svg


def test_a_plot_that_leaves_runs_out_says_so() -> None:
    kind = {"n": 3, "hits_at_1": SHARE, "f1": SHARE}
    runs = [entry(at, breakdowns={"kind": {"a": kind, "b": kind}}) for at in range(RUN_COLOURS + 1)]
    assert breakdown_plots("d", runs)[0].sentence.endswith(
        f"The first {RUN_COLOURS} of {RUN_COLOURS + 1} runs are shown."
    )


def test_an_axis_of_shares_stays_within_0_and_1() -> None:
    low, high = share_limits([Interval(0.5, 0.0, 1.0)])
    assert -0.02 < low < 0 < 1 < high < 1.02
