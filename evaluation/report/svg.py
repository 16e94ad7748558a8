"""Inline SVGs for the report's page: axes to draw on, in the page's colours, and marks that all plots share.

Text stays text, colours are those of the page's style, ids are the plot's own, and neither
style elements nor style attributes are left, which the page's content security policy forbids.
"""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from xml.etree import ElementTree

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from kgqa.evaluation.report.cells import Interval

PLOT_WIDTH = 430  # width of a plot, in the units of its view box; text is 12 of them high
RUN_COLOURS = 8  # colours that the page has for runs

_COLOURS = ("ink", "line", "card", "soft", "right", "partly", "wrong", "failed")
_PAGE_COLOURS = (*_COLOURS, *(f"s{number}" for number in range(RUN_COLOURS)))

_PLACEHOLDER = re.compile(r"#a1b2([0-9a-f]{2})")
_LONG_DECIMAL = re.compile(r"-?\d+\.\d{3,}")
_NAMESPACE = re.compile(r"\{.*\}")
_DROPPED_STYLES = frozenset({"font-family", "stroke-linejoin", "stroke-miterlimit"})

MARKERS = {"o": 6.5, "s": 6, "^": 7.5, "D": 5.8, "v": 7.5, "P": 8, "X": 8, "*": 10.5}
"""The shapes that tell runs apart beside their colours, and how large they look alike."""

_COLUMN_POINTS = 38.0


def page_colour(name: str) -> str:
    """Return the colour that stands for one of the page's until the page's style says what it is."""
    return f"#a1b2{_PAGE_COLOURS.index(name):02x}"


def run_colour(number: int) -> str:
    """Return the colour of the run or line with this number, counted from 0."""
    return page_colour(f"s{number % RUN_COLOURS}")


INK, FAINT, SURFACE = map(page_colour, ("ink", "line", "card"))

_MATPLOTLIB_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kgqa",
    "text.parse_math": False,
    "font.size": 12,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "grid.alpha": 0.6,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.6,
}


class Plot(NamedTuple):
    """A plot of the page: its title, a sentence on what it shows, and the picture."""

    title: str
    sentence: str
    svg: str


@contextmanager
def add_plot(
    plots: list[Plot],
    name: str,
    title: str,
    sentence: str,
    height: float,
    *,
    alt: str = "",
    left: float = 140,
    right: float = 52,
    top: float = 8,
) -> Iterator[tuple[Axes, list[str]]]:
    """Open axes, and add what was drawn on them to the plots once the ``with`` is left.

    Beside the axes stands a list of what the plot shows, in words. Sizes and margins are in
    the units of the view box; the ids in the picture begin with ``name``.
    """
    shown: list[str] = []
    written = io.StringIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user's own matplotlibrc says
        matplotlib.rcParams.update(_MATPLOTLIB_STYLE)
        figure = Figure(figsize=(PLOT_WIDTH / 72, height / 72))
        figure.patch.set_visible(False)
        inner = (PLOT_WIDTH - left - right) / PLOT_WIDTH, (height - 41 - top) / height
        axes = figure.add_axes((left / PLOT_WIDTH, 41 / height, *inner))
        axes.patch.set_visible(False)
        yield axes, shown
        figure.savefig(written, format="svg", metadata={"Date": None})
    words = f"{alt or title}. {'; '.join(shown)}."
    plots.append(Plot(title, sentence, _embed_svg(written.getvalue(), name, words)))


def _embed_svg(drawn: str, name: str, alt: str) -> str:
    """Turn a file of matplotlib into an element of a page."""
    root = ElementTree.fromstring(drawn)  # noqa: S314 (matplotlib has just written it)
    for parent in list(root.iter()):
        for child in list(parent):
            if _NAMESPACE.sub("", child.tag) in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _NAMESPACE.sub("", element.tag)
        attributes = dict(_page_attributes(element, name))
        element.attrib.clear()
        element.attrib.update(attributes)
    root.attrib.update({"role": "img", "aria-label": alt, "class": "plot"})
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    return re.sub(r"\n\s*", "\n", ElementTree.tostring(root, encoding="unicode"))


