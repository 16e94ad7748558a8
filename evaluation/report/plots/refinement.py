"""How the questions ended in which refinement was triggered (CoG, Figure 5)."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.plots.canvas import Plot
from kgqa.evaluation.report.plots.stacks import Stacks, stacked
from kgqa.evaluation.report.plots.svg import UNSCORED, fate_colour

_FATES = {
    "right, from the graph": "right",
    "right, otherwise": "partly",
    "wrong": "wrong",
    "no answer": "soft",
    "failed": "failed",
    "not scored": UNSCORED,
}
"""The parts of a bar, in their order, and the colours that the page has for them."""

_ENDS = Stacks(
    "How refinement ends",
    "Each row is a run: the questions in which refinement was triggered, by how they ended, in per cent; "
    "the number beside it is how many they are. Right: the first answer is.",
    "triggered questions",
    {part: fate_colour(fate) for part, fate in _FATES.items()},
)

_ANSWERED = ("grounded", "grounded_inference", "parametric")


def refinement_plots(name: str, entries: Sequence[Entry]) -> list[Plot]:
    """Draw for each run how its triggered questions ended; nothing where there are none."""
    ended = [(entry, parts) for entry in entries if (parts := _parts(entry))]
    return stacked(f"{name}-refined", _ENDS, ended)


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
