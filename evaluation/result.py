"""What was answered to one question, whoever answered it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kgqa.evaluation.question import Named

Usage = Mapping[str, float | None]

OUTAGES = frozenset({"kg_unavailable", "model_unavailable"})
"""Outcomes of a question that could not be asked."""


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
    answers: tuple[Named, ...]
    outcome: str | None = None
    error: str | None = None
    usage: Usage = field(default_factory=dict)
    text: str | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    """The record as the file has it."""

    @property
    def failed(self) -> bool:
        """Whether the question was not really tried: an exception, or an outage."""
        return self.error is not None or self.outcome in OUTAGES
