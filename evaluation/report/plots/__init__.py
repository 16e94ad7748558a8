"""The plots of the report: each an inline SVG with a title, a sentence and a text for who cannot see it."""

from collections.abc import Sequence

from kgqa.evaluation.report.ablation import Ablation
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots.accuracy import cost_plots, error_plots
from kgqa.evaluation.report.plots.breakdowns import breakdown_plots, contribution_plots
from kgqa.evaluation.report.plots.calls import call_plots
from kgqa.evaluation.report.plots.canvas import Plot
from kgqa.evaluation.report.plots.stacked_bars import refinement_plots, revision_plots


def draw_plots(name: str, entries: Sequence[ReportedRun], ablations: Sequence[Ablation] = ()) -> list[Plot]:
    """Draw what there is to draw of the runs on one dataset; ``name`` begins the ids in the pictures."""
    return [
        *contribution_plots(name, entries[0].number, ablations),
        *cost_plots(name, entries),
        *error_plots(name, entries),
        *breakdown_plots(name, entries),
        *refinement_plots(name, entries),
        *revision_plots(name, entries),
        *call_plots(name, entries),
    ]
