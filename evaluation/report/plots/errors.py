"""Accuracy against the error rate of a simulated model: what a method makes of wrong turns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.plots.canvas import Plot, canvas, first_of
from kgqa.evaluation.report.plots.points import labelled, mark, per_cent, room, with_interval
from kgqa.evaluation.report.plots.svg import SERIES
from kgqa.evaluation.report.shares import PLOTTED, Interval, interval
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.simulation.errors import Errors

_NAME = 23
"""Characters of a name beside its line at most."""

_APART = 0.004
"""How far lines are moved aside so that their intervals do not cover each other."""

_SENTENCE = (
    "Simulated error is how often the first relation that a simulated model picks is wrong. Each line is a "
    "method with its options and joins the means of the seeds; each point is a run with its 95% interval."
)


class _Point(NamedTuple):
    error: float
    value: Interval


_Lines = Mapping[str, Sequence[_Point]]


def error_plots(name: str, entries: Sequence[Entry]) -> list[Plot]:
    """Draw Hits@1 and F1 against the simulated error; nothing where fewer than two rates were run."""
    plots = []
    for metric, called in PLOTTED.items():
        lines = _lines(entries, metric)
        if len({point.error for line in lines.values() for point in line}) > 1:
            plots.append(_plot(f"{name}-error-{metric}", called, lines))
    return plots


def _lines(entries: Sequence[Entry], metric: str) -> dict[str, list[_Point]]:
    """Sort the runs of simulated models into lines: all that differ in accuracy and seed only."""
    lines: dict[str, list[_Point]] = {}
    for entry in entries:
        errors, value = _errors(entry.run.model), interval((entry.metrics or {}).get(metric))
        if errors and value:
            others = str(replace(errors, accuracy=1.0, seed=0)).partition(":")[2]
            line = lines.setdefault(" · ".join(filter(None, [entry.name.variant, others])), [])
            line.append(_Point(1 - errors.accuracy, value))
    return lines


def _errors(model: str) -> "Errors | None":
    """Read the spec of a simulated model; None for any other model."""
    from kgqa.evaluation.simulation.errors import parse

    try:
        return parse(model)
    except ValueError:
        return None


def _plot(name: str, called: str, lines: _Lines) -> Plot:
    shown = dict(list(lines.items())[:SERIES])
    means = {line: _means(points) for line, points in shown.items()}
    told = "; ".join(
        f"{line}: " + ", ".join(f"{value:.1%} at {error:.0%} error" for error, value in of.items())
        for line, of in means.items()
    )
    alt = f"{called} against simulated error. {told}."
    sentence = _SENTENCE + first_of(len(lines), "lines")
    return Plot(f"{called} against simulated error", sentence, _draw(name, called, shown, alt))


def _draw(name: str, called: str, lines: _Lines, alt: str) -> str:
    points = [point for line in lines.values() for point in line]
    ends = []
    with canvas(right=152) as opened:
        axes = opened.axes
        for number, line in enumerate(lines.values()):
            aside = (number - (len(lines) - 1) / 2) * _APART
            for point in line:
                with_interval(axes, point.error + aside, point.value, number)
            errors, values = zip(*_means(line).items(), strict=True)
            axes.plot([error + aside for error in errors], values, **{**mark(number), "marker": ""})
            ends.append((errors[-1] + aside, values[-1]))
        axes.set_xlim(-0.015, 1.05 * max(point.error for point in points))
        axes.set_ylim(*room([point.value for point in points]))
        axes.set_xlabel("simulated error")
        axes.set_ylabel(called)
        per_cent(axes)
        per_cent(axes, across=True)
        labelled(axes, ends, [one_line(line, _NAME) for line in lines])
    return opened.svg(name, alt)


def _means(line: Sequence[_Point]) -> dict[float, float]:
    """Give the mean over the seeds at each error, in the order of errors."""
    errors = sorted({point.error for point in line})
    return {error: mean(p.value.value for p in line if p.error == error) for error in errors}