def _page_attributes(element: ElementTree.Element, name: str) -> Iterator[tuple[str, str]]:
    """Turn the style of an element into attributes, and keep the ids that something may refer to."""
    for declared in element.attrib.pop("style", "").split("; "):
        key, colon, value = declared.partition(": ")
        if colon and key not in _DROPPED_STYLES:
            colour = _PLACEHOLDER.fullmatch(value)
            yield key, f"var(--{_PAGE_COLOURS[int(colour[1], 16)]})" if colour else value.removesuffix("px")
    for key, value in element.attrib.items():
        match _NAMESPACE.sub("", key):
            case "href" | "clip-path" as reference:
                yield reference, value.replace("#", f"#{name}-")
            case "id":
                if element.tag in ("path", "clipPath"):
                    yield "id", f"{name}-{value}"
            case plain:
                yield plain, _LONG_DECIMAL.sub(lambda found: f"{float(found[0]):.2f}", value)


def truncation_note(count: int, what: str) -> str:
    """Say that a plot shows only as many runs or lines as there are colours; nothing if it shows all."""
    return f" The first {RUN_COLOURS} of {count} {what} are shown." if count > RUN_COLOURS else ""


def marker_style(number: int) -> dict[str, Any]:
    """Return colour and shape of the run or line with this number, counted from 0."""
    marker, size = list(MARKERS.items())[number % len(MARKERS)]
    edge = {"markeredgecolor": SURFACE, "markeredgewidth": 0.6}
    return {"color": run_colour(number), "marker": marker, "markersize": size, "clip_on": False, **edge}


def draw_interval(axes: Axes, x: float, y: Interval, number: int, *, across: bool = False) -> None:
    """Draw a share with its interval in colour and shape of a run; ``across`` draws it along the x axis."""
    interval, point = ([x, x], [y.low, y.high]), ([x], [y.value])
    if across:
        interval, point = interval[::-1], point[::-1]
    axes.plot(*interval, color=run_colour(number), linewidth=1.3, clip_on=False)
    axes.plot(*point, **marker_style(number))


def write_beside(axes: Axes, y: float, text: str, *, column: int = 0, bold: bool = False) -> None:
    """Write a number to the right of the axes at a height, in one of the columns there."""
    x = 1 + _COLUMN_POINTS * (column + 1) / (PLOT_WIDTH * axes.get_position().width)
    weight = "bold" if bold else "normal"
    place = axes.get_yaxis_transform()
    axes.text(x, y, text, transform=place, ha="right", va="center", fontsize=10.5, fontweight=weight)


def name_rows(axes: Axes, names: Sequence[str], *, at: float = 0) -> None:
    """Name the rows of a plot beside it, the first one on top; a name stands ``at`` so much below its row."""
    axes.set_yticks([row + at for row in range(len(names))], names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def format_percent_axis(axes: Axes, *, across: bool = False) -> None:
    """Write per cent at the axis of shares, the y axis unless ``across``; no tick is rounded."""
    (axes.xaxis if across else axes.yaxis).set_major_formatter(FuncFormatter(_tick_percent))


def _tick_percent(share: float, place: int | None = None) -> str:
    """Write a tick of an axis of shares.

    >>> _tick_percent(0.975), _tick_percent(0.3), _tick_percent(1.0)
    ('97.5%', '30%', '100%')
    """
    return f"{round(100 * share, 6):g}%"


def share_limits(intervals: Sequence[Interval]) -> tuple[float, float]:
    """Return limits of an axis of shares that show all intervals with some air, within 0 and 1."""
    low = min(one.low for one in intervals)
    high = max(one.high for one in intervals)
    air = max(0.02, (high - low) * 0.08)
    return max(-0.01, low - air), min(1.01, high + air)
