"""Which result belongs to which question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result


@dataclass(frozen=True, slots=True)
class Paired:
    """Questions and results that belong together; of several results of a question the last counts.

    ``pairs`` has every question in the order of the dataset, with None where it has no
    result. ``matched`` has every result that counts in the order of the file (a later
    one stands where the first of its question stood), with None where the dataset does
    not have its question; ``unmatched`` are those.
    """

    pairs: tuple[tuple[Question, Result | None], ...]
    matched: tuple[tuple[Result, Question | None], ...]

    @property
    def unmatched(self) -> tuple[Result, ...]:
        """The results whose question the dataset does not have."""
        return tuple(result for result, question in self.matched if question is None)


def paired(results: Iterable[Result], questions: Sequence[Question]) -> Paired:
    """Join results with questions: by id, else by the text of the question (case and spaces aside)."""
    index = _Index(questions)
    latest: dict[object, tuple[Result, int | None]] = {}
    for result in results:
        at = index.find(result)
        latest[(result.id, result.question) if at is None else at] = (result, at)
    of = {at: result for result, at in latest.values() if at is not None}
    return Paired(
        tuple((question, of.get(at)) for at, question in enumerate(questions)),
        tuple((result, None if at is None else questions[at]) for result, at in latest.values()),
    )


class _Index:
    """Finds the place of a result's question."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._ids = {question.id: at for at, question in enumerate(questions)}
        self._texts: dict[str, int] = {}
        for key in (str, _plain):
            for at, question in enumerate(questions):
                self._texts.setdefault(key(question.text), at)

    def find(self, result: Result) -> int | None:
        found = None if result.id is None else self._ids.get(result.id)
        if found is None:
            found = self._texts.get(result.question)
        return self._texts.get(_plain(result.question)) if found is None else found


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
