"""How good the answers to one question are.

>>> question = Question("1", "?", readings=((Named(None, "Ulm"), Named(None, "Bonn")),))
>>> score([Named(None, "Ulm"), Named(None, "Paris"), Named(None, "Rome")], question)
Score(hit_at_1=1.0, hit_any=1.0, precision=0.3333333333333333, recall=0.5, f1=0.4)
"""

from collections.abc import Sequence
from typing import NamedTuple

from kgqa.evaluation.assignment import matches
from kgqa.evaluation.matching import Reading, distinct, read
from kgqa.evaluation.question import Named, Question


class Score(NamedTuple):
    """The five metrics of one question, each between 0 and 1."""

    hit_at_1: float
    """1 if the first answer is right."""
    hit_any: float
    """1 if any answer is right."""
    precision: float
    """The share of the answers that are right."""
    recall: float
    """The share of the gold answers that were given."""
    f1: float
    """The harmonic mean of precision and recall."""


NOTHING = Score(0.0, 0.0, 0.0, 0.0, 0.0)
"""The score of an empty answer, and of a question that failed."""


def score(answers: Sequence[Named], question: Question) -> Score | None:
    """Score answers strictly; None if the question has no gold to score them by.

    Answers and gold are sets: what is there twice counts once. An answer stands for one
    gold answer at most, and a gold answer for one answer (a maximum matching), so that
    two spellings of one thing are not two right answers. Of several readings the one
    that fits best (`fit`) counts, among equals the first; readings without gold are left out.
    """
    gold = [distinct(read(named, aliases=True) for named in reading) for reading in question.readings]
    if not any(gold):
        return None
    given = distinct(map(read, answers))
    return max((_score(given, reading) for reading in gold if reading), key=fit)


def fit(found: Score) -> tuple[float, float, float]:
    """Give what decides between the readings of a question: F1, then whether the first answer is right."""
    return found.f1, found.hit_at_1, found.hit_any


def _score(answers: list[Reading], gold: list[Reading]) -> Score:
    if not answers:
        return NOTHING
    first_right, right = matches(answers, gold)
    return Score(
        hit_at_1=float(first_right),
        hit_any=float(right > 0),
        precision=right / len(answers),
        recall=right / len(gold),
        f1=2 * right / (len(answers) + len(gold)),
    )
