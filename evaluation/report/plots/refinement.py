"""How the questions ended in which refinement was triggered (CoG, Figure 5)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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

_TITLE = "How refinement ends"

_SENTENCE = (
    "Each row is a run: the questions in which refinement was triggered, by how they ended, in per cent; "
    "the number beside it is how many they are. Right: the first answer is."
)

_FATES = {
    "right, from the graph": "right",
    "right, otherwise": "partly",
    "wrong": "wrong",
    "no answer": "soft",
    "failed": "failed",
    "not scored": UNSCORED,
}
"""The parts of a bar, in their order, and the colours that the page has for them."""

_ANSWERED = ("grounded", "grounded_inference", "parametric")


def refinement_plots(name: str, entries: Sequence[Entry]) -> list[Plot]:
    """Draw for each run how its triggered questions ended; nothing where there are none."""
    ended = [(entry, parts) for entry in entries if (parts := _parts(entry))]
    if not ended:
        return []
    told = "; ".join(
        f"run {entry.number}, {entry.name.full}: "
        + ", ".join(f"{count} {part}" for part, count in parts.items() if count)
        for entry, parts in ended
    )
    return [Plot(_TITLE, _SENTENCE, _draw(f"{name}-refined", ended, f"{_TITLE}. {told}."))]


def _parts(entry: Entry) -> dict[str, int]:
    """Count the triggered questions of a run by how they ended; nothing where there are none."""
    refinement = (entry.metrics or {}).get("refinement") or {}
    parts = dict.fromkeys(_FATES, 0)
    for outcome, fates in (refinement.get("outcomes") or {}).items():
        parts["right, from the graph" if outcome == "grounded" else "right, otherwise"] += _of(fates, "right")
        parts[_wrong(outcome)] += _of(fates, "wrong")
        parts["not scored"] += _of(fates, "unscored")
    return parts if any(parts.values()) else {}


def _wrong(outcome: str) -> str:
    if outcome == "none":
        return "no answer"
    return "wrong" if outcome in _ANSWERED else "failed"


def _of(fates: Mapping[str, Any], fate: str) -> int:
    return int(fates.get(fate) or 0)


def _draw(name: str, ended: Sequence[tuple[Entry, Mapping[str, int]]], alt: str) -> str:
    shown = [part for part in _FATES if any(parts[part] for _, parts in ended)]
    with canvas(99 + 30 * len(ended), left=136, right=52, top=50) as opened:
        axes = opened.axes
        for row, (_, parts) in enumerate(ended):
            _stack(axes, row, parts)
            beside(axes, row, f"{sum(parts.values()):,}")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        names = [one_line(f"{entry.number} {entry.name.short}", _NAME) for entry, _ in ended]
        axes.set_yticks(range(len(ended)), names)
        axes.set_ylim(len(ended) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xlabel("triggered questions")
        per_cent(axes, across=True)
        _legend(axes, shown)
    return opened.svg(name, alt)


def _stack(axes: "Axes", row: int, parts: Mapping[str, int]) -> None:
    """Draw a bar of parts that are told apart by colour, a gap, and their order."""
    left, whole = 0.0, sum(parts.values())
    for part, count in parts.items():
        share, fate = count / whole, _FATES[part]
        axes.barh(row, share, 0.62, left, color=fate_colour(fate), edgecolor=SURFACE, linewidth=1)
        if share >= _ROOM:
            ink = INK if fate == UNSCORED else SURFACE
            axes.text(
                left + share / 2, row, f"{100 * share:.0f}", color=ink, ha="center", va="center", fontsize=11
            )
        left += share


def _legend(axes: "Axes", shown: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    axes.legend(
        [Patch(color=fate_colour(_FATES[part])) for part in shown],
        shown,
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
