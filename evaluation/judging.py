"""Each question of a dataset with its result and score, whatever became of it."""

from collections.abc import Sequence
from typing import NamedTuple

from kgqa.evaluation.question import Question
from kgqa.evaluation.results import Result, paired
from kgqa.evaluation.scores import NOTHING, Score, score


class Judged(NamedTuple):
    """A question, its result (None: missing), and its score (None: there is no gold)."""

    question: Question
    result: Result | None
    score: Score | None

    @property
    def answered(self) -> bool:
        """Whether there is a result, and none of a question that failed."""
        return self.result is not None and not self.result.failed


def judge(results: Sequence[Result], questions: Sequence[Question]) -> list[Judged]:
    """Score every question in the order of the dataset; one that failed or is missing is wrong."""
    return [_judged(question, result) for question, result in paired(results, questions).pairs]


def _judged(question: Question, result: Result | None) -> Judged:
    if not question.scored:
        return Judged(question, result, None)
    if result is None or result.failed:
        return Judged(question, result, NOTHING)
    return Judged(question, result, score(result.answers, question))
