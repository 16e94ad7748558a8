"""Accuracy by kind of question (CoG, Figure 4), and by what each part of a method contributes (Figure 6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgqa.evaluation.report.ablation import Ablation, Variant, ablation_title
from kgqa.evaluation.report.cells import (
    PLOTTED_METRICS,
    Interval,
    describe_difference,
    format_points,
    is_significant,
    read_interval,
)
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots.canvas import (
    FAINT,
    INK,
    SERIES_COLOURS,
    Plot,
    draw_interval,
    format_percent_axis,
    open_canvas,
    series_colour,
    truncation_note,
    write_beside,
)
from kgqa.evaluation.report.run_tables import align_judged, run_seed
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.scoring.comparison import Comparison
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kgqa.evaluation.scoring.comparison import Comparison, Difference

MAX_KINDS_SHOWN = 20
"""Kinds that are shown at most, the most frequent ones."""


@dataclass(frozen=True, slots=True)
class KindBreakdown:
    """The runs by one thing that is known of questions (``by``, a key of the breakdowns)."""

    by: str
    entries: Sequence[ReportedRun]

    def of(self, entry: ReportedRun, kind: str) -> Mapping[str, Any]:
        """Return the metrics of a run over the questions of a kind; nothing where it has none."""
        return self._all(entry).get(kind) or {}

    @property
    def names(self) -> list[str]:
        """The kinds of any run: numbers in their order, the rest as metrics.json has them."""
        found = list(dict.fromkeys(kind for entry in self.entries for kind in self._all(entry)))
        often = sorted(found, key=lambda kind: -max(self._count(entry, kind) for entry in self.entries))[
            :MAX_KINDS_SHOWN
        ]
        kept = [kind for kind in found if kind in often]
        return sorted(kept, key=int) if all(kind.isdecimal() for kind in kept) else kept

    def named(self, kind: str) -> str:
        """Return the name of a kind with the number of its questions."""
        counts = sorted({self._count(entry, kind) for entry in self.entries} - {0}) or [0]
        n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        unit = {"hops": " hop", "answers": " answer"}.get(self.by, "")
        return f"{one_line(kind, 18)}{unit}{'s' if unit and kind != '1' else ''} (n={n})"

    def compared(self) -> dict[tuple[int, str], "Comparison"]:
        """Compare each run with the first one on the questions of each kind, by run number and kind."""
        return dict(self._compared())

    def _compared(self) -> Iterator[tuple[tuple[int, str], "Comparison"]]:
        from kgqa.evaluation.scoring.comparison import compare_scored
        from kgqa.evaluation.scoring.scores import group_questions

        for entry in self.entries[1:]:
            sides = align_judged(entry, self.entries[0])
            ours, theirs = (group_questions([mark for mark in side if mark.score], self.by) for side in sides)
            for kind, marks in ours.items():
                found = compare_scored([(marks, theirs[kind])], run_seed(self.entries[0]))
                if found.n:
                    yield (entry.number, kind), found

    def _all(self, entry: ReportedRun) -> Mapping[str, Any]:
        return ((entry.metrics or {}).get("breakdowns") or {}).get(self.by) or {}

    def _count(self, entry: ReportedRun, kind: str) -> int:
        return int(self.of(entry, kind).get("n") or 0)


_BREAKDOWN_TITLES = {
    "hops": "hops of the gold path",
    "kind": "kind of question",
    "level": "level of generalisation",
    "answers": "number of gold answers",
    "intermediate": "entities between topics and answers",
}

_BAR_HEIGHT = 14
"""Height that a bar takes, in the units of the view box."""

_BREAKDOWN_SENTENCE = "{} with its 95% interval, one bar for each run; n is the number of questions."

_DIFFERENCE_SENTENCE = (
    " Beside a bar: its value, and what it has more or less than run {}, in percentage points, in bold "
    "where the paired 95% interval of that does not hold 0."
)

ComparisonsByRunAndKind = Mapping[tuple[int, str], "Comparison"]


def breakdown_plots(name: str, entries: Sequence[ReportedRun]) -> list[Plot]:
    """Draw Hits@1 and F1 by each thing known of questions, where there is more than one kind of it."""
    measured = [entry for entry in entries if entry.metrics]
    plots = []
    for by, words in _BREAKDOWN_TITLES.items():
        kinds = KindBreakdown(by, measured[:SERIES_COLOURS])
        if len(kinds.names) < 2:
            continue
        compared = kinds.compared()
        for metric, called in PLOTTED_METRICS.items():
            sentence = _BREAKDOWN_SENTENCE.format(called) + (
                _DIFFERENCE_SENTENCE.format(measured[0].number) if compared else ""
            )
            title = f"{called} by {words}"
            svg = _draw_breakdown(f"{name}-{by}-{metric}", kinds, compared, metric, title)
            plots.append(Plot(title, sentence + truncation_note(len(measured), "runs"), svg))
    return plots


def _draw_breakdown(
    name: str, kinds: KindBreakdown, compared: ComparisonsByRunAndKind, metric: str, title: str
) -> str:
    names, entries = kinds.names, kinds.entries
    row = 16 + _BAR_HEIGHT * len(entries)
    told: list[str] = []
    with open_canvas(49 + row * len(names), left=146, right=90 if compared else 52) as opened:
        axes = opened.axes
        for place, kind in enumerate(names):
            for number, entry in enumerate(entries):
                value = read_interval(kinds.of(entry, kind).get(metric))
                if value:
                    found = compared.get((entry.number, kind))
                    more = found.differences[metric] if found else None
                    aside = (number - (len(entries) - 1) / 2) * _BAR_HEIGHT / row
                    _draw_bar(axes, place + aside, 0.85 * _BAR_HEIGHT / row, value, number, more)
                    told.append(
                        f"{kind}, run {entry.number}: {value}"
                        + (f", {describe_difference(more)}" if more else "")
                    )
            if place:
                axes.axhline(place - 0.5, linewidth=0.6, color=FAINT, alpha=0.6)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_yticks(range(len(names)), [kinds.named(kind) for kind in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(0, 1.02)
        axes.set_xlabel(PLOTTED_METRICS[metric])
        format_percent_axis(axes, across=True)
    return opened.svg(name, f"{title}. {'; '.join(told)}.")


def _draw_bar(
    axes: "Axes", y: float, height: float, value: Interval, number: int, more: "Difference | None"
) -> None:
    """Draw a bar with its interval, its value, and the difference from the first run."""
    axes.barh(y, value.value, height, color=series_colour(number), alpha=0.3)
    draw_interval(axes, y, value, number, across=True)
    write_beside(axes, y, f"{100 * value.value:.1f}")
    if more and more.value is not None:
        write_beside(axes, y, format_points(more.value), column=1, bold=is_significant(more))


_MAX_PART_NAME_CHARS = 21
"""Characters of a name beside its bar at most."""

_CONTRIBUTION_SENTENCE = (
    "{} of the full configuration less that of the runs without the part, in percentage points, with its "
    "paired 95% interval; the number is bold where that does not hold 0."
)


def contribution_plots(name: str, first: int, ablations: Sequence[Ablation]) -> list[Plot]:
    """Draw the contribution of each part to Hits@1 and F1; ``first`` is the number of the first run."""
    plots = []
    for number, ablation in enumerate(ablations, start=1):
        parts = [variant for variant in ablation.variants if variant.part and variant.comparison.n]
        for metric, called in PLOTTED_METRICS.items() if parts else ():
            title = f"{ablation_title(ablation)}: {called}"
            svg = _draw_contributions(f"{name}-part{number}-{metric}", parts, metric, title, first)
            plots.append(Plot(title, _CONTRIBUTION_SENTENCE.format(called), svg))
    return plots


def _draw_contributions(name: str, parts: Sequence[Variant], metric: str, title: str, first: int) -> str:
    told = []
    with open_canvas(49 + 30 * len(parts), left=146, right=52) as opened:
        axes = opened.axes
        for place, part in enumerate(parts):
            found = part.comparison.differences[metric]
            value, low, high = (100 * (bound or 0.0) for bound in (found.value, found.low, found.high))
            axes.barh(place, value, 0.55, color=series_colour(part.runs[0].number - first), alpha=0.85)
            axes.errorbar(value, place, xerr=[[value - low], [high - value]], color=INK, elinewidth=1.3)
            write_beside(axes, place, format_points(value / 100), bold=is_significant(found))
            told.append(f"{part.name}: {describe_difference(found)}")
        axes.axvline(0, linewidth=0.8, color=INK)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_yticks(range(len(parts)), [one_line(part.name, _MAX_PART_NAME_CHARS) for part in parts])
        axes.set_ylim(len(parts) - 0.5, -0.5)
        axes.set_xlabel("percentage points")
    return opened.svg(name, f"{title}. {'; '.join(told)}.")
