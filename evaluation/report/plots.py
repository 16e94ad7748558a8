"""The plots of the report: costs, errors, parts, spreads, breakdowns, contributions and reliability of runs.

``plots.toml`` has the words.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from kgqa.evaluation.paper_analysis.lookahead import count_relations
from kgqa.evaluation.paper_analysis.trace import STAGE_NODES
from kgqa.evaluation.report import cells
from kgqa.evaluation.report.ablation import Ablation, ablation_title
from kgqa.evaluation.report.cells import Interval
from kgqa.evaluation.report.groups import ReportedRun, align_questions
from kgqa.evaluation.report.svg import (
    FAINT,
    INK,
    RUN_COLOURS,
    SURFACE,
    Plot,
    add_plot,
    draw_interval,
    format_percent_axis,
    marker_style,
    name_rows,
    page_colour,
    run_colour,
    share_limits,
    truncation_note,
    write_beside,
)
from kgqa.evaluation.report.tables import PLAN_TITLES, SIGNAL_TITLES
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.comparison import Comparison, compare_scored
from kgqa.evaluation.scoring.scores import group_questions
from kgqa.evaluation.simulation.error_rates import parse_error_rates
from kgqa.kg.terms import one_line

WORDS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)

_MAX_NAME_CHARS = 22
_NAME_WIDTH = 172
_HEIGHT = 290

_LINE_OFFSET = 0.004  # how far lines are moved aside so that their intervals do not cover each other

_COSTS = {"calls": ("LLM calls", ("llm_calls",)), "tokens": ("tokens", ("input_tokens", "output_tokens"))}


class _Point(NamedTuple):
    x: float
    value: Interval


class _Line(NamedTuple):
    """What is drawn in one colour: points, joined by their means, and the name beside the last of them."""

    name: str
    points: list[_Point]

    @property
    def means(self) -> list[tuple[float, float]]:
        """The mean at each place, from left to right."""
        places = sorted({point.x for point in self.points})
        return [(x, mean(point.value.value for point in self.points if point.x == x)) for x in places]


def cost_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw Hits@1 and F1 against mean calls and mean tokens, as far as they are known and not all 0."""
    plots: list[Plot] = []
    for cost, (words, keys) in _COSTS.items():
        for metric, title in cells.PLOTTED_METRICS.items():
            points = [
                (run, _Point(spent, value))
                for run in runs
                if (value := cells.read_interval((run.metrics or {}).get(metric)))
                and (spent := cells.sum_means(run.metrics, *keys)) is not None
            ]
            if not any(point.x for _, point in points):
                continue
            few = len(points) <= RUN_COLOURS
            lines = [_Line(f"{r.number} {r.name.short}" if few else str(r.number), [p]) for r, p in points]
            axis, caption = (
                f"mean {words} per question",
                WORDS["cost"]["sentence"].format(metric=title, cost=words),
            )
            about = (f"{name}-{cost}-{metric}", f"{title} against {words}", caption, _HEIGHT)
            alt, right = f"{title} against {axis}", _NAME_WIDTH if few else 34
            with add_plot(plots, *about, alt=alt, left=62, right=right) as (axes, shown):
                _draw_lines(axes, lines)
                axes.set(xlabel=axis, ylabel=title)
                shown += (f"run {r.number}, {r.name.full}: {p.value} at {p.x:,.1f}" for r, p in points)
    return plots


