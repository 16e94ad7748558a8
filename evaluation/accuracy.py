"""The five metrics over a group of questions, and the groups that questions fall into."""

from collections.abc import Sequence
from typing import Any, cast

from typing_extensions import TypedDict

from kgqa.evaluation.judging import Judged
from kgqa.evaluation.question import Question
from kgqa.evaluation.statistics import Interval, intervals

METRICS = ("hits_at_1", "hit_any", "precision", "recall", "f1")
"""The names of the metrics of a `Score`, in its order."""

BEAM = 3
"""Entities that a beam usually holds."""

BUCKETS = {
    "answers": {1: "1", 2: "2-4", 5: "5-9", 10: "10+"},
    "intermediate": {0: f"at most {BEAM}", BEAM + 1: f"more than {BEAM}"},
}
"""Groups by a number, by the least number of each."""


class Share(TypedDict):
    """A mean over questions, between 0 and 1, with its 95% bootstrap interval; null over none."""

    value: float | None
    low: float | None
    high: float | None


class Accuracy(TypedDict):
    """The means over questions (macro averages) of the metrics of `Score`."""

    hits_at_1: Share
    hit_any: Share
    precision: Share
    recall: Share
    f1: Share


class Group(Accuracy):
    """The metrics over some scored questions, and how many these are."""

    n: int


class Breakdowns(TypedDict):
    """The scored questions by what is known of them; where it is not, a question is left out."""

    hops: dict[str, Group]
    kind: dict[str, Group]
    level: dict[str, Group]
    answers: dict[str, Group]
    """By the number of gold answers, in the first reading that has any: ``1``, ``2-4``, ``5-9``, ``10+``."""
    intermediate: dict[str, Group]
    """By the entities between topics and answers (`intermediates`): ``at most 3``, ``more than 3``."""


def share(found: Interval) -> Share:
    """Give an interval as JSON has it."""
    return {"value": found.value, "low": found.low, "high": found.high}


def accuracy(judged: Sequence[Judged], seed: int) -> Accuracy:
    """Average over the scored among the questions."""
    rows = [mark.score for mark in judged if mark.score]
    found = intervals(rows, columns=len(METRICS), seed=seed)
    return cast(Accuracy, {name: share(one) for name, one in zip(METRICS, found, strict=True)})


def group(judged: Sequence[Judged], seed: int) -> Group:
    """Average over the scored among the questions, and count them."""
    return {"n": sum(mark.score is not None for mark in judged), **accuracy(judged, seed)}


def breakdowns(judged: Sequence[Judged], seed: int) -> Breakdowns:
    """Average over each kind of the scored questions; groups in order of number or name."""
    scored = [mark for mark in judged if mark.score]
    found = {
        by: {kind: group(marks, seed) for kind, marks in by_kind(scored, by).items()}
        for by in Breakdowns.__annotations__
    }
    return cast(Breakdowns, found)


def by_kind(scored: Sequence[Judged], by: str) -> dict[str, list[Judged]]:
    """Sort scored questions by what is known of them; ``by`` is a key of `Breakdowns`."""
    buckets = BUCKETS.get(by)
    groups: dict[Any, list[Judged]] = {}
    for mark in scored:
        value = _answers(mark.question) if by == "answers" else getattr(mark.question, by)
        if value is not None:
            kind = max(least for least in buckets if least <= value) if buckets else value
            groups.setdefault(kind, []).append(mark)
    return {buckets[kind] if buckets else str(kind): groups[kind] for kind in sorted(groups)}


def _answers(question: Question) -> int:
    first = next(reading for reading in question.readings if reading)
    return len({named.id or named.name for named in first})
