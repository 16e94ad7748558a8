"""Accuracy by what kind of question it was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.plots.canvas import Plot, canvas, first_of
from kgqa.evaluation.report.plots.points import per_cent, with_interval
from kgqa.evaluation.report.plots.svg import FAINT, SERIES
from kgqa.evaluation.report.shares import PLOTTED, interval
from kgqa.kg.terms import one_line

_BY = {
    "hops": "hops of the gold path",
    "kind": "kind of question",
    "level": "level of generalisation",
    "answers": "number of gold answers",
}

MOST = 20
"""Kinds that a plot shows at most, the most frequent ones."""

_POINT = 13
"""Height that a point takes, in the units of the view box."""


@dataclass(frozen=True, slots=True)
class _Breakdown:
    """The runs by one thing that is known of questions, and the kinds there are of it."""

    by: str
    entries: Sequence[Entry]

    def of(self, entry: Entry) -> Mapping[str, Any]:
        return ((entry.metrics or {}).get("breakdowns") or {}).get(self.by) or {}

    def count(self, entry: Entry, kind: str) -> int:
        return int((self.of(entry).get(kind) or {}).get("n") or 0)

    @property
    def kinds(self) -> list[str]:
        """The kinds of any run: numbers in their order, the rest as metrics.json has them."""
        found = list(dict.fromkeys(kind for entry in self.entries for kind in self.of(entry)))
        often = sorted(found, key=lambda kind: -max(self.count(entry, kind) for entry in self.entries))[:MOST]
        kept = [kind for kind in found if kind in often]
        return sorted(kept, key=int) if all(kind.isdecimal() for kind in kept) else kept

    def named(self, kind: str) -> str:
        counts = sorted({self.count(entry, kind) for entry in self.entries} - {0}) or [0]
        n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        unit = {"hops": " hop", "answers": " answer"}.get(self.by, "")
        return f"{one_line(kind, 18)}{unit}{'s' if unit and kind != '1' else ''} (n={n})"


def breakdown_plots(name: str, entries: Sequence[Entry]) -> list[Plot]:
    """Draw Hits@1 and F1 by hops, kind, level and number of answers, where there is more than one of each."""
    measured = [entry for entry in entries if entry.metrics]
    plots = []
    for by, words in _BY.items():
        breakdown = _Breakdown(by, measured[:SERIES])
        if len(breakdown.kinds) > 1:
            for metric, called in PLOTTED.items():
                sentence = (
                    f"{called} with its 95% interval, one point for each run; n is the number of questions."
                    + first_of(len(measured), "runs")
                )
                title = f"{called} by {words}"
                svg = _draw(f"{name}-{by}-{metric}", breakdown, metric, title)
                plots.append(Plot(title, sentence, svg))
    return plots


def _draw(name: str, breakdown: _Breakdown, metric: str, title: str) -> str:
    kinds, entries = breakdown.kinds, breakdown.entries
    row = 16 + _POINT * len(entries)
    told = []
    with canvas(49 + row * len(kinds), left=146) as opened:
        axes = opened.axes
        for place, kind in enumerate(kinds):
            for number, entry in enumerate(entries):
                value = interval((breakdown.of(entry).get(kind) or {}).get(metric))
                if value:
                    aside = (number - (len(entries) - 1) / 2) * _POINT / row
                    with_interval(axes, place + aside, value, number, across=True)
                    told.append(f"{kind}, run {entry.number}: {value}")
            if place:
                axes.axhline(place - 0.5, linewidth=0.6, color=FAINT, alpha=0.6)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_yticks(range(len(kinds)), [breakdown.named(kind) for kind in kinds])
        axes.set_ylim(len(kinds) - 0.5, -0.5)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel(PLOTTED[metric])
        per_cent(axes, across=True)
    return opened.svg(name, f"{title}. {'; '.join(told)}.")