def error_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw Hits@1 and F1 against the simulated error; nothing where fewer than two rates were run."""
    plots: list[Plot] = []
    for metric, title in cells.PLOTTED_METRICS.items():
        every = _error_lines(runs, metric)
        lines = every[:RUN_COLOURS]
        if len({point.x for line in every for point in line.points}) > 1:
            sentence = WORDS["error"]["sentence"] + truncation_note(len(every), "lines")
            about = (f"{name}-error-{metric}", f"{title} against simulated error", sentence, _HEIGHT)
            with add_plot(plots, *about, left=62, right=_NAME_WIDTH) as (axes, shown):
                _draw_lines(axes, lines, offset=_LINE_OFFSET)
                format_percent_axis(axes, across=True)
                axes.set(xlabel="simulated error", ylabel=title)
                for line in lines:
                    means = ", ".join(f"{mean:.1%} at {x:.0%} error" for x, mean in line.means)
                    shown.append(f"{line.name}: {means}")
    return plots


def _error_lines(runs: Sequence[ReportedRun], metric: str) -> list[_Line]:
    """Sort the runs of simulated models into lines: all that differ in accuracy and seed only."""
    lines: dict[str, _Line] = {}
    for run in runs:
        try:
            rates = parse_error_rates(run.folder.model)
        except ValueError:  # any other model
            continue
        if value := cells.read_interval((run.metrics or {}).get(metric)):
            others = str(replace(rates, accuracy=1.0, seed=0)).partition(":")[2]
            name = " · ".join(filter(None, [run.name.variant, others]))
            lines.setdefault(name, _Line(name, [])).points.append(_Point(1 - rates.accuracy, value))
    return list(lines.values())


def _draw_lines(axes: Axes, lines: Sequence[_Line], offset: float = 0) -> None:
    """Draw shares with their intervals over costs or errors, each line a little further right."""
    points = [point for line in lines for point in line.points]
    widest = max(point.x for point in points)
    ends = []
    for number, line in enumerate(lines):
        aside = (number - (len(lines) - 1) / 2) * offset
        for point in line.points:
            draw_interval(axes, point.x + aside, point.value, number)
        xs, means = [x + aside for x, _ in line.means], [mean for _, mean in line.means]
        name = one_line(line.name, _MAX_NAME_CHARS)
        axes.plot(xs, means, label=name, **marker_style(number))
        ends.append((means[-1], xs[-1], name, run_colour(number)))
    axes.set_xlim(*(-0.015, 1.05 * widest) if offset else (-0.03 * widest, 1.06 * widest))
    axes.set_ylim(*share_limits([point.value for point in points]))
    format_percent_axis(axes)
    if len(lines) <= RUN_COLOURS:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, handlelength=0.8, fontsize=11.5)
        return
    edge, (low, high) = axes.get_xlim()[1], axes.get_ylim()
    for place, (y, x, name, colour) in enumerate(sorted(ends)):  # too many for a legend
        at = (edge, low + (high - low) * place / (len(ends) - 1))
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6}
        axes.annotate(name, (x, y), at, annotation_clip=False, va="center", color=colour, arrowprops=leader)


_MAX_ROW_NAME_CHARS = 19

_MIN_LABELLED_SHARE = 0.09  # the least share whose number has room in its part of a bar
MAX_BARS = 60  # bars of a distribution at most; more numbers than that share a bar
_TALLEST_BAR_SHARE = 0.72  # height of the tallest bar, as a share of a row

_ANSWERED_OUTCOMES = ("grounded", "grounded_inference", "grounded_unverified", "parametric")


def _count_fates(metrics: Mapping[str, Any]) -> dict[str, int]:
    """Count the questions with a triggered refinement by how they ended."""
    parts = dict.fromkeys(_FATE_COLOURS, 0)
    for outcome, fates in (cells.look_up(metrics, "refinement", "outcomes") or {}).items():
        wrong = "wrong" if outcome in _ANSWERED_OUTCOMES else "failed"
        parts["right, from the graph" if outcome == "grounded" else "right, otherwise"] += (
            fates.get("right") or 0
        )
        parts["no answer" if outcome == "none" else wrong] += fates.get("wrong") or 0
        parts["not scored"] += fates.get("unscored") or 0
    return parts


def _count_signals(metrics: Mapping[str, Any]) -> dict[str, int]:
    verified = cells.look_up(metrics, "revision", "verified") or 0
    shares = {key: cells.look_up(metrics, "revision", "sources", key, "value") for key in SIGNAL_TITLES}
    return {title: round((shares[key] or 0) * verified) for key, title in SIGNAL_TITLES.items()}


def _count_right_plans(metrics: Mapping[str, Any]) -> dict[str, int]:
    plans = {title: cells.look_up(metrics, "revision", "plans", key) for key, title in PLAN_TITLES.items()}
    hits = {title: cells.look_up(plan, "hits_at_1", "value") or 0 for title, plan in plans.items()}
    return {title: round(hits[title] * (cells.look_up(plan, "n") or 0)) for title, plan in plans.items()}


def _count_tokens(metrics: Mapping[str, Any]) -> dict[str, int]:
    means = {stage: cells.look_up(metrics, "revision", "tokens", stage, "mean") for stage in STAGE_NODES}
    return {stage: round(mean or 0) for stage, mean in means.items()}


def _colours(titles: Sequence[str]) -> dict[str, str]:
    return {title: run_colour(number) for number, title in enumerate(titles)}


_FATE_COLOURS = {
    "right, from the graph": page_colour("right"),
    "right, otherwise": page_colour("partly"),
    "wrong": page_colour("wrong"),
    "no answer": page_colour("soft"),
    "failed": page_colour("failed"),
    "not scored": FAINT,
}
"""The parts of a bar, in their order, and the colours that the page has for them."""

_STACKED: Mapping[str, tuple[Mapping[str, str], Callable[[Mapping[str, Any]], Mapping[str, int]]]] = {
    "refined": (_FATE_COLOURS, _count_fates),
    "signals": ({"no signal": FAINT, **_colours(list(SIGNAL_TITLES.values())[1:])}, _count_signals),
    "arms": ({"first plan": FAINT, **_colours(list(PLAN_TITLES.values())[1:])}, _count_right_plans),
    "stages": ({**_colours(list(STAGE_NODES)), "other": FAINT}, _count_tokens),
}
"""Plots of bars of parts: their colours, in their order, and what counts them by a run's metrics."""


