"""Bars of parts: how refinement ends (CoG, Figure 5), who asks for revisions, where tokens go (VoG, Figures 5 to 7)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kgqa.evaluation.paper_analysis.trace import STAGE_NODES
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots.canvas import (
    INK,
    SURFACE,
    UNSCORED,
    Plot,
    fate_colour,
    format_percent_axis,
    open_canvas,
    series_colour,
    write_beside,
)
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_NAME_CHARS = 19
"""Characters of a name beside its bar at most."""

_MIN_LABELLED_SHARE = 0.09
"""The least share whose number has room in its part of a bar."""

StackedRow = tuple[ReportedRun, Mapping[str, int]]
"""A run, and how much of each part it has: all parts of the plot, not all of them 0."""


class StackedBars(NamedTuple):
    """What a plot of bars is about; ``colours`` are those of the parts, in their order."""

    title: str
    sentence: str
    axis: str
    colours: Mapping[str, str]


def stacked_bar_plot(name: str, about: StackedBars, rows: Sequence[StackedRow]) -> list[Plot]:
    """Draw a bar of parts for each run, its total beside it; nothing where there are no rows."""
    if not rows:
        return []
    told = "; ".join(
        f"run {entry.number}, {entry.name.full}: "
        + ", ".join(f"{count} {part}" for part, count in parts.items() if count)
        for entry, parts in rows
    )
    return [Plot(about.title, about.sentence, _draw_stacks(name, about, rows, f"{about.title}. {told}."))]


def _draw_stacks(name: str, about: StackedBars, rows: Sequence[StackedRow], alt: str) -> str:
    shown = {part: c for part, c in about.colours.items() if any(parts[part] for _, parts in rows)}
    with open_canvas(99 + 30 * len(rows), left=136, right=52, top=50) as opened:
        axes = opened.axes
        for row, (_, parts) in enumerate(rows):
            _draw_stack(axes, row, parts, about.colours)
            write_beside(axes, row, f"{sum(parts.values()):,}")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        names = [one_line(f"{entry.number} {entry.name.short}", _MAX_NAME_CHARS) for entry, _ in rows]
        axes.set_yticks(range(len(rows)), names)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xlabel(about.axis)
        format_percent_axis(axes, across=True)
        _draw_legend(axes, shown)
    return opened.svg(name, alt)


def _draw_stack(axes: "Axes", row: int, parts: Mapping[str, int], colours: Mapping[str, str]) -> None:
    """Draw a bar of parts that are told apart by colour, a gap, and their order."""
    left, whole = 0.0, sum(parts.values())
    for part, count in parts.items():
        share, colour = count / whole, colours[part]
        axes.barh(row, share, 0.62, left, color=colour, edgecolor=SURFACE, linewidth=1)
        if share >= _MIN_LABELLED_SHARE:
            ink = INK if colour == fate_colour(UNSCORED) else SURFACE
            axes.text(
                left + share / 2, row, f"{100 * share:.0f}", color=ink, ha="center", va="center", fontsize=11
            )
        left += share


def _draw_legend(axes: "Axes", shown: Mapping[str, str]) -> None:
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


_FATE_COLOURS = {
    "right, from the graph": "right",
    "right, otherwise": "partly",
    "wrong": "wrong",
    "no answer": "soft",
    "failed": "failed",
    "not scored": UNSCORED,
}
"""The parts of a bar, in their order, and the colours that the page has for them."""

_REFINEMENT_ENDS = StackedBars(
    "How refinement ends",
    "Each row is a run: the questions in which refinement was triggered, by how they ended, in per cent; "
    "the number beside it is how many they are. Right: the first answer is.",
    "triggered questions",
    {part: fate_colour(fate) for part, fate in _FATE_COLOURS.items()},
)

_ANSWERED_OUTCOMES = ("grounded", "grounded_inference", "parametric")


def refinement_plots(name: str, entries: Sequence[ReportedRun]) -> list[Plot]:
    """Draw for each run how its triggered questions ended; nothing where there are none."""
    ended = [(entry, parts) for entry in entries if (parts := _count_fates(entry))]
    return stacked_bar_plot(f"{name}-refined", _REFINEMENT_ENDS, ended)


def _count_fates(entry: ReportedRun) -> dict[str, int]:
    """Count the triggered questions of a run by how they ended; nothing where there are none."""
    refinement = (entry.metrics or {}).get("refinement") or {}
    parts = dict.fromkeys(_FATE_COLOURS, 0)
    for outcome, fates in (refinement.get("outcomes") or {}).items():
        parts["right, from the graph" if outcome == "grounded" else "right, otherwise"] += _fate_count(
            fates, "right"
        )
        parts[_wrong_fate(outcome)] += _fate_count(fates, "wrong")
        parts["not scored"] += _fate_count(fates, "unscored")
    return parts if any(parts.values()) else {}


def _wrong_fate(outcome: str) -> str:
    if outcome == "none":
        return "no answer"
    return "wrong" if outcome in _ANSWERED_OUTCOMES else "failed"


def _fate_count(fates: Mapping[str, Any], fate: str) -> int:
    return int(fates.get(fate) or 0)


SIGNAL_TITLES = {"none": "no signal", "model": "model only", "nli": "NLI only", "both": "both"}
"""Who gave a signal to revise, and how the page says it."""

PLAN_TITLES = {"first": "first plan", "local": "local", "lookahead": "lookahead", "global": "global"}
"""Where a plan is from, and how the page says it."""

_FAINT_COLOUR = fate_colour(UNSCORED)

_REVISION_SIGNALS = StackedBars(
    "Who asks for a revision",
    "Each row is a run: its verified questions, in per cent, by who gave a signal to revise at any "
    "step, heeded or not; the number beside it is how many they are.",
    "verified questions",
    {
        "no signal": _FAINT_COLOUR,
        **{SIGNAL_TITLES[one]: series_colour(at) for at, one in enumerate(list(SIGNAL_TITLES)[1:])},
    },
)

_TOKENS_BY_STAGE = StackedBars(
    "Tokens by stage",
    "Each row is a run: the tokens of its questions with a plan, input and output, in per cent by what they "
    "were spent on; the number beside it is their mean for a question.",
    "tokens",
    {**{stage: series_colour(at) for at, stage in enumerate(STAGE_NODES)}, "other": _FAINT_COLOUR},
)

_RIGHT_PLANS = StackedBars(
    "Whose plans are right",
    "Each row is a run: its right answers, in per cent, by what the plan in force at the end is from; the "
    "number beside it is how many they are.",
    "right answers",
    {
        "first plan": _FAINT_COLOUR,
        **{PLAN_TITLES[one]: series_colour(at) for at, one in enumerate(list(PLAN_TITLES)[1:])},
    },
)


def revision_plots(name: str, entries: Sequence[ReportedRun]) -> list[Plot]:
    """Draw for each run its signals, its right answers and its tokens; nothing where there are none."""
    told = [(entry, (entry.metrics or {}).get("revision") or {}) for entry in entries]
    return [
        *stacked_bar_plot(
            f"{name}-signals",
            _REVISION_SIGNALS,
            _nonzero_rows((entry, _count_signals(found)) for entry, found in told),
        ),
        *stacked_bar_plot(
            f"{name}-arms",
            _RIGHT_PLANS,
            _nonzero_rows((entry, _count_right_plans(found)) for entry, found in told),
        ),
        *stacked_bar_plot(
            f"{name}-stages",
            _TOKENS_BY_STAGE,
            _nonzero_rows((entry, _tokens_by_stage(found)) for entry, found in told),
        ),
    ]


def _nonzero_rows(rows: Any) -> list[StackedRow]:
    return [(entry, parts) for entry, parts in rows if any(parts.values())]


def _count_signals(found: Mapping[str, Any]) -> dict[str, int]:
    sources, verified = found.get("sources") or {}, found.get("verified") or 0
    return {label: _share_count(sources.get(key), verified) for key, label in SIGNAL_TITLES.items()}


def _count_right_plans(found: Mapping[str, Any]) -> dict[str, int]:
    plans = found.get("plans") or {}
    return {label: _right_answers(plans.get(key) or {}) for key, label in PLAN_TITLES.items()}


def _tokens_by_stage(found: Mapping[str, Any]) -> dict[str, int]:
    stages = found.get("tokens") or {}
    return {stage: round((stages.get(stage) or {}).get("mean") or 0) for stage in STAGE_NODES}


def _right_answers(plan: Mapping[str, Any]) -> int:
    return _share_count(plan.get("hits_at_1"), plan.get("n") or 0)


def _share_count(share: Any, number: int) -> int:
    """Return the number that a share stands for."""
    return round(((share or {}).get("value") or 0) * number)
