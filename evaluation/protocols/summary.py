"""The summary that every legacy protocol gives."""

from collections.abc import Sequence
from typing import Any

from kgqa.evaluation.protocols.legacy import Case
from kgqa.evaluation.result import Usage
from kgqa.evaluation.statistics import interval, spread

COSTS = ("llm_calls", "input_tokens", "output_tokens", "seconds")
"""What published records say of their cost, by the names of our usage."""


def summary(
    protocol: str, note: str, judged: Sequence[Case], right: Sequence[bool], seed: int
) -> dict[str, Any]:
    """Give what the legacy protocols have in common; ``right`` has one verdict a record.

    The breakdowns are those of the published code: by kind and by level, where the
    dataset has them. Costs are means over the records that state a time.
    """
    return {
        "protocol": protocol,
        "legacy": True,
        "note": f"{note} For comparison with published numbers only.",
        "n": len(judged),
        "correct": sum(right),
        "unmatched": sum(case.question is None for case in judged),
        "hits_at_1": share(right, seed),
        **costs(judged),
        "breakdowns": breakdowns(judged, right, seed),
        "seed": seed,
    }


def share(values: Sequence[float], seed: int) -> dict[str, float | None]:
    """Give the mean of a value per record, with its 95% bootstrap interval; nulls for none."""
    return interval(values, seed)._asdict()


def means(scores: Sequence[tuple[float, float, float]], seed: int) -> dict[str, Any]:
    """Give the means of precision, recall and F1 over questions."""
    return {
        name: share([score[at] for score in scores], seed)
        for at, name in enumerate(("precision", "recall", "f1"))
    }


def breakdowns(judged: Sequence[Case], right: Sequence[bool], seed: int) -> dict[str, Any]:
    """Give count and share of right records for each compositionality type and each level."""
    return {name: _breakdown(name, judged, right, seed) for name in ("kind", "level")}


def _breakdown(name: str, judged: Sequence[Case], right: Sequence[bool], seed: int) -> dict[str, Any]:
    groups: dict[str, list[bool]] = {}
    for case, verdict in zip(judged, right, strict=True):
        value = getattr(case.question, name, None)
        if value is not None:
            groups.setdefault(value, []).append(verdict)
    return {
        value: {"n": len(group), "correct": sum(group), "hits_at_1": share(group, seed)}
        for value, group in sorted(groups.items())
    }


def costs(judged: Sequence[Case]) -> dict[str, Any]:
    """Give calls, tokens and seconds over the records that state a time; None where unknown."""
    timed = [case.result.usage for case in judged if case.result.usage.get("seconds") is not None]
    spent = {key: [usage.get(key) for usage in timed] for key in COSTS}
    spent["total_tokens"] = [_total(usage) for usage in timed]
    return {key: _spread(values) for key, values in spent.items()}


def _total(usage: Usage) -> float | None:
    given, written = usage.get("input_tokens"), usage.get("output_tokens")
    return None if given is None or written is None else given + written


def _spread(values: Sequence[float | None]) -> dict[str, float] | None:
    found = spread([value for value in values if value is not None])
    return found and found._asdict()
