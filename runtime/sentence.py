"""Says a record in a sentence, for a chat or an assistant."""

from typing import TYPE_CHECKING, Any

from kgqa.kg.terms import one_line
from kgqa.runtime.record_text import OUTCOME_LABELS, no_answer_reason, ref_text

if TYPE_CHECKING:
    from kgqa.runtime.record import Record

MAX_NAMED_ANSWERS = 20  # answers that a sentence names at most; the record has all

OUTAGES = {
    "kg_unavailable": "the knowledge graph is unavailable",
    "model_unavailable": "the model is unavailable",
}

SUMMARY = (
    "question",
    "method",
    "topics",
    "answers",
    "outcome",
    "confidence",
    "stopped_by",
    "paths",
    "evidence",
    "query",
    "conditions",
)
"""The keys of a record that say what it answers and prove it."""


def say_record(record: "Record") -> str:
    """Return what a record answers, in one sentence, and how far it is to be trusted where it is not proved.

    >>> ref = lambda name: {"id": name, "name": name}
    >>> say_record({"answers": [ref("Chad"), ref("Mali")], "outcome": "grounded_unverified"})
    'Chad and Mali (from the graph, not all checked).'
    """
    if what := OUTAGES.get(record["outcome"]):
        return f"No answer: {what} ({find_error(record)})."
    if not record["answers"]:
        return f"No answer found{no_answer_reason(record)}."
    names = [ref_text(answer) for answer in record["answers"][:MAX_NAMED_ANSWERS]]
    if more := len(record["answers"]) - len(names):
        names.append(f"{more} more")
    said = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    label = OUTCOME_LABELS.get(record["outcome"])
    return f"{said[:1].upper()}{said[1:]}{f' ({label})' if label else ''}."


def summarise_record(record: "Record") -> dict[str, Any]:
    """Return what a record answers and proves as plain JSON, without its trace, cost and options."""
    return {key: record[key] for key in SUMMARY}  # type: ignore[literal-required]


def find_error(record: "Record") -> str:
    """Return the last error of a run in one line."""
    entries: list[dict[str, Any]] = record["trace"]
    errors = [str(entry["error"]) for entry in entries if "error" in entry]
    return one_line(errors[-1], 500) if errors else "the run failed"
