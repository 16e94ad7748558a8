"""The share of right answers against their confidence."""

from collections.abc import Sequence

from kgqa.evaluation.report import cells
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots import drawing
from kgqa.evaluation.report.plots.drawing import Plot

_SENTENCE = (
    "Each point is the answers of about one confidence: the share whose first answer is right, with its 95% "
    "interval. On the line confidence tells the truth; below it answers are wrong more often than it says."
)


def reliability_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw right answers against confidence; nothing where no run has any."""
    found = [(run, bins) for run in runs if (bins := cells.look_up(run.metrics, "reliability", "bins"))]
    plots: list[Plot] = []
    if not found:
        return plots
    sentence = _SENTENCE + drawing.truncation_note(len(found), "runs")
    about = (f"{name}-reliability", "Right answers by confidence", sentence, 290)
    with drawing.add_plot(plots, *about, left=62, right=90) as (axes, shown):
        axes.plot([0, 1], [0, 1], color=drawing.FAINT, linewidth=0.8)
        for number, (run, bins) in enumerate(found[: drawing.RUN_COLOURS]):
            for each in bins:
                if right := cells.read_interval(each["right"]):
                    drawing.draw_interval(axes, each["confidence"], right, number)
                    told = f"run {run.number} at {each['confidence']:.0%}: {right} of {each['n']} right"
                    shown.append(told)
            axes.plot([], [], label=f"run {run.number}", **drawing.marker_style(number))
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel="confidence", ylabel="right")
        drawing.format_percent_axis(axes)
        drawing.format_percent_axis(axes, across=True)
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, handlelength=0.8, fontsize=11.5)
    return plots
