"""Which of two runs is better, on the same questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.scores import METRIC_NAMES, Score, ScoredQuestion, score_results
from kgqa.evaluation.scoring.statistics import Interval, bootstrap_intervals, mcnemar_p_value

RunPair = tuple[Sequence[ScoredQuestion], Sequence[ScoredQuestion]]
"""What two runs made of the same questions."""

Difference = Interval
"""By how much run a is better than run b, between -1 and 1; negative where b is better."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """How often each of two runs has the first answer right, and whether that differs.

    ``p`` is that of the exact two-sided test on the questions where the runs differ
    (`mcnemar_p_value`).
    """

    both: int
    only_a: int
    only_b: int
    neither: int
    p: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on the scored questions that both have a record of."""

    n: int  # the questions that are compared
    missing_a: int  # scored questions that are left out because a has no record of them
    missing_b: int  # the same for b; a question that neither has is in both
    differences: dict[str, Difference]
    """a less b, by metric: ``hits_at_1``, ``hit_any``, ``precision``, ``recall``, ``f1``."""
    mcnemar: McNemar  # the paired test on ``hits_at_1``


def compare_results(
    a: Sequence[Result], b: Sequence[Result], questions: Sequence[Question], seed: int = 0
) -> Comparison:
    """Compare two runs question by question.

    Questions without gold, and those that a run has no record of, are left out. A
    question where a run failed is wrong in that run. For the intervals, questions are
    drawn with replacement, each with what both runs made of it.
    """
    return compare_scored([(score_results(a, questions), score_results(b, questions))], seed)


def compare_scored(pairs: Sequence[RunPair], seed: int = 0) -> Comparison:
    """Compare one pair of runs, or several (one for each seed), on the same questions in the same order.

    Of several pairs those questions count that all runs have a record of, each with its
    mean over the pairs, so that another seed is no further question. McNemar's test is
    then the sign test on the questions that one side is right at more often.
    """
    by_question = zip(*(zip(a, b, strict=True) for a, b in pairs), strict=True)
    scored = [tuple(zip(*both, strict=True)) for both in by_question if both[0][0].score]
    missing_a, missing_b = (sum(not _all_have_results(runs[side]) for runs in scored) for side in (0, 1))
    shared = [(_mean_score(a), _mean_score(b)) for a, b in scored if _all_have_results([*a, *b])]
    rows = [[x - y for x, y in zip(*both, strict=True)] for both in shared]
    found = bootstrap_intervals(rows, columns=len(METRIC_NAMES), seed=seed)
    differences = dict(zip(METRIC_NAMES, found, strict=True))
    return Comparison(len(rows), missing_a, missing_b, differences, _test_hits(shared))


def _all_have_results(scored: Sequence[ScoredQuestion]) -> bool:
    return all(each.result for each in scored)


def _mean_score(scored: Sequence[ScoredQuestion]) -> Score:
    return Score(*map(fmean, zip(*(each.score for each in scored if each.score), strict=True)))


def _test_hits(shared: Sequence[tuple[Score, Score]]) -> McNemar:
    hits = [(a.hit_at_1, b.hit_at_1) for a, b in shared]
    only_a, only_b = sum(a > b for a, b in hits), sum(a < b for a, b in hits)
    both = sum(a == b > 0 for a, b in hits)
    return McNemar(both, only_a, only_b, len(hits) - only_a - only_b - both, mcnemar_p_value(only_a, only_b))
