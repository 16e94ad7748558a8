"""Accuracy against what it costs, and against the error rate of a simulated model."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean
from typing import NamedTuple

from matplotlib.axes import Axes

from kgqa.evaluation.report import cells
from kgqa.evaluation.report.cells import Interval
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots import drawing
from kgqa.evaluation.report.plots.drawing import Plot
from kgqa.evaluation.simulation.error_rates import parse_error_rates
from kgqa.kg.terms import one_line

_MAX_NAME_CHARS = 22
_NAME_WIDTH = 172
_HEIGHT = 290

_LINE_OFFSET = 0.004
"""How far lines are moved aside so that their intervals do not cover each other."""

_COSTS = {"calls": ("LLM calls", ("llm_calls",)), "tokens": ("tokens", ("input_tokens", "output_tokens"))}

_COST_SENTENCE = (
    "Each point is a run: its {} with the 95% interval over its mean {} per question. "
    "Up and to the left is better."
)

_ERROR_SENTENCE = (
    "Simulated error is how often the first relation that a simulated model picks is wrong. Each line is a "
    "method with its options and joins the means of the seeds; each point is a run with its 95% interval."
)


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
            few = len(points) <= drawing.RUN_COLOURS
            lines = [_Line(f"{r.number} {r.name.short}" if few else str(r.number), [p]) for r, p in points]
            axis, caption = f"mean {words} per question", _COST_SENTENCE.format(title, words)
            about = (f"{name}-{cost}-{metric}", f"{title} against {words}", caption, _HEIGHT)
            alt, right = f"{title} against {axis}", _NAME_WIDTH if few else 34
            with drawing.add_plot(plots, *about, alt=alt, left=62, right=right) as (axes, shown):
                _draw_lines(axes, lines)
                axes.set(xlabel=axis, ylabel=title)
                shown += (f"run {r.number}, {r.name.full}: {p.value} at {p.x:,.1f}" for r, p in points)
    return plots


def error_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw Hits@1 and F1 against the simulated error; nothing where fewer than two rates were run."""
    plots: list[Plot] = []
    for metric, title in cells.PLOTTED_METRICS.items():
        every = _error_lines(runs, metric)
        lines = every[: drawing.RUN_COLOURS]
        if len({point.x for line in every for point in line.points}) > 1:
            sentence = _ERROR_SENTENCE + drawing.truncation_note(len(every), "lines")
            about = (f"{name}-error-{metric}", f"{title} against simulated error", sentence, _HEIGHT)
            with drawing.add_plot(plots, *about, left=62, right=_NAME_WIDTH) as (axes, shown):
                _draw_lines(axes, lines, offset=_LINE_OFFSET)
                drawing.format_percent_axis(axes, across=True)
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
            drawing.draw_interval(axes, point.x + aside, point.value, number)
        xs, means = [x + aside for x, _ in line.means], [mean for _, mean in line.means]
        name = one_line(line.name, _MAX_NAME_CHARS)
        axes.plot(xs, means, label=name, **drawing.marker_style(number))
        ends.append((means[-1], xs[-1], name, drawing.run_colour(number)))
    axes.set_xlim(*(-0.015, 1.05 * widest) if offset else (-0.03 * widest, 1.06 * widest))
    axes.set_ylim(*drawing.share_limits([point.value for point in points]))
    drawing.format_percent_axis(axes)
    if len(lines) <= drawing.RUN_COLOURS:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, handlelength=0.8, fontsize=11.5)
        return
    edge, (low, high) = axes.get_xlim()[1], axes.get_ylim()
    for place, (y, x, name, colour) in enumerate(sorted(ends)):  # too many for a legend
        at = (edge, low + (high - low) * place / (len(ends) - 1))
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6}
        axes.annotate(name, (x, y), at, annotation_clip=False, va="center", color=colour, arrowprops=leader)
