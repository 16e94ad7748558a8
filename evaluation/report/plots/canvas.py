"""An empty plot: its size, its greys, its type."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgqa.evaluation.report.plots.svg import FAINT, INK, SERIES, page_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 430
"""Width of a plot, in the units of its view box; text is 12 of them high."""

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kgqa",
    "text.parse_math": False,
    "font.size": 12,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 12,
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
    "xtick.labelsize": 11.5,
    "ytick.labelsize": 11.5,
    "lines.linewidth": 1.6,
}


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot of the page: its title, a sentence on what it shows, and the picture."""

    title: str
    sentence: str
    svg: str


class Canvas:
    """An empty pair of axes; ``svg`` gives what was drawn on it."""

    def __init__(self, axes: "Axes") -> None:
        self.axes = axes
        self.drawn = ""

    def svg(self, name: str, alt: str) -> str:
        """Give the picture, once the ``with`` is left; see `page_svg`."""
        return page_svg(self.drawn, name, alt)


@contextmanager
def canvas(height: float = 290, *, left: float = 62, right: float = 14, top: float = 8) -> Iterator[Canvas]:
    """Open a canvas; sizes and margins are in the units of the view box."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user's own matplotlibrc says
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(WIDTH / 72, height / 72))
        figure.patch.set_visible(False)
        box = (left / WIDTH, 41 / height, (WIDTH - left - right) / WIDTH, (height - 41 - top) / height)
        opened = Canvas(figure.add_axes(box))
        opened.axes.patch.set_visible(False)
        yield opened
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
        opened.drawn = written.getvalue()


def first_of(count: int, what: str) -> str:
    """Say that a plot shows only as many runs or lines as there are colours; nothing if it shows all."""
    return f" The first {SERIES} of {count} {what} are shown." if count > SERIES else ""
