"""How many model calls a question takes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots.canvas import INK, Plot, open_canvas, series_colour
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_BARS = 60
"""Bars of a distribution at most; more calls than that share a bar."""

_MAX_NAME_CHARS = 19
"""Characters of a name beside its row at most."""

_TALLEST_BAR_SHARE = 0.72
"""Height of the tallest bar, as a share of a row."""


def call_plots(name: str, entries: Sequence[ReportedRun]) -> list[Plot]:
    """Draw for each run how its questions spread over numbers of LLM calls; nothing where there were none."""
    calls = [(entry, made) for entry in entries if (made := _llm_calls(entry))]
    most = max((max(made) for _, made in calls), default=0)
    if not most:
        return []
    width = 1 + most // MAX_BARS
    shared = f" A bar stands for {width} numbers of calls." if width > 1 else ""
    told = "; ".join(
        f"run {entry.number}, {entry.name.full}: median {median(made):g}, at most {max(made)}"
        for entry, made in calls
    )
    return [
        Plot(
            "LLM calls per question",
            "Each row is a run: the height of a bar is the share of its questions that took so many calls, "
            f"the line is the median.{shared} Replies from the cache are no calls.",
            _draw_ridges(f"{name}-spread", calls, width, f"LLM calls per question. {told}."),
        )
    ]


def _llm_calls(entry: ReportedRun) -> list[int]:
    known = (result.usage.get("llm_calls") for result in entry.results.values())
    return [int(calls) for calls in known if calls is not None]


def _draw_ridges(name: str, calls: Sequence[tuple[ReportedRun, list[int]]], width: int, alt: str) -> str:
    from matplotlib.ticker import MaxNLocator

    spread = [_bar_shares(made, width) for _, made in calls]
    scale = _TALLEST_BAR_SHARE / max(max(shares.values()) for shares in spread)
    with open_canvas(51 + 38 * len(calls), left=136) as opened:
        axes = opened.axes
        axes.grid(visible=False, axis="y")
        for row, (shares, (_, made)) in enumerate(zip(spread, calls, strict=True)):
            _draw_ridge(axes, row, shares, width, scale)
            axes.plot([median(made)] * 2, [row + 0.1, row - 0.8], color=INK, linewidth=1.4)
        axes.set_ylim(len(calls) - 0.85, -0.95)
        names = [one_line(f"{entry.number} {entry.name.short}", _MAX_NAME_CHARS) for entry, _ in calls]
        axes.set_yticks([row - 0.25 for row in range(len(calls))], names)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlim(left=-0.6 * width)
        axes.set_xlabel("LLM calls of a question")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return opened.svg(name, alt)


def _bar_shares(calls: Sequence[int], width: int) -> dict[int, float]:
    """Return the share of questions in each bar, by its place."""
    return {place: count / len(calls) for place, count in Counter(made // width for made in calls).items()}


def _draw_ridge(axes: "Axes", row: int, shares: Mapping[int, float], width: int, scale: float) -> None:
    """Draw one row: bars that stand on it, as high as their share."""
    axes.bar(
        [place * width + (width - 1) / 2 for place in shares],
        [-scale * share for share in shares.values()],
        bottom=row,
        width=0.86 * width,
        color=series_colour(row),
        alpha=0.85,
    )
    axes.axhline(row, linewidth=0.6, color=series_colour(row))
