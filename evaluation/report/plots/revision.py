"""Who asks for revisions, and where the tokens of a search with a plan go (VoG, Figures 5 to 7)."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgqa.evaluation.planned import STAGES
from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.plots.canvas import Plot
from kgqa.evaluation.report.plots.stacks import Row, Stacks, stacked
from kgqa.evaluation.report.plots.svg import UNSCORED, fate_colour, series_colour

SIGNALS = {"none": "no signal", "model": "model only", "nli": "NLI only", "both": "both"}
"""Who gave a signal to revise, and how the page says it."""

ORIGINS = {"first": "first plan", "local": "local", "lookahead": "lookahead", "global": "global"}
"""Where a plan is from, and how the page says it."""

_FAINT = fate_colour(UNSCORED)

_SIGNALS = Stacks(
    "Who asks for a revision",
    "Each row is a run: its verified questions, in per cent, by who gave a signal to revise at any "
    "step, heeded or not; the number beside it is how many they are.",
    "verified questions",
    {"no signal": _FAINT, **{SIGNALS[one]: series_colour(at) for at, one in enumerate(list(SIGNALS)[1:])}},
)

_TOKENS = Stacks(
    "Tokens by stage",
    "Each row is a run: the tokens of its questions with a plan, input and output, in per cent by what they "
    "were spent on; the number beside it is their mean for a question.",
    "tokens",
    {**{stage: series_colour(at) for at, stage in enumerate(STAGES)}, "other": _FAINT},
)

_ARMS = Stacks(
    "Whose plans are right",
    "Each row is a run: its right answers, in per cent, by what the plan in force at the end is from; the "
    "number beside it is how many they are.",
    "right answers",
    {"first plan": _FAINT, **{ORIGINS[one]: series_colour(at) for at, one in enumerate(list(ORIGINS)[1:])}},
)


def revision_plots(name: str, entries: Sequence[Entry]) -> list[Plot]:
    """Draw for each run its signals, its right answers and its tokens; nothing where there are none."""
    told = [(entry, (entry.metrics or {}).get("revision") or {}) for entry in entries]
    return [
        *stacked(f"{name}-signals", _SIGNALS, _rows((entry, _signals(found)) for entry, found in told)),
        *stacked(f"{name}-arms", _ARMS, _rows((entry, _arms(found)) for entry, found in told)),
        *stacked(f"{name}-stages", _TOKENS, _rows((entry, _tokens(found)) for entry, found in told)),
    ]


def _rows(rows: Any) -> list[Row]:
    return [(entry, parts) for entry, parts in rows if any(parts.values())]


def _signals(found: Mapping[str, Any]) -> dict[str, int]:
    sources, verified = found.get("sources") or {}, found.get("verified") or 0
    return {label: _of(sources.get(key), verified) for key, label in SIGNALS.items()}


def _arms(found: Mapping[str, Any]) -> dict[str, int]:
    plans = found.get("plans") or {}
    return {label: _hits(plans.get(key) or {}) for key, label in ORIGINS.items()}


def _tokens(found: Mapping[str, Any]) -> dict[str, int]:
    stages = found.get("tokens") or {}
    return {stage: round((stages.get(stage) or {}).get("mean") or 0) for stage in STAGES}


def _hits(plan: Mapping[str, Any]) -> int:
    return _of(plan.get("hits_at_1"), plan.get("n") or 0)


def _of(share: Any, number: int) -> int:
    """Give the number that a share stands for."""
    return round(((share or {}).get("value") or 0) * number)
