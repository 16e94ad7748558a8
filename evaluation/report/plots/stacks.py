"""Bars of parts: a row for each run, its parts in per cent of the whole."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.plots.canvas import Plot, canvas
from kgqa.evaluation.report.plots.points import beside, per_cent
from kgqa.evaluation.report.plots.svg import INK, SURFACE, UNSCORED, fate_colour
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 19
"""Characters of a name beside its bar at most."""

_ROOM = 0.09
"""The least share whose number has room in its part of a bar."""

Row = tuple[Entry, Mapping[str, int]]
"""A run, and how much of each part it has: all parts of the plot, not all of them 0."""


class Stacks(NamedTuple):
    """What a plot of bars is about; ``colours`` are those of the parts, in their order."""

    title: str
    sentence: str
    axis: str
    colours: Mapping[str, str]


def stacked(name: str, about: Stacks, rows: Sequence[Row]) -> list[Plot]:
    """Draw a bar of parts for each run, its total beside it; nothing where there are no rows."""
    if not rows:
        return []
    told = "; ".join(
        f"run {entry.number}, {entry.name.full}: "
        + ", ".join(f"{count} {part}" for part, count in parts.items() if count)
        for entry, parts in rows
    )
    return [Plot(about.title, about.sentence, _draw(name, about, rows, f"{about.title}. {told}."))]


def _draw(name: str, about: Stacks, rows: Sequence[Row], alt: str) -> str:
    shown = {part: c for part, c in about.colours.items() if any(parts[part] for _, parts in rows)}
    with canvas(99 + 30 * len(rows), left=136, right=52, top=50) as opened:
        axes = opened.axes
        for row, (_, parts) in enumerate(rows):
            _stack(axes, row, parts, about.colours)
            beside(axes, row, f"{sum(parts.values()):,}")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        names = [one_line(f"{entry.number} {entry.name.short}", _NAME) for entry, _ in rows]
        axes.set_yticks(range(len(rows)), names)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xlabel(about.axis)
        per_cent(axes, across=True)
        _legend(axes, shown)
    return opened.svg(name, alt)


def _stack(axes: "Axes", row: int, parts: Mapping[str, int], colours: Mapping[str, str]) -> None:
    """Draw a bar of parts that are told apart by colour, a gap, and their order."""
    left, whole = 0.0, sum(parts.values())
    for part, count in parts.items():
        share, colour = count / whole, colours[part]
        axes.barh(row, share, 0.62, left, color=colour, edgecolor=SURFACE, linewidth=1)
        if share >= _ROOM:
            ink = INK if colour == fate_colour(UNSCORED) else SURFACE
            axes.text(
                left + share / 2, row, f"{100 * share:.0f}", color=ink, ha="center", va="center", fontsize=11
            )
        left += share


def _legend(axes: "Axes", shown: Mapping[str, str]) -> None:
    from matplotlib.patches import Patch

    axes.legend(
        [Patch(color=colour) for colour in shown.values()],
        list(shown),
        loc="upper left",
        bbox_to_anchor=(0, 1),
        bbox_transform=axes.figure.transFigure,
        ncols=3,
        frameon=False,
        handlelength=1,
        handleheight=1,
        columnspacing=1.4,
        borderaxespad=0.2,
        fontsize=11,
    )
