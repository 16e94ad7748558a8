"""Which reward tells right revisions from wrong ones: the threshold of acceptance (VoG §3.4.2).

>>> calibrate([Trial(0.4, False), Trial(0.6, False), Trial(0.7, True), Trial(0.9, True)]).best.threshold
0.7
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor
from typing import NamedTuple

from kgqa.evaluation.paper_analysis.trace import read_revisions
from kgqa.evaluation.scoring.scores import ScoredQuestion, is_right

THRESHOLDS_PER_UNIT = 1000
"""A threshold is a multiple of one part of these: what is printed is what was measured."""


class CalibrationError(ValueError):
    """Revisions that no threshold can be found by; the message is one line that says what to do."""


class Trial(NamedTuple):
    """A revision: its reward, between 0 and 1, and whether its plan's answer is right."""

    reward: float
    right: bool


class ThresholdEffect(NamedTuple):
    """What a threshold does: a revision is accepted if its reward is not below it."""

    threshold: float
    right: int  # right revisions that it accepts
    wrong: int  # wrong ones that it accepts
    sensitivity: float  # the share of the right ones that it accepts
    specificity: float  # the share of the wrong ones that it does not

    @property
    def youden(self) -> float:
        """Youden's J: 1 where all are told apart, 0 where it tells nothing."""
        return self.sensitivity + self.specificity - 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """How well the reward tells right from wrong, and what each threshold does, the lowest first."""

    right: int
    wrong: int
    auc: float
    """The probability that a right revision has a higher reward than a wrong one, an equal one being half."""
    cuts: tuple[ThresholdEffect, ...]

    @property
    def best(self) -> ThresholdEffect:
        """The one of the highest J; of several the one of the lowest threshold."""
        return max(self.cuts, key=lambda cut: (cut.youden, -cut.threshold))


def read_trials(scored: Iterable[ScoredQuestion]) -> list[Trial]:
    """Return the revisions of the scored questions whose reward is compared with the threshold.

    After an empty observation it is not: such a plan is taken up without one.
    """
    return [
        Trial(revision.reward, is_right(revision.answers, each.question))
        for each in scored
        if each.score and each.result
        for revision in read_revisions(each.result)
        if not revision.empty
    ]


def calibrate(tried: Sequence[Trial]) -> Calibration:
    """Measure every threshold that a reward gives.

    Raises:
        CalibrationError: if there are no revisions, or only right or only wrong ones.
    """
    good = sorted(trial.reward for trial in tried if trial.right)
    bad = sorted(trial.reward for trial in tried if not trial.right)
    if not tried:
        raise CalibrationError("no revision was made; take more questions, or others")
    if not (good and bad):
        only = f"all {len(tried):,} revisions are {'right' if good else 'wrong'}"
        raise CalibrationError(f"{only}, so nothing is to be told apart; take more questions, or others")
    thresholds = sorted({floor(trial.reward * THRESHOLDS_PER_UNIT) / THRESHOLDS_PER_UNIT for trial in tried})
    effects = tuple(_measure_threshold(threshold, good, bad) for threshold in thresholds)
    # The area under the ROC curve: Mann and Whitney's U (1947) over the number of pairs.
    won = sum(bisect_left(bad, reward) + bisect_right(bad, reward) for reward in good)
    return Calibration(len(good), len(bad), won / (2 * len(good) * len(bad)), effects)


def _measure_threshold(threshold: float, good: Sequence[float], bad: Sequence[float]) -> ThresholdEffect:
    missed, kept_out = bisect_left(good, threshold), bisect_left(bad, threshold)
    right, wrong = len(good) - missed, len(bad) - kept_out
    return ThresholdEffect(threshold, right, wrong, right / len(good), kept_out / len(bad))
