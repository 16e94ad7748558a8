"""The plots of the report: each an inline SVG with a title, a sentence and a text for who cannot see it."""

from collections.abc import Sequence

from kgqa.evaluation.report.ablation import Ablation
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots.accuracy import cost_plots, error_plots
from kgqa.evaluation.report.plots.bars import spread_plots, stacked_plots
from kgqa.evaluation.report.plots.breakdowns import breakdown_plots, contribution_plots
from kgqa.evaluation.report.plots.drawing import Plot
from kgqa.evaluation.report.plots.reliability import reliability_plots


def draw_plots(name: str, runs: Sequence[ReportedRun], ablations: Sequence[Ablation] = ()) -> list[Plot]:
    """Draw what there is to draw of the runs on one dataset; ``name`` begins the ids in the pictures."""
    return [
        *contribution_plots(name, runs[0].number, ablations),
        *cost_plots(name, runs),
        *error_plots(name, runs),
        *reliability_plots(name, runs),
        *breakdown_plots(name, runs),
        *stacked_plots(name, runs),
        *spread_plots(name, runs),
    ]