def _llm_calls(results: Sequence[Result]) -> list[int]:
    return [int(calls) for result in results if (calls := result.usage.get("llm_calls")) is not None]


_SPREADS: Mapping[str, Callable[[Sequence[Result]], Sequence[int]]] = {
    "spread": _llm_calls,
    "pruning": lambda results: [kept for _, kept in count_relations(results)],
}
"""Plots of how often each number comes up in a run, by its results."""


def stacked_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw how the refinements of each run ended, its signals, its right plans and its tokens.

    A plot for which no run has anything is left out.
    """
    plots: list[Plot] = []
    for key, (colours, count_parts) in _STACKED.items():
        words = WORDS[key]
        counted = [(run, count_parts(run.metrics or {})) for run in runs]
        rows = [(run, parts) for run, parts in counted if any(parts.values())]
        if not rows:
            continue
        about = (f"{name}-{key}", words["title"], words["sentence"], 99 + 30 * len(rows))
        with add_plot(plots, *about, top=50) as (axes, shown):
            _name_runs(axes, [run for run, _ in rows])
            for row, (run, parts) in enumerate(rows):
                _stack_parts(axes, row, parts, colours)
                counts = ", ".join(f"{count} {part}" for part, count in parts.items() if count)
                shown.append(f"run {run.number}, {run.name.full}: {counts}")
            axes.set(xlim=(0, 1), xlabel=words["axis"])
            format_percent_axis(axes, across=True)
            used = [part for part in colours if any(parts[part] for _, parts in rows)]
            patches = [Patch(color=colours[part]) for part in used]
            place = {"bbox_to_anchor": (0, 1), "bbox_transform": axes.figure.transFigure}
            style = {"ncols": 3, "frameon": False, "handlelength": 1, "columnspacing": 1.4, "fontsize": 11}
            axes.legend(patches, used, loc="upper left", **place, **style)
    return plots


def _stack_parts(axes: Axes, row: int, parts: Mapping[str, int], colours: Mapping[str, str]) -> None:
    left, whole = 0.0, sum(parts.values())
    for part, count in parts.items():
        share, colour = count / whole, colours[part]
        bar = axes.barh(row, share, 0.62, left, color=colour, edgecolor=SURFACE)
        if share >= _MIN_LABELLED_SHARE:
            ink = INK if colour == FAINT else SURFACE
            axes.bar_label(bar, [f"{100 * share:.0f}"], label_type="center", color=ink, fontsize=11)
        left += share
    write_beside(axes, row, f"{whole:,}")


def _name_runs(axes: Axes, runs: Sequence[ReportedRun], *, at: float = 0) -> None:
    names = [one_line(f"{run.number} {run.name.short}", _MAX_ROW_NAME_CHARS) for run in runs]
    name_rows(axes, names, at=at)
    axes.spines["left"].set_visible(False)


def spread_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw how the questions of each run spread over LLM calls, and its prunings over relations kept.

    A plot for which all numbers of all runs are 0 is left out.
    """
    plots: list[Plot] = []
    for key, numbers_of in _SPREADS.items():
        words = WORDS[key]
        counted = [(run, numbers) for run in runs if (numbers := numbers_of([*run.results.values()]))]
        most = max((max(numbers) for _, numbers in counted), default=0)
        if not most:
            continue
        width = 1 + most // MAX_BARS
        shared = f" A bar stands for {width} numbers." if width > 1 else ""
        bars = [Counter(number // width for number in numbers) for _, numbers in counted]
        scale = _TALLEST_BAR_SHARE / max(max(counts.values()) / counts.total() for counts in bars)
        about = (f"{name}-{key}", words["title"], words["sentence"] + shared, 51 + 38 * len(counted))
        with add_plot(plots, *about) as (axes, shown):
            _name_runs(axes, [run for run, _ in counted], at=-0.25)
            for row, (counts, (run, numbers)) in enumerate(zip(bars, counted, strict=True)):
                colour, middle = run_colour(row), median(numbers)
                places = [place * width + (width - 1) / 2 for place in counts]
                heights = [-scale * count / counts.total() for count in counts.values()]
                axes.bar(places, heights, 0.86 * width, row, color=colour, alpha=0.85)
                axes.axhline(row, linewidth=0.6, color=colour)
                axes.plot([middle] * 2, [row + 0.1, row - 0.8], color=INK, linewidth=1.4)
                shown.append(f"run {run.number}, {run.name.full}: median {middle:g}, at most {max(numbers)}")
            axes.set_ylim(len(counted) - 0.85, -0.95)
            axes.set_xlim(left=-0.6 * width)
            axes.set_xlabel(words["axis"])
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return plots


_BREAKDOWNS = {
    "hops": "hops of the gold path",
    "kind": "kind of question",
    "level": "level of generalisation",
    "answers": "number of gold answers",
    "intermediate": "entities between topics and answers",
}

_UNITS = {"hops": " hop", "answers": " answer"}

MAX_KINDS = 20  # kinds that are shown at most, the most frequent ones

_MAX_PART_NAME_CHARS = 33

_BAR_HEIGHT = 14

_Comparisons = Mapping[tuple[int, str], Comparison]
"""How a run differs from the first one on the questions of a kind, by run number and kind."""


@dataclass(frozen=True, slots=True)
class KindBreakdown:
    """The runs by one thing that is known of questions (``by``, a key of the breakdowns)."""

    by: str
    runs: Sequence[ReportedRun]

    def metrics_of(self, run: ReportedRun, kind: str) -> Mapping[str, Any]:
        """Return the metrics of a run over the questions of a kind; nothing where it has none."""
        return self._kinds_of(run).get(kind) or {}

    @property
    def kinds(self) -> list[str]:
        """The kinds of any run: numbers in their order, the rest as metrics.json has them."""
        found = dict.fromkeys(kind for run in self.runs for kind in self._kinds_of(run))
        frequent = sorted(found, key=lambda kind: -max(self._count(run, kind) for run in self.runs))
        kept = [kind for kind in found if kind in frequent[:MAX_KINDS]]
        return sorted(kept, key=int) if all(kind.isdecimal() for kind in kept) else kept

    def label(self, kind: str) -> str:
        """Return the name of a kind with the number of its questions."""
        counts = sorted({self._count(run, kind) for run in self.runs} - {0}) or [0]
        n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        unit = _UNITS.get(self.by, "")
        return f"{one_line(kind, 18)}{unit}{'s' if unit and kind != '1' else ''} (n={n})"

    def compare(self) -> Iterator[tuple[tuple[int, str], Comparison]]:
        """Compare each run with the first one on the questions of each kind."""
        for run in self.runs[1:]:
            sides = align_questions(run, self.runs[0])
            ours, theirs = (
                group_questions([question for question in side if question.score], self.by) for side in sides
            )
            for kind, questions in ours.items():
                found = compare_scored([(questions, theirs[kind])], self.runs[0].folder.seed)
                if found.n:
                    yield (run.number, kind), found

    def _kinds_of(self, run: ReportedRun) -> Mapping[str, Any]:
        return cells.look_up(run.metrics, "breakdowns", self.by) or {}

    def _count(self, run: ReportedRun, kind: str) -> int:
        return int(self.metrics_of(run, kind).get("n") or 0)


def breakdown_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw Hits@1 and F1 by each thing known of questions, where there is more than one kind of it."""
    measured = [run for run in runs if run.metrics]
    plots: list[Plot] = []
    for by, words in _BREAKDOWNS.items():
        breakdown = KindBreakdown(by, measured[:RUN_COLOURS])
        kinds = breakdown.kinds
        if len(kinds) < 2:
            continue
        compared = dict(breakdown.compare())
        differences = WORDS["difference"]["sentence"].format(run=measured[0].number) if compared else ""
        note = differences + truncation_note(len(measured), "runs")
        height = 49 + _row_height(breakdown) * len(kinds)
        for metric, called in cells.PLOTTED_METRICS.items():
            sentence = WORDS["breakdown"]["sentence"].format(metric=called) + note
            about = (f"{name}-{by}-{metric}", f"{called} by {words}", sentence, height)
            with add_plot(plots, *about, right=90 if compared else 52) as (axes, shown):
                name_rows(axes, [breakdown.label(kind) for kind in kinds])
                for row, kind in enumerate(kinds):
                    shown += _draw_kind(axes, row, kind, breakdown, compared, metric)
                axes.set(xlim=(0, 1.02), xlabel=called)
                format_percent_axis(axes, across=True)
    return plots


def _row_height(breakdown: KindBreakdown) -> int:
    return 16 + _BAR_HEIGHT * len(breakdown.runs)


def _draw_kind(
    axes: Axes, row: int, kind: str, breakdown: KindBreakdown, compared: _Comparisons, metric: str
) -> Iterator[str]:
    """Draw a bar for each run at the row of a kind, and say what it shows."""
    thickness = _BAR_HEIGHT / _row_height(breakdown)
    for number, run in enumerate(breakdown.runs):
        value = cells.read_interval(breakdown.metrics_of(run, kind).get(metric))
        if not value:
            continue
        y = row + (number - (len(breakdown.runs) - 1) / 2) * thickness
        axes.barh(y, value.value, 0.85 * thickness, color=run_colour(number), alpha=0.3)
        draw_interval(axes, y, value, number, across=True)
        write_beside(axes, y, f"{100 * value.value:.1f}")
        words = f"{kind}, run {run.number}: {value}"
        if found := compared.get((run.number, kind)):
            more = found.differences[metric]
            words += f", {cells.describe_difference(more)}"
            bold = cells.is_significant(more)
            write_beside(axes, y, cells.format_points(more.value or 0.0), column=1, bold=bold)
        yield words
    if row:
        axes.axhline(row - 0.5, linewidth=0.6, color=FAINT, alpha=0.6)


def contribution_plots(name: str, first: int, ablations: Sequence[Ablation]) -> list[Plot]:
    """Draw the contribution of each part to Hits@1 and F1; ``first`` is the number of the first run."""
    plots: list[Plot] = []
    for number, ablation in enumerate(ablations, start=1):
        parts = [variant for variant in ablation.variants if variant.comparison.n]
        for metric, called in cells.PLOTTED_METRICS.items() if parts else ():
            about = (f"{name}-part{number}-{metric}", f"{ablation_title(ablation)}: {called}")
            sentence, height = WORDS["contribution"]["sentence"].format(metric=called), 49 + 30 * len(parts)
            with add_plot(plots, *about, sentence, height, left=226) as (axes, shown):
                name_rows(axes, [one_line(part.name, _MAX_PART_NAME_CHARS) for part in parts])
                for row, part in enumerate(parts):
                    found = part.comparison.differences[metric]
                    colour = run_colour(part.runs[0].number - first)
                    value, low, high = (
                        100 * (bound or 0.0) for bound in (found.value, found.low, found.high)
                    )
                    axes.barh(row, value, 0.55, color=colour, alpha=0.85)
                    axes.plot([low, high], [row, row], color=INK, linewidth=1.3)
                    bold = cells.is_significant(found)
                    write_beside(axes, row, cells.format_points(value / 100), bold=bold)
                    shown.append(f"{part.name}: {cells.describe_difference(found)}")
                axes.axvline(0, linewidth=0.8, color=INK)
                axes.set_xlabel("percentage points")
    return plots


def reliability_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw right answers against confidence; nothing where no run has any."""
    found = [(run, bins) for run in runs if (bins := cells.look_up(run.metrics, "reliability", "bins"))]
    plots: list[Plot] = []
    if not found:
        return plots
    sentence = WORDS["reliability"]["sentence"] + truncation_note(len(found), "runs")
    about = (f"{name}-reliability", WORDS["reliability"]["title"], sentence, 290)
    with add_plot(plots, *about, left=62, right=90) as (axes, shown):
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8)
        for number, (run, bins) in enumerate(found[:RUN_COLOURS]):
            for each in bins:
                if right := cells.read_interval(each["right"]):
                    draw_interval(axes, each["confidence"], right, number)
                    told = f"run {run.number} at {each['confidence']:.0%}: {right} of {each['n']} right"
                    shown.append(told)
            axes.plot([], [], label=f"run {run.number}", **marker_style(number))
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel="confidence", ylabel="right")
        format_percent_axis(axes)
        format_percent_axis(axes, across=True)
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, handlelength=0.8, fontsize=11.5)
    return plots


def draw_plots(name: str, runs: Sequence[ReportedRun], ablations: Sequence[Ablation] = ()) -> list[Plot]:
    """Draw what there is to draw of the runs on one dataset; ``name`` begins the ids in the pictures."""
    return [
        *contribution_plots(name, runs[0].number, ablations),
        *cost_plots(name, runs),
        *error_plots(name, runs),
        *reliability_plots(name, runs),
        *breakdown_plots(name, runs),
        *stacked_plots(name, runs),
        *spread_plots(name, runs),
    ]
