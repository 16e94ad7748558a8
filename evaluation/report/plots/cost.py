"""Accuracy against what it costs: model calls, tokens."""

from collections.abc import Sequence

from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.plots.canvas import Plot, canvas
from kgqa.evaluation.report.plots.points import labelled, per_cent, room, with_interval
from kgqa.evaluation.report.plots.svg import SERIES
from kgqa.evaluation.report.shares import PLOTTED, Interval, interval, mean_of
from kgqa.kg.terms import one_line

_NAME = 21
"""Characters of a name beside its point at most."""

_COSTS = {
    "calls": ("LLM calls", ("llm_calls",)),
    "tokens": ("tokens", ("input_tokens", "output_tokens")),
}

_Point = tuple[Entry, float, Interval]


def cost_plots(name: str, entries: Sequence[Entry]) -> list[Plot]:
    """Draw Hits@1 and F1 against mean calls and mean tokens, as far as they are known and not all 0."""
    plots = []
    for cost, (words, keys) in _COSTS.items():
        for metric, called in PLOTTED.items():
            points = _points(entries, metric, keys)
            if any(x for _, x, _ in points):
                plots.append(_plot(f"{name}-{cost}-{metric}", called, words, points))
    return plots


def _points(entries: Sequence[Entry], metric: str, keys: Sequence[str]) -> list[_Point]:
    points = []
    for entry in entries:
        value, cost = interval((entry.metrics or {}).get(metric)), mean_of(entry.metrics, *keys)
        if value is not None and cost is not None:
            points.append((entry, cost, value))
    return points


def _plot(name: str, called: str, words: str, points: list[_Point]) -> Plot:
    few = len(points) <= SERIES
    names = [one_line(f"{e.number} {e.name.short}", _NAME) if few else str(e.number) for e, _, _ in points]
    widest = max(x for _, x, _ in points)
    with canvas(right=152 if few else 34) as opened:
        axes = opened.axes
        for number, (_, x, value) in enumerate(points):
            with_interval(axes, x, value, number)
        axes.set_xlim(-0.03 * widest, 1.06 * widest)
        axes.set_ylim(*room([value for _, _, value in points]))
        axes.set_xlabel(f"mean {words} per question")
        axes.set_ylabel(called)
        per_cent(axes)
        labelled(axes, [(x, value.value) for _, x, value in points], names)
    told = "; ".join(f"run {e.number}, {e.name.full}: {value} at {x:,.1f}" for e, x, value in points)
    return Plot(
        f"{called} against {words}",
        f"Each point is a run: its {called} with the 95% interval over its mean {words} per question. "
        "Up and to the left is better.",
        opened.svg(name, f"{called} against mean {words} per question. {told}."),
    )
