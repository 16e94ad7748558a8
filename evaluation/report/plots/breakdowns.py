"""Accuracy by what kind of question it was (CoG, Figure 4)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kgqa.evaluation.report.cells import in_points, signed, sure
from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.kinds import Kinds
from kgqa.evaluation.report.plots.canvas import Plot, canvas, first_of
from kgqa.evaluation.report.plots.points import beside, per_cent, with_interval
from kgqa.evaluation.report.plots.svg import FAINT, SERIES, series_colour
from kgqa.evaluation.report.shares import PLOTTED, Interval, interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kgqa.evaluation.comparison import Comparison, Difference

_BY = {
    "hops": "hops of the gold path",
    "kind": "kind of question",
    "level": "level of generalisation",
    "answers": "number of gold answers",
    "intermediate": "entities between topics and answers",
}

_BAR = 14
"""Height that a bar takes, in the units of the view box."""

_SENTENCE = "{} with its 95% interval, one bar for each run; n is the number of questions."

_BESIDE = (
    " Beside a bar: its value, and what it has more or less than run {}, in percentage points, in bold "
    "where the paired 95% interval of that does not hold 0."
)

Compared = Mapping[tuple[int, str], "Comparison"]


def breakdown_plots(name: str, entries: Sequence[Entry]) -> list[Plot]:
    """Draw Hits@1 and F1 by each thing known of questions, where there is more than one kind of it."""
    measured = [entry for entry in entries if entry.metrics]
    plots = []
    for by, words in _BY.items():
        kinds = Kinds(by, measured[:SERIES])
        if len(kinds.names) < 2:
            continue
        compared = kinds.compared()
        for metric, called in PLOTTED.items():
            sentence = _SENTENCE.format(called) + (_BESIDE.format(measured[0].number) if compared else "")
            title = f"{called} by {words}"
            svg = _draw(f"{name}-{by}-{metric}", kinds, compared, metric, title)
            plots.append(Plot(title, sentence + first_of(len(measured), "runs"), svg))
    return plots


def _draw(name: str, kinds: Kinds, compared: Compared, metric: str, title: str) -> str:
    names, entries = kinds.names, kinds.entries
    row = 16 + _BAR * len(entries)
    told: list[str] = []
    with canvas(49 + row * len(names), left=146, right=90 if compared else 52) as opened:
        axes = opened.axes
        for place, kind in enumerate(names):
            for number, entry in enumerate(entries):
                value = interval(kinds.of(entry, kind).get(metric))
                if value:
                    found = compared.get((entry.number, kind))
                    more = found.differences[metric] if found else None
                    aside = (number - (len(entries) - 1) / 2) * _BAR / row
                    _bar(axes, place + aside, 0.85 * _BAR / row, value, number, more)
                    told.append(
                        f"{kind}, run {entry.number}: {value}" + (f", {in_points(more)}" if more else "")
                    )
            if place:
                axes.axhline(place - 0.5, linewidth=0.6, color=FAINT, alpha=0.6)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_yticks(range(len(names)), [kinds.named(kind) for kind in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(0, 1.02)
        axes.set_xlabel(PLOTTED[metric])
        per_cent(axes, across=True)
    return opened.svg(name, f"{title}. {'; '.join(told)}.")


def _bar(
    axes: "Axes", y: float, height: float, value: Interval, number: int, more: "Difference | None"
) -> None:
    """Draw a bar with its interval, its value, and the difference from the first run."""
    axes.barh(y, value.value, height, color=series_colour(number), alpha=0.3)
    with_interval(axes, y, value, number, across=True)
    beside(axes, y, f"{100 * value.value:.1f}")
    if more and more.value is not None:
        beside(axes, y, signed(more.value), column=1, bold=sure(more))
