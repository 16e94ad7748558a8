"""Accuracy against what it costs, and against the error rate of a simulated model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from kgqa.evaluation.report.cells import PLOTTED_METRICS, Interval, read_interval, sum_means
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots.canvas import (
    SERIES_COLOURS,
    Plot,
    draw_interval,
    format_percent_axis,
    label_points,
    marker_style,
    open_canvas,
    share_limits,
    truncation_note,
)
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.simulation.error_rates import ErrorRates

_MAX_POINT_NAME_CHARS = 21
"""Characters of a name beside its point at most."""

_COSTS = {
    "calls": ("LLM calls", ("llm_calls",)),
    "tokens": ("tokens", ("input_tokens", "output_tokens")),
}

_CostPoint = tuple[ReportedRun, float, Interval]


def cost_plots(name: str, entries: Sequence[ReportedRun]) -> list[Plot]:
    """Draw Hits@1 and F1 against mean calls and mean tokens, as far as they are known and not all 0."""
    plots = []
    for cost, (words, keys) in _COSTS.items():
        for metric, called in PLOTTED_METRICS.items():
            points = _cost_points(entries, metric, keys)
            if any(x for _, x, _ in points):
                plots.append(_draw_cost_plot(f"{name}-{cost}-{metric}", called, words, points))
    return plots


def _cost_points(entries: Sequence[ReportedRun], metric: str, keys: Sequence[str]) -> list[_CostPoint]:
    points = []
    for entry in entries:
        value, cost = read_interval((entry.metrics or {}).get(metric)), sum_means(entry.metrics, *keys)
        if value is not None and cost is not None:
            points.append((entry, cost, value))
    return points


def _draw_cost_plot(name: str, called: str, words: str, points: list[_CostPoint]) -> Plot:
    few = len(points) <= SERIES_COLOURS
    names = [
        one_line(f"{e.number} {e.name.short}", _MAX_POINT_NAME_CHARS) if few else str(e.number)
        for e, _, _ in points
    ]
    widest = max(x for _, x, _ in points)
    with open_canvas(right=152 if few else 34) as opened:
        axes = opened.axes
        for number, (_, x, value) in enumerate(points):
            draw_interval(axes, x, value, number)
        axes.set_xlim(-0.03 * widest, 1.06 * widest)
        axes.set_ylim(*share_limits([value for _, _, value in points]))
        axes.set_xlabel(f"mean {words} per question")
        axes.set_ylabel(called)
        format_percent_axis(axes)
        label_points(axes, [(x, value.value) for _, x, value in points], names)
    told = "; ".join(f"run {e.number}, {e.name.full}: {value} at {x:,.1f}" for e, x, value in points)
    return Plot(
        f"{called} against {words}",
        f"Each point is a run: its {called} with the 95% interval over its mean {words} per question. "
        "Up and to the left is better.",
        opened.svg(name, f"{called} against mean {words} per question. {told}."),
    )


_MAX_LINE_NAME_CHARS = 23
"""Characters of a name beside its line at most."""

_LINE_OFFSET = 0.004
"""How far lines are moved aside so that their intervals do not cover each other."""

_ERROR_SENTENCE = (
    "Simulated error is how often the first relation that a simulated model picks is wrong. Each line is a "
    "method with its options and joins the means of the seeds; each point is a run with its 95% interval."
)


class _ErrorPoint(NamedTuple):
    error: float
    value: Interval


_ErrorLines = Mapping[str, Sequence[_ErrorPoint]]


def error_plots(name: str, entries: Sequence[ReportedRun]) -> list[Plot]:
    """Draw Hits@1 and F1 against the simulated error; nothing where fewer than two rates were run."""
    plots = []
    for metric, called in PLOTTED_METRICS.items():
        lines = _error_lines(entries, metric)
        if len({point.error for line in lines.values() for point in line}) > 1:
            plots.append(_error_plot(f"{name}-error-{metric}", called, lines))
    return plots


def _error_lines(entries: Sequence[ReportedRun], metric: str) -> dict[str, list[_ErrorPoint]]:
    """Sort the runs of simulated models into lines: all that differ in accuracy and seed only."""
    lines: dict[str, list[_ErrorPoint]] = {}
    for entry in entries:
        errors, value = _read_error_rates(entry.run.model), read_interval((entry.metrics or {}).get(metric))
        if errors and value:
            others = str(replace(errors, accuracy=1.0, seed=0)).partition(":")[2]
            line = lines.setdefault(" · ".join(filter(None, [entry.name.variant, others])), [])
            line.append(_ErrorPoint(1 - errors.accuracy, value))
    return lines


def _read_error_rates(model: str) -> "ErrorRates | None":
    """Read the spec of a simulated model; None for any other model."""
    from kgqa.evaluation.simulation.error_rates import parse_error_rates

    try:
        return parse_error_rates(model)
    except ValueError:
        return None


def _error_plot(name: str, called: str, lines: _ErrorLines) -> Plot:
    shown = dict(list(lines.items())[:SERIES_COLOURS])
    means = {line: _mean_by_error(points) for line, points in shown.items()}
    told = "; ".join(
        f"{line}: " + ", ".join(f"{value:.1%} at {error:.0%} error" for error, value in of.items())
        for line, of in means.items()
    )
    alt = f"{called} against simulated error. {told}."
    sentence = _ERROR_SENTENCE + truncation_note(len(lines), "lines")
    return Plot(f"{called} against simulated error", sentence, _draw_error_lines(name, called, shown, alt))


def _draw_error_lines(name: str, called: str, lines: _ErrorLines, alt: str) -> str:
    points = [point for line in lines.values() for point in line]
    ends = []
    with open_canvas(right=152) as opened:
        axes = opened.axes
        for number, line in enumerate(lines.values()):
            aside = (number - (len(lines) - 1) / 2) * _LINE_OFFSET
            for point in line:
                draw_interval(axes, point.error + aside, point.value, number)
            errors, values = zip(*_mean_by_error(line).items(), strict=True)
            axes.plot([error + aside for error in errors], values, **{**marker_style(number), "marker": ""})
            ends.append((errors[-1] + aside, values[-1]))
        axes.set_xlim(-0.015, 1.05 * max(point.error for point in points))
        axes.set_ylim(*share_limits([point.value for point in points]))
        axes.set_xlabel("simulated error")
        axes.set_ylabel(called)
        format_percent_axis(axes)
        format_percent_axis(axes, across=True)
        label_points(axes, ends, [one_line(line, _MAX_LINE_NAME_CHARS) for line in lines])
    return opened.svg(name, alt)


def _mean_by_error(line: Sequence[_ErrorPoint]) -> dict[float, float]:
    """Return the mean over the seeds at each error, in the order of errors."""
    errors = sorted({point.error for point in line})
    return {error: mean(p.value.value for p in line if p.error == error) for error in errors}
