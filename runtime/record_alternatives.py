"""Takes another reading of a question for what was asked."""

from collections.abc import Sequence

from kgqa.runtime.record import OtherReading, Record
from kgqa.runtime.record_table import table_of
from kgqa.runtime.record_text import MAX_OTHER_ANSWERS, has_sentence


def which_is_meant(name: str | None) -> str:
    """Return the condition that is left where several topics of a name would answer otherwise."""
    return f"which {name} is meant"


def take_alternative(shown: Sequence[Record], number: int) -> Record:
    """Return the last record shown with one of its alternatives, of which 2 is the first, as what was asked.

    What was its answer is an alternative then; a record of this question that was shown before comes back
    as it was. The answers are proved where all conditions were checked: somebody says that this was meant.

    Raises:
        ValueError: if there is no such alternative.
    """
    record = shown[-1]
    others = record["alternatives"]
    if not 2 <= number < 2 + len(others):
        raise ValueError(f"there is no other reading {number}")
    taken = others[number - 2]
    if before := next((each for each in shown if each["query"] == taken["query"]), None):
        return before
    first = [_as_alternative(record)] if record["answers"] and record["query"] else []
    settled = {which_is_meant(topic["name"]) for topic in record["topics"] if topic not in taken["topics"]}
    unchecked = [c for c in record["conditions"] if c["by"] is None and c["words"] not in settled]
    said: Record = {
        **record,
        "reading": taken["reading"],
        "topics": taken["topics"],
        "answers": taken["answers"],
        "table": {**table_of(taken), "truncated": True} if taken["truncated"] else None,
        "outcome": "grounded_unverified" if taken["truncated"] or unchecked else "grounded",
        "confidence": taken["confidence"],
        "paths": [],
        "evidence": [],
        "query": taken["query"],
        "conditions": unchecked,
        "alternatives": [*first, *(each for each in others if each is not taken)],
    }
    return {**said, "sentence": taken.get("sentence") if has_sentence(said) else None}


def _as_alternative(record: Record) -> OtherReading:
    """Return what a record answers as an alternative."""
    table = record["table"]
    return {
        "reading": record["reading"] or "",
        "sentence": record.get("sentence"),
        "topics": record["topics"],
        "answers": record["answers"][:MAX_OTHER_ANSWERS],
        "truncated": len(record["answers"]) > MAX_OTHER_ANSWERS or bool(table and table["truncated"]),
        "query": record["query"] or "",
        "confidence": record["confidence"] or 0.0,
    }
