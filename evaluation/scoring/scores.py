"""The five metrics: of the answers to one question, and averaged over groups of questions.

>>> question = Question("1", "?", readings=((EntityRef(None, "Ulm"), EntityRef(None, "Bonn")),))
>>> score_answers([EntityRef(None, "Ulm"), EntityRef(None, "Paris"), EntityRef(None, "Rome")], question)
Score(hit_at_1=1.0, hit_any=1.0, precision=0.3333333333333333, recall=0.5, f1=0.4)
"""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, cast

from typing_extensions import TypedDict

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result, pair_results
from kgqa.evaluation.scoring.matching import (
    AnswerKeys,
    answer_keys,
    exact_keys,
    match_answers,
    merge_duplicates,
)
from kgqa.evaluation.scoring.statistics import Count, Fraction, Share, absolute_means, mean_share, mean_shares

METRIC_NAMES = ("hits_at_1", "hit_any", "precision", "recall", "f1")  # those of a `Score`, in its order
BEAM_ENTITIES = 3  # entities that a beam usually holds

NUMBER_BUCKETS = {  # groups by a number, by the least number of each
    "answers": {1: "1", 2: "2-4", 5: "5-9", 10: "10+"},
    "intermediate": {0: f"at most {BEAM_ENTITIES}", BEAM_ENTITIES + 1: f"more than {BEAM_ENTITIES}"},
}


class Score(NamedTuple):
    """The five metrics of one question, each between 0 and 1."""

    hit_at_1: float  # 1 if the first answer is right
    hit_any: float  # 1 if any answer is right
    precision: float  # the share of the answers that are right
    recall: float  # the share of the gold answers that were given
    f1: float  # the harmonic mean of precision and recall


ZERO_SCORE = Score(0.0, 0.0, 0.0, 0.0, 0.0)  # the score of an empty answer, and of a question that failed


class ScoredQuestion(NamedTuple):
    """A question, its result (None: missing), and its score (None: there is no gold)."""

    question: Question
    result: Result | None
    score: Score | None

    @property
    def answered(self) -> bool:
        """Whether there is a result, and none of a question that failed."""
        return self.result is not None and not self.result.failed

    @property
    def right(self) -> bool:
        """Whether the first answer is right."""
        return self.score is not None and self.score.hit_at_1 > 0


class Accuracy(TypedDict, total=False):
    """The means over questions (macro averages) of the metrics of `Score`."""

    hits_at_1: Share
    hit_any: Share
    precision: Share
    recall: Share
    f1: Share


class GroupMetrics(Accuracy, total=False):
    """The metrics over some scored questions, and how many these are."""

    n: Count


class Breakdowns(TypedDict, total=False):
    """The scored questions by what is known of them; where it is not, a question is left out."""

    hops: dict[str, GroupMetrics]
    kind: dict[str, GroupMetrics]
    level: dict[str, GroupMetrics]
    answers: dict[str, GroupMetrics]
    """By the number of gold answers, in the first reading that has any: ``1``, ``2-4``, ``5-9``, ``10+``."""
    intermediate: dict[str, GroupMetrics]
    """By the entities between topics and answers (`intermediates`): ``at most 3``, ``more than 3``."""


def score_results(results: Sequence[Result], questions: Sequence[Question]) -> list[ScoredQuestion]:
    """Score every question in the order of the dataset; one that failed or is missing is wrong."""
    scored = []
    for question, result in pair_results(results, questions).pairs:
        answers = () if result is None or result.failed else result.answers
        scored.append(ScoredQuestion(question, result, score_answers(answers, question)))
    return scored


def score_answers(answers: Sequence[EntityRef], question: Question, *, exact: bool = False) -> Score | None:
    """Score answers strictly; None if the question has no gold to score them by.

    Answers and gold are sets: what is there twice counts once. An answer stands for one
    gold answer at most, and a gold answer for one answer (a maximum matching), so that
    two spellings of one thing are not two right answers. Of several readings the one that
    fits best (`reading_preference`) counts, among equals the first; readings without gold are left out.
    ``exact`` compares names to the letter, and no aliases.
    """
    gold_keys = exact_keys if exact else partial(answer_keys, aliases=True)
    gold = [merge_duplicates(map(gold_keys, reading)) for reading in question.readings]
    if not any(gold):
        return None
    given = merge_duplicates(map(exact_keys if exact else answer_keys, answers))
    return max((_score_reading(given, reading) for reading in gold if reading), key=reading_preference)


def reading_preference(score: Score) -> tuple[float, float, float]:
    """Return what decides between the readings of a question: F1, then whether the first answer is right."""
    return score.f1, score.hit_at_1, score.hit_any


def _score_reading(answers: list[AnswerKeys], gold: list[AnswerKeys]) -> Score:
    if not answers:
        return ZERO_SCORE
    first_right, right = match_answers(answers, gold)
    return Score(
        hit_at_1=float(first_right),
        hit_any=float(right > 0),
        precision=right / len(answers),
        recall=right / len(gold),
        f1=2 * right / (len(answers) + len(gold)),
    )


def is_right(answers: Sequence[str], question: Question) -> bool:
    """Return whether the first answer is right, strictly; a question without gold has none that is."""
    score = score_answers([EntityRef(None, answer) for answer in answers], question)
    return score is not None and score.hit_at_1 > 0


def measure_accuracy(scored: Sequence[ScoredQuestion], seed: int) -> Accuracy:
    """Average over the questions that have a score."""
    rows = [each.score for each in scored if each.score]
    means = mean_shares(rows, columns=len(METRIC_NAMES), seed=seed)
    return cast(Accuracy, dict(zip(METRIC_NAMES, means, strict=True)))


def measure_group(scored: Sequence[ScoredQuestion], seed: int) -> GroupMetrics:
    """Average over the questions that have a score, and count them."""
    return {"n": sum(each.score is not None for each in scored), **measure_accuracy(scored, seed)}


def measure_breakdowns(scored: Sequence[ScoredQuestion], seed: int) -> Breakdowns:
    """Average over each kind of the questions that have a score; groups in order of number or name."""
    given = [each for each in scored if each.score]
    found = {
        key: {name: measure_group(part, seed) for name, part in group_questions(given, key).items()}
        for key in Breakdowns.__annotations__
    }
    return cast(Breakdowns, found)


def group_questions(scored: Sequence[ScoredQuestion], by: str) -> dict[str, list[ScoredQuestion]]:
    """Sort scored questions by what is known of them; ``by`` is a key of `Breakdowns`."""
    buckets = NUMBER_BUCKETS.get(by)
    groups: dict[Any, list[ScoredQuestion]] = {}
    for each in scored:
        if by == "answers":
            first = next(reading for reading in each.question.readings if reading)
            value = len({named.id or named.name for named in first})
        else:
            value = getattr(each.question, by)
        if value is not None:
            kind = max(least for least in buckets if least <= value) if buckets else value
            groups.setdefault(kind, []).append(each)
    return {buckets[kind] if buckets else str(kind): groups[kind] for kind in sorted(groups)}


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
