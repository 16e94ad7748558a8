"""Bars: how refinement ends, who asks for revisions, where tokens go, how calls and relations spread."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from kgqa.evaluation.paper_analysis.lookahead import count_relations
from kgqa.evaluation.paper_analysis.trace import STAGE_NODES
from kgqa.evaluation.report import cells
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots import drawing
from kgqa.evaluation.report.plots.drawing import Plot
from kgqa.evaluation.report.tables import PLAN_TITLES, SIGNAL_TITLES
from kgqa.evaluation.result import Result
from kgqa.kg.terms import one_line

_MAX_NAME_CHARS = 19

_MIN_LABELLED_SHARE = 0.09
"""The least share whose number has room in its part of a bar."""

MAX_BARS = 60
"""Bars of a distribution at most; more numbers than that share a bar."""

_TALLEST_BAR_SHARE = 0.72
"""Height of the tallest bar, as a share of a row."""

_ANSWERED_OUTCOMES = ("grounded", "grounded_inference", "grounded_unverified", "parametric")

_FAINT = drawing.page_colour("line")


class StackedBars(NamedTuple):
    """A plot of bars of parts; ``colours`` are those of the parts, in their order."""

    name: str
    title: str
    sentence: str
    axis: str
    colours: Mapping[str, str]
    count_parts: Callable[[Mapping[str, Any]], Mapping[str, int]]
    """Counts all parts of a run, by its metrics."""


def _count_fates(metrics: Mapping[str, Any]) -> dict[str, int]:
    """Count the questions with a triggered refinement by how they ended."""
    parts = dict.fromkeys(_FATE_COLOURS, 0)
    for outcome, fates in (cells.look_up(metrics, "refinement", "outcomes") or {}).items():
        wrong = "wrong" if outcome in _ANSWERED_OUTCOMES else "failed"
        parts["right, from the graph" if outcome == "grounded" else "right, otherwise"] += (
            fates.get("right") or 0
        )
        parts["no answer" if outcome == "none" else wrong] += fates.get("wrong") or 0
        parts["not scored"] += fates.get("unscored") or 0
    return parts


def _count_signals(metrics: Mapping[str, Any]) -> dict[str, int]:
    verified = cells.look_up(metrics, "revision", "verified") or 0
    shares = {key: cells.look_up(metrics, "revision", "sources", key, "value") for key in SIGNAL_TITLES}
    return {title: round((shares[key] or 0) * verified) for key, title in SIGNAL_TITLES.items()}


def _count_right_plans(metrics: Mapping[str, Any]) -> dict[str, int]:
    plans = {title: cells.look_up(metrics, "revision", "plans", key) for key, title in PLAN_TITLES.items()}
    hits = {title: cells.look_up(plan, "hits_at_1", "value") or 0 for title, plan in plans.items()}
    return {title: round(hits[title] * (cells.look_up(plan, "n") or 0)) for title, plan in plans.items()}


def _count_tokens(metrics: Mapping[str, Any]) -> dict[str, int]:
    means = {stage: cells.look_up(metrics, "revision", "tokens", stage, "mean") for stage in STAGE_NODES}
    return {stage: round(mean or 0) for stage, mean in means.items()}


def _colours(titles: Sequence[str]) -> dict[str, str]:
    return {title: drawing.run_colour(number) for number, title in enumerate(titles)}


_FATE_COLOURS = {
    "right, from the graph": drawing.page_colour("right"),
    "right, otherwise": drawing.page_colour("partly"),
    "wrong": drawing.page_colour("wrong"),
    "no answer": drawing.page_colour("soft"),
    "failed": drawing.page_colour("failed"),
    "not scored": _FAINT,
}
"""The parts of a bar, in their order, and the colours that the page has for them."""

REFINEMENT_ENDS = StackedBars(
    "refined",
    "How refinement ends",
    "Each row is a run: the questions in which refinement was triggered, by how they ended, in per cent; "
    "the number beside it is how many they are. Right: the first answer is.",
    "triggered questions",
    _FATE_COLOURS,
    _count_fates,
)

REVISION_SIGNALS = StackedBars(
    "signals",
    "Who asks for a revision",
    "Each row is a run: its verified questions, in per cent, by who gave a signal to revise at any "
    "step, heeded or not; the number beside it is how many they are.",
    "verified questions",
    {"no signal": _FAINT, **_colours(list(SIGNAL_TITLES.values())[1:])},
    _count_signals,
)

RIGHT_PLANS = StackedBars(
    "arms",
    "Whose plans are right",
    "Each row is a run: its right answers, in per cent, by what the plan in force at the end is from; the "
    "number beside it is how many they are.",
    "right answers",
    {"first plan": _FAINT, **_colours(list(PLAN_TITLES.values())[1:])},
    _count_right_plans,
)

TOKENS_BY_STAGE = StackedBars(
    "stages",
    "Tokens by stage",
    "Each row is a run: the tokens of its questions with a plan, input and output, in per cent by what they "
    "were spent on; the number beside it is their mean for a question.",
    "tokens",
    {**_colours(list(STAGE_NODES)), "other": _FAINT},
    _count_tokens,
)


class Spread(NamedTuple):
    """A plot of how often each number comes up in a run."""

    name: str
    title: str
    sentence: str
    axis: str
    numbers_of: Callable[[Sequence[Result]], Sequence[int]]
    """Returns the numbers of a run, by its results."""


def _llm_calls(results: Sequence[Result]) -> list[int]:
    return [int(calls) for result in results if (calls := result.usage.get("llm_calls")) is not None]


CALL_SPREAD = Spread(
    "spread",
    "LLM calls per question",
    "Each row is a run: the height of a bar is the share of its questions that took so many calls, "
    "the line is the median. Replies from the cache are no calls.",
    "LLM calls of a question",
    _llm_calls,
)

PRUNING_SPREAD = Spread(
    "pruning",
    "Relations after pruning",
    "Each row is a run: the height of a bar is the share of its prunings that so many relations survived, "
    "those that solved questions added among them; the line is the median (EGP, Figure 6). A pruning is one "
    "entry of a trace: of a method with a frontier a round, all its chains or entities together.",
    "relations kept by a pruning",
    lambda results: [kept for _, kept in count_relations(results)],
)


def stacked_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw how the refinements of each run ended, its signals, its right plans and its tokens.

    A plot for which no run has anything is left out.
    """
    plots: list[Plot] = []
    for bars in (REFINEMENT_ENDS, REVISION_SIGNALS, RIGHT_PLANS, TOKENS_BY_STAGE):
        counted = [(run, bars.count_parts(run.metrics or {})) for run in runs]
        rows = [(run, parts) for run, parts in counted if any(parts.values())]
        if not rows:
            continue
        about = (f"{name}-{bars.name}", bars.title, bars.sentence, 99 + 30 * len(rows))
        with drawing.add_plot(plots, *about, top=50) as (axes, shown):
            _name_runs(axes, [run for run, _ in rows])
            for row, (run, parts) in enumerate(rows):
                _stack_parts(axes, row, parts, bars.colours)
                counts = ", ".join(f"{count} {part}" for part, count in parts.items() if count)
                shown.append(f"run {run.number}, {run.name.full}: {counts}")
            axes.set(xlim=(0, 1), xlabel=bars.axis)
            drawing.format_percent_axis(axes, across=True)
            used = [part for part in bars.colours if any(parts[part] for _, parts in rows)]
            patches = [Patch(color=bars.colours[part]) for part in used]
            place = {"bbox_to_anchor": (0, 1), "bbox_transform": axes.figure.transFigure}
            style = {"ncols": 3, "frameon": False, "handlelength": 1, "columnspacing": 1.4, "fontsize": 11}
            axes.legend(patches, used, loc="upper left", **place, **style)
    return plots


