"""Accuracy against what it costs, and against the error rate of a simulated model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from kgqa.evaluation.report import cells
from kgqa.evaluation.report.cells import Interval
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots import drawing
from kgqa.evaluation.report.plots.drawing import Plot
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.simulation.error_rates import ErrorRates

_MAX_NAME_CHARS = 22
"""Characters of a name beside its point or line at most."""

_LINE_OFFSET = 0.004
"""How far lines are moved aside so that their intervals do not cover each other."""

_COSTS = {
    "calls": ("LLM calls", ("llm_calls",)),
    "tokens": ("tokens", ("input_tokens", "output_tokens")),
}

_COST_SENTENCE = (
    "Each point is a run: its {} with the 95% interval over its mean {} per question. "
    "Up and to the left is better."
)

_ERROR_SENTENCE = (
    "Simulated error is how often the first relation that a simulated model picks is wrong. Each line is a "
    "method with its options and joins the means of the seeds; each point is a run with its 95% interval."
)


class _CostPoint(NamedTuple):
    run: ReportedRun
    cost: float
    value: Interval


class _ErrorPoint(NamedTuple):
    error: float
    value: Interval


_ErrorLines = Mapping[str, Sequence[_ErrorPoint]]


def cost_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw Hits@1 and F1 against mean calls and mean tokens, as far as they are known and not all 0."""
    plots = []
    for cost, (words, keys) in _COSTS.items():
        for metric, title in cells.PLOTTED_METRICS.items():
            points = [
                _CostPoint(run, spent, value)
                for run in runs
                if (value := cells.read_interval((run.metrics or {}).get(metric)))
                and (spent := cells.sum_means(run.metrics, *keys)) is not None
            ]
            if any(point.cost for point in points):
                svg = _draw_costs(f"{name}-{cost}-{metric}", title, words, points)
                plots.append(Plot(f"{title} against {words}", _COST_SENTENCE.format(title, words), svg))
    return plots


def _draw_costs(name: str, title: str, words: str, points: Sequence[_CostPoint]) -> str:
    few = len(points) <= drawing.RUN_COLOURS
    names = [
        one_line(f"{run.number} {run.name.short}", _MAX_NAME_CHARS) if few else str(run.number)
        for run, _, _ in points
    ]
    widest = max(point.cost for point in points)
    with drawing.open_canvas(right=152 if few else 34) as canvas:
        axes = canvas.axes
        for number, (_, x, value) in enumerate(points):
            drawing.draw_interval(axes, x, value, number)
        axes.set_xlim(-0.03 * widest, 1.06 * widest)
        axes.set_ylim(*drawing.share_limits([point.value for point in points]))
        axes.set_xlabel(f"mean {words} per question")
        axes.set_ylabel(title)
        drawing.format_percent_axis(axes)
        drawing.label_points(axes, [(point.cost, point.value.value) for point in points], names)
    shown = "; ".join(f"run {run.number}, {run.name.full}: {value} at {x:,.1f}" for run, x, value in points)
    return canvas.svg(name, f"{title} against mean {words} per question. {shown}.")


def error_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw Hits@1 and F1 against the simulated error; nothing where fewer than two rates were run."""
    plots = []
    for metric, title in cells.PLOTTED_METRICS.items():
        lines = _error_lines(runs, metric)
        if len({point.error for line in lines.values() for point in line}) > 1:
            sentence = _ERROR_SENTENCE + drawing.truncation_note(len(lines), "lines")
            svg = _draw_errors(
                f"{name}-error-{metric}", title, dict(list(lines.items())[: drawing.RUN_COLOURS])
            )
            plots.append(Plot(f"{title} against simulated error", sentence, svg))
    return plots


def _error_lines(runs: Sequence[ReportedRun], metric: str) -> dict[str, list[_ErrorPoint]]:
    """Sort the runs of simulated models into lines: all that differ in accuracy and seed only."""
    lines: dict[str, list[_ErrorPoint]] = {}
    for run in runs:
        rates, value = (
            _read_error_rates(run.folder.model),
            cells.read_interval((run.metrics or {}).get(metric)),
        )
        if rates and value:
            others = str(replace(rates, accuracy=1.0, seed=0)).partition(":")[2]
            line = lines.setdefault(" · ".join(filter(None, [run.name.variant, others])), [])
            line.append(_ErrorPoint(1 - rates.accuracy, value))
    return lines


def _read_error_rates(model: str) -> "ErrorRates | None":
    """Read the spec of a simulated model; None for any other model."""
    from kgqa.evaluation.simulation.error_rates import parse_error_rates

    try:
        return parse_error_rates(model)
    except ValueError:
        return None


def _draw_errors(name: str, title: str, lines: _ErrorLines) -> str:
    points = [point for line in lines.values() for point in line]
    ends, shown = [], []
    with drawing.open_canvas(right=152) as canvas:
        axes = canvas.axes
        for number, (line, of_line) in enumerate(lines.items()):
            offset = (number - (len(lines) - 1) / 2) * _LINE_OFFSET
            for point in of_line:
                drawing.draw_interval(axes, point.error + offset, point.value, number)
            errors, values = zip(*_mean_by_error(of_line), strict=True)
            axes.plot(
                [error + offset for error in errors], values, **{**drawing.marker_style(number), "marker": ""}
            )
            ends.append((errors[-1] + offset, values[-1]))
            means = (f"{v:.1%} at {error:.0%} error" for error, v in zip(errors, values, strict=True))
            shown.append(f"{line}: {', '.join(means)}")
        axes.set_xlim(-0.015, 1.05 * max(point.error for point in points))
        axes.set_ylim(*drawing.share_limits([point.value for point in points]))
        axes.set_xlabel("simulated error")
        axes.set_ylabel(title)
        drawing.format_percent_axis(axes)
        drawing.format_percent_axis(axes, across=True)
        drawing.label_points(axes, ends, [one_line(line, _MAX_NAME_CHARS) for line in lines])
    return canvas.svg(name, f"{title} against simulated error. {'; '.join(shown)}.")


def _mean_by_error(line: Sequence[_ErrorPoint]) -> list[tuple[float, float]]:
    """Return the mean over the seeds at each error, in the order of errors."""
    errors = sorted({point.error for point in line})
    return [(error, mean(p.value.value for p in line if p.error == error)) for error in errors]
