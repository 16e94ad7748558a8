"""Points with intervals, axes of shares, and names beside them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kgqa.evaluation.report.plots.svg import SURFACE, series_colour
from kgqa.evaluation.report.shares import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = {"o": 6.5, "s": 6, "^": 7.5, "D": 5.8, "v": 7.5, "P": 8, "X": 8, "*": 10.5}
"""The shapes that tell runs apart beside their colours, and how large they look alike."""

_COLUMN = 38.0
"""Width of a number beside the axes, in points."""

_LINE = 14.0
"""Height of a line of text, in points."""


def mark(number: int) -> dict[str, Any]:
    """Give colour and shape of the run or line with this number, counted from 0."""
    marker, size = list(MARKERS.items())[number % len(MARKERS)]
    return {
        "color": series_colour(number),
        "marker": marker,
        "markersize": size,
        "markeredgecolor": SURFACE,
        "markeredgewidth": 0.6,
    }


def with_interval(axes: "Axes", x: float, y: Interval, number: int, *, across: bool = False) -> None:
    """Draw a share with its interval; ``across`` draws it along the x axis."""
    spread = [[max(0.0, y.value - y.low)], [max(0.0, y.high - y.value)]]
    style = {**mark(number), "linestyle": "none", "elinewidth": 1.3, "capsize": 0, "clip_on": False}
    if across:
        axes.errorbar([y.value], [x], xerr=spread, **style)
    else:
        axes.errorbar([x], [y.value], yerr=spread, **style)


def beside(axes: "Axes", y: float, text: str, *, column: int = 0, bold: bool = False) -> None:
    """Write a number to the right of the axes at a height, in one of the columns there."""
    axes.annotate(
        text,
        xy=(1, y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(_COLUMN * (column + 1), 0),
        textcoords="offset points",
        annotation_clip=False,
        horizontalalignment="right",
        verticalalignment="center",
        fontsize=10.5,
        fontweight="bold" if bold else "normal",
    )


def per_cent(axes: "Axes", *, across: bool = False) -> None:
    """Show an axis of shares in per cent."""
    from matplotlib.ticker import PercentFormatter

    (axes.xaxis if across else axes.yaxis).set_major_formatter(PercentFormatter(1.0, decimals=0))


def room(intervals: Sequence[Interval]) -> tuple[float, float]:
    """Give limits of an axis of shares that show all intervals with some air, within 0 and 1."""
    low = min(one.low for one in intervals)
    high = max(one.high for one in intervals)
    air = max(0.02, (high - low) * 0.08)
    return max(-0.01, low - air), min(1.01, high + air)


def labelled(axes: "Axes", points: Sequence[tuple[float, float]], names: Sequence[str]) -> None:
    """Write names at the right edge, apart from each other, each with a line to its point."""
    low, high = axes.get_ylim()
    height = axes.get_window_extent().height * 72 / axes.figure.dpi
    places = apart([y for _, y in points], (high - low) * _LINE / height, low, high)
    edge = axes.get_xlim()[1]
    for number, (point, place, name) in enumerate(zip(points, places, names, strict=True)):
        colour = series_colour(number)
        axes.annotate(
            name,
            xy=point,
            xytext=(edge, place),
            textcoords="data",
            annotation_clip=False,
            verticalalignment="center",
            color=colour,
            fontsize=11.5,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6},
        )


def apart(heights: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Move heights apart by at least ``step``, in their order, and into the limits as far as there is room.

    >>> apart([1.0, 1.0, 5.0], step=1.0, low=0.0, high=5.0)
    [1.0, 2.0, 5.0]
    >>> apart([5.0, 5.0], step=1.0, low=0.0, high=5.0)
    [4.0, 5.0]
    """
    order = sorted(range(len(heights)), key=lambda at: heights[at])
    placed = list(heights)
    for before, at in pairwise(order):
        placed[at] = max(placed[at], placed[before] + step)
    ceiling = high
    for at in reversed(order):
        placed[at] = min(placed[at], ceiling)
        ceiling = placed[at] - step
    return [max(low, place) for place in placed]