def _stack_parts(axes: Axes, row: int, parts: Mapping[str, int], colours: Mapping[str, str]) -> None:
    left, whole = 0.0, sum(parts.values())
    for part, count in parts.items():
        share, colour = count / whole, colours[part]
        bar = axes.barh(row, share, 0.62, left, color=colour, edgecolor=drawing.SURFACE)
        if share >= _MIN_LABELLED_SHARE:
            ink = drawing.INK if colour == _FAINT else drawing.SURFACE
            axes.bar_label(bar, [f"{100 * share:.0f}"], label_type="center", color=ink, fontsize=11)
        left += share
    drawing.write_beside(axes, row, f"{whole:,}")


def _name_runs(axes: Axes, runs: Sequence[ReportedRun], *, at: float = 0) -> None:
    names = [one_line(f"{run.number} {run.name.short}", _MAX_NAME_CHARS) for run in runs]
    drawing.name_rows(axes, names, at=at)
    axes.spines["left"].set_visible(False)


def spread_plots(name: str, runs: Sequence[ReportedRun]) -> list[Plot]:
    """Draw how the questions of each run spread over LLM calls, and its prunings over relations kept.

    A plot for which all numbers of all runs are 0 is left out.
    """
    plots: list[Plot] = []
    for spread in (CALL_SPREAD, PRUNING_SPREAD):
        counted = [(run, numbers) for run in runs if (numbers := spread.numbers_of([*run.results.values()]))]
        most = max((max(numbers) for _, numbers in counted), default=0)
        if not most:
            continue
        width = 1 + most // MAX_BARS
        shared = f" A bar stands for {width} numbers." if width > 1 else ""
        bars = [Counter(number // width for number in numbers) for _, numbers in counted]
        scale = _TALLEST_BAR_SHARE / max(max(counts.values()) / counts.total() for counts in bars)
        about = (f"{name}-{spread.name}", spread.title, spread.sentence + shared, 51 + 38 * len(counted))
        with drawing.add_plot(plots, *about) as (axes, shown):
            _name_runs(axes, [run for run, _ in counted], at=-0.25)
            for row, (counts, (run, numbers)) in enumerate(zip(bars, counted, strict=True)):
                colour, middle = drawing.run_colour(row), median(numbers)
                places = [place * width + (width - 1) / 2 for place in counts]
                heights = [-scale * count / counts.total() for count in counts.values()]
                axes.bar(places, heights, 0.86 * width, row, color=colour, alpha=0.85)
                axes.axhline(row, linewidth=0.6, color=colour)
                axes.plot([middle] * 2, [row + 0.1, row - 0.8], color=drawing.INK, linewidth=1.4)
                shown.append(f"run {run.number}, {run.name.full}: median {middle:g}, at most {max(numbers)}")
            axes.set_ylim(len(counted) - 0.85, -0.95)
            axes.set_xlim(left=-0.6 * width)
            axes.set_xlabel(spread.axis)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return plots
