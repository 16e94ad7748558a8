"""Accuracy by kind of question (CoG, Figure 4), and what each part of a method contributes (Figure 6)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from kgqa.evaluation.report import cells
from kgqa.evaluation.report.ablation import Ablation, ablation_title
from kgqa.evaluation.report.groups import ReportedRun, align_questions
from kgqa.evaluation.report.plots import drawing
from kgqa.evaluation.report.plots.drawing import Plot
from kgqa.evaluation.scoring.comparison import Comparison, compare_scored
from kgqa.evaluation.scoring.scores import group_questions
from kgqa.kg.terms import one_line

_BREAKDOWNS = {
    "hops": "hops of the gold path",
    "kind": "kind of question",
    "level": "level of generalisation",
    "answers": "number of gold answers",
    "intermediate": "entities between topics and answers",
}

_UNITS = {"hops": " hop", "answers": " answer"}

MAX_KINDS = 20
"""Kinds that are shown at most, the most frequent ones."""

_MAX_PART_NAME_CHARS = 33

_BAR_HEIGHT = 14

_BREAKDOWN_SENTENCE = "{} with its 95% interval, one bar for each run; n is the number of questions."

_DIFFERENCE_SENTENCE = (
    " Beside a bar: its value, and what it has more or less than run {}, in percentage points, in bold "
    "where the paired 95% interval of that does not hold 0."
)

_CONTRIBUTION_SENTENCE = (
    "{} of the full configuration less that of the runs that are named, in percentage points, with its "
    "paired 95% interval; the number is bold where that does not hold 0."
)

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
        breakdown = KindBreakdown(by, measured[: drawing.RUN_COLOURS])
        kinds = breakdown.kinds
        if len(kinds) < 2:
            continue
        compared = dict(breakdown.compare())
        differences = _DIFFERENCE_SENTENCE.format(measured[0].number) if compared else ""
        note = differences + drawing.truncation_note(len(measured), "runs")
        height = 49 + _row_height(breakdown) * len(kinds)
        for metric, called in cells.PLOTTED_METRICS.items():
            sentence = _BREAKDOWN_SENTENCE.format(called) + note
            about = (f"{name}-{by}-{metric}", f"{called} by {words}", sentence, height)
            with drawing.add_plot(plots, *about, right=90 if compared else 52) as (axes, shown):
                drawing.name_rows(axes, [breakdown.label(kind) for kind in kinds])
                for row, kind in enumerate(kinds):
                    shown += _draw_kind(axes, row, kind, breakdown, compared, metric)
                axes.set(xlim=(0, 1.02), xlabel=called)
                drawing.format_percent_axis(axes, across=True)
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
        axes.barh(y, value.value, 0.85 * thickness, color=drawing.run_colour(number), alpha=0.3)
        drawing.draw_interval(axes, y, value, number, across=True)
        drawing.write_beside(axes, y, f"{100 * value.value:.1f}")
        words = f"{kind}, run {run.number}: {value}"
        if found := compared.get((run.number, kind)):
            more = found.differences[metric]
            words += f", {cells.describe_difference(more)}"
            bold = cells.is_significant(more)
            drawing.write_beside(axes, y, cells.format_points(more.value or 0.0), column=1, bold=bold)
        yield words
    if row:
        axes.axhline(row - 0.5, linewidth=0.6, color=drawing.FAINT, alpha=0.6)


def contribution_plots(name: str, first: int, ablations: Sequence[Ablation]) -> list[Plot]:
    """Draw the contribution of each part to Hits@1 and F1; ``first`` is the number of the first run."""
    plots: list[Plot] = []
    for number, ablation in enumerate(ablations, start=1):
        parts = [variant for variant in ablation.variants if variant.comparison.n]
        for metric, called in cells.PLOTTED_METRICS.items() if parts else ():
            about = (f"{name}-part{number}-{metric}", f"{ablation_title(ablation)}: {called}")
            sentence, height = _CONTRIBUTION_SENTENCE.format(called), 49 + 30 * len(parts)
            with drawing.add_plot(plots, *about, sentence, height, left=226) as (axes, shown):
                drawing.name_rows(axes, [one_line(part.name, _MAX_PART_NAME_CHARS) for part in parts])
                for row, part in enumerate(parts):
                    found = part.comparison.differences[metric]
                    colour = drawing.run_colour(part.runs[0].number - first)
                    value, low, high = (
                        100 * (bound or 0.0) for bound in (found.value, found.low, found.high)
                    )
                    axes.barh(row, value, 0.55, color=colour, alpha=0.85)
                    axes.plot([low, high], [row, row], color=drawing.INK, linewidth=1.3)
                    bold = cells.is_significant(found)
                    drawing.write_beside(axes, row, cells.format_points(value / 100), bold=bold)
                    shown.append(f"{part.name}: {cells.describe_difference(found)}")
                axes.axvline(0, linewidth=0.8, color=drawing.INK)
                axes.set_xlabel("percentage points")
    return plots
