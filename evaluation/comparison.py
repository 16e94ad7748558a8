"""Which of two runs is better, on the same questions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kgqa.evaluation.accuracy import METRICS
from kgqa.evaluation.judging import judge
from kgqa.evaluation.question import Question
from kgqa.evaluation.results import Result
from kgqa.evaluation.scores import Score
from kgqa.evaluation.statistics import intervals, mcnemar


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much run a is better than run b, with the 95% bootstrap interval of that.

    Between -1 and 1, negative where b is better; None where no question is scored.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class McNemar:
    """How often each of two runs has the first answer right, and whether that differs.

    ``p`` is that of the exact two-sided test on the questions where the runs differ
    (`statistics.mcnemar`).
    """

    both: int
    only_a: int
    only_b: int
    neither: int
    p: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on the scored questions that both have a record of."""

    n: int
    """The questions that are compared."""
    missing_a: int
    """Scored questions that are left out because a has no record of them."""
    missing_b: int
    """The same for b; a question that neither has is in both."""
    differences: dict[str, Difference]
    """a less b, by metric: ``hits_at_1``, ``hit_any``, ``precision``, ``recall``, ``f1``."""
    mcnemar: McNemar
    """The paired test on ``hits_at_1``."""

    def as_dict(self) -> dict[str, Any]:
        """Give the comparison as JSON has it."""
        return asdict(self)


def compare(
    a: Sequence[Result], b: Sequence[Result], questions: Sequence[Question], seed: int = 0
) -> Comparison:
    """Compare two runs question by question.

    Questions without gold, and those that a run has no record of, are left out. A
    question where a run failed is wrong in that run. For the intervals, questions are
    drawn with replacement, each with what both runs made of it.
    """
    marks = [(x, y) for x, y in zip(judge(a, questions), judge(b, questions), strict=True) if x.score]
    shared = [(x, y) for x, y in marks if x.result and y.result]
    left = [x.score for x, _ in shared if x.score]
    right = [y.score for _, y in shared if y.score]
    missing_a, missing_b = sum(not x.result for x, _ in marks), sum(not y.result for _, y in marks)
    rows = [[x - y for x, y in zip(*both, strict=True)] for both in zip(left, right, strict=True)]
    found = intervals(rows, columns=len(METRICS), seed=seed)
    differences = {name: Difference(*one) for name, one in zip(METRICS, found, strict=True)}
    return Comparison(len(rows), missing_a, missing_b, differences, _mcnemar(left, right))


def _mcnemar(left: Sequence[Score], right: Sequence[Score]) -> McNemar:
    hits = [(x.hit_at_1 > 0, y.hit_at_1 > 0) for x, y in zip(left, right, strict=True)]
    only_a, only_b = hits.count((True, False)), hits.count((False, True))
    both, neither = hits.count((True, True)), hits.count((False, False))
    return McNemar(both, only_a, only_b, neither, mcnemar(only_a, only_b))
