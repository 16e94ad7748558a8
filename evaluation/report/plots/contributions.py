"""What each part of a method contributes (CoG, Figure 6)."""

from collections.abc import Sequence

from kgqa.evaluation.report.ablation import Ablation, Variant
from kgqa.evaluation.report.cells import in_points, signed, sure
from kgqa.evaluation.report.contributions import title_of
from kgqa.evaluation.report.plots.canvas import Plot, canvas
from kgqa.evaluation.report.plots.points import beside
from kgqa.evaluation.report.plots.svg import INK, series_colour
from kgqa.evaluation.report.shares import PLOTTED
from kgqa.kg.terms import one_line

_NAME = 21
"""Characters of a name beside its bar at most."""

_SENTENCE = (
    "{} of the full configuration less that of the runs without the part, in percentage points, with its "
    "paired 95% interval; the number is bold where that does not hold 0."
)


def contribution_plots(name: str, first: int, ablations: Sequence[Ablation]) -> list[Plot]:
    """Draw the contribution of each part to Hits@1 and F1; ``first`` is the number of the first run."""
    plots = []
    for number, ablation in enumerate(ablations, start=1):
        parts = [variant for variant in ablation.variants if variant.part and variant.comparison.n]
        for metric, called in PLOTTED.items() if parts else ():
            title = f"{title_of(ablation)}: {called}"
            svg = _draw(f"{name}-part{number}-{metric}", parts, metric, title, first)
            plots.append(Plot(title, _SENTENCE.format(called), svg))
    return plots


def _draw(name: str, parts: Sequence[Variant], metric: str, title: str, first: int) -> str:
    told = []
    with canvas(49 + 30 * len(parts), left=146, right=52) as opened:
        axes = opened.axes
        for place, part in enumerate(parts):
            found = part.comparison.differences[metric]
            value, low, high = (100 * (bound or 0.0) for bound in (found.value, found.low, found.high))
            axes.barh(place, value, 0.55, color=series_colour(part.runs[0].number - first), alpha=0.85)
            axes.errorbar(value, place, xerr=[[value - low], [high - value]], color=INK, elinewidth=1.3)
            beside(axes, place, signed(value / 100), bold=sure(found))
            told.append(f"{part.name}: {in_points(found)}")
        axes.axvline(0, linewidth=0.8, color=INK)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_yticks(range(len(parts)), [one_line(part.name, _NAME) for part in parts])
        axes.set_ylim(len(parts) - 0.5, -0.5)
        axes.set_xlabel("percentage points")
    return opened.svg(name, f"{title}. {'; '.join(told)}.")
