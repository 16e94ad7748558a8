"""The answer to one question, from any source, and the question that it belongs to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgqa.evaluation.question import EntityRef, Question, Rows

Usage = Mapping[str, float | None]

OUTAGE_OUTCOMES = frozenset({"kg_unavailable", "model_unavailable"})  # the question could not be asked


class ResultsError(ValueError):
    """A results file that cannot be read; the message is one line with file, line and field."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was answered to one question.

    ``id`` is None where the file has no ids. ``outcome`` is that of our record, or None
    where the file does not say how it came by its answers. ``text`` is the raw reply
    of a published record, which the legacy protocols read again in their own way;
    None where the file holds answers as such. ``usage`` has the keys of our record
    (``llm_calls``, ``input_tokens``, ``seconds`` ...), None where unknown.
    """

    id: str | None
    question: str
    answers: tuple[EntityRef, ...]
    outcome: str | None = None
    error: str | None = None
    usage: Usage = field(default_factory=dict)
    text: str | None = None
    record: Mapping[str, Any] = field(default_factory=dict)  # the record as the file has it
    rows: Rows | None = None  # what its query gives, where that was run again

    @property
    def failed(self) -> bool:
        """Whether the question was not really tried: an exception, or an outage."""
        return self.error is not None or self.outcome in OUTAGE_OUTCOMES


@dataclass(frozen=True, slots=True)
class PairedResults:
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


def pair_results(results: Iterable[Result], questions: Sequence[Question]) -> PairedResults:
    """Join results with questions: by id, else by the text of the question (case and spaces aside)."""
    by_id: dict[str | None, int] = {question.id: place for place, question in enumerate(questions)}
    by_text: dict[str, int] = {}
    for key in (str, _normalise_text):
        for place, question in enumerate(questions):
            by_text.setdefault(key(question.text), place)
    latest: dict[object, tuple[Result, int | None]] = {}
    for result in results:
        text = result.question
        found = by_id.get(result.id, by_text.get(text, by_text.get(_normalise_text(text))))
        latest[(result.id, text) if found is None else found] = (result, found)
    result_at = {place: result for result, place in latest.values() if place is not None}
    return PairedResults(
        tuple((question, result_at.get(place)) for place, question in enumerate(questions)),
        tuple((result, None if place is None else questions[place]) for result, place in latest.values()),
    )


def _normalise_text(text: str) -> str:
    return " ".join(text.casefold().split())
