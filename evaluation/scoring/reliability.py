"""Whether answers are right as often as their confidence says."""

from collections.abc import Sequence
from itertools import groupby

from typing_extensions import TypedDict

from kgqa.evaluation.scoring.scores import ScoredQuestion
from kgqa.evaluation.scoring.statistics import Count, Fraction, Share, absolute_means, mean_share

BINS = 10  # of equal width


class ReliabilityBin(TypedDict, total=False):
    """The questions whose confidence is about the same."""

    n: Count
    confidence: Fraction  # their mean confidence
    right: Share  # how many have a right first answer


class Reliability(TypedDict, total=False):
    """How well confidence tells right answers, over scored questions that were answered with one.

    The expected calibration error is the mean distance of confidence and share of right answers over bins,
    each by the number of its questions (Guo et al. 2017).
    """

    n: Count
    expected_calibration_error: Share
    bins: list[ReliabilityBin]


def measure_reliability(scored: Sequence[ScoredQuestion], seed: int) -> Reliability | None:
    """Measure confidence against right answers; None where no record has a confidence."""
    pairs = sorted(
        (float(confidence), each.right)
        for each in scored
        if each.score and each.result and each.result.answers and not each.result.failed
        if isinstance(confidence := each.result.record.get("confidence"), int | float)
    )
    if not pairs:
        return None
    bins: list[ReliabilityBin] = []
    for _, part in groupby(pairs, key=lambda pair: _bin(pair[0])):
        values, right = zip(*part, strict=True)
        mean = sum(values) / len(values)
        bins.append({"n": len(values), "confidence": mean, "right": mean_share(right, seed)})
    gaps = [[(value - right) * (_bin(value) == at) for at in range(BINS)] for value, right in pairs]
    error = absolute_means(gaps, columns=BINS, seed=seed)
    return {"n": len(pairs), "expected_calibration_error": error, "bins": bins}


def _bin(confidence: float) -> int:
    return min(int(confidence * BINS), BINS - 1)
