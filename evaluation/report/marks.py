"""Says of each answer and each question whether it was right."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from kgqa.evaluation.matching import Reading, read
from kgqa.evaluation.question import Named, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scores import NOTHING, Score, fit, score

State = Literal["right", "partly", "wrong", "failed", "unscored", "missing"]
"""``right``: all gold answers and nothing else. ``partly``: some answer is right. ``unscored``: no gold."""


class Mark(NamedTuple):
    """How a result did, and what its answers were held against."""

    state: State
    score: Score | None
    right: tuple[bool, ...] | None
    """For each answer whether it is a gold answer; None without gold."""
    missed: tuple[Named, ...]
    """The gold answers that were not given."""


def mark(result: Result | None, question: Question) -> Mark:
    """Mark a result, or its absence, by the reading of the question that fits it best."""
    if result is None:
        return Mark("missing", None, None, ())
    scored = score(result.answers, question)
    if scored is None:
        return Mark("failed" if result.failed else "unscored", None, None, ())
    gold = _best_reading(result.answers, question)
    given, wanted = [read(answer) for answer in result.answers], [read(one, aliases=True) for one in gold]
    missed = tuple(one for one, found in zip(gold, _found(wanted, given), strict=True) if not found)
    return Mark(_state(result, scored), scored, tuple(_found(given, wanted)), missed)


def _state(result: Result, scored: Score) -> State:
    if result.failed:
        return "failed"
    if scored.f1 == 1:
        return "right"
    return "partly" if scored.hit_any else "wrong"


def _best_reading(answers: Sequence[Named], question: Question) -> tuple[Named, ...]:
    readings = [reading for reading in question.readings if reading]
    if len(readings) == 1:
        return readings[0]
    return max(
        readings, key=lambda reading: fit(score(answers, replace(question, readings=(reading,))) or NOTHING)
    )


def _found(ours: Sequence[Reading], theirs: Sequence[Reading]) -> list[bool]:
    """Tell for each of ours whether it is among theirs, without comparing all with all."""
    near = defaultdict(list)
    for reading in theirs:
        for key in _keys(reading):
            near[key].append(reading)
    return [any(one.same(other) for key in _keys(one) for other in near.get(key, ())) for one in ours]


def _keys(reading: Reading) -> set[object]:
    return {*reading.names, *([reading.id.local] if reading.id else [])}
