"""Records as the files of a run hold them: what is reproducible on one line, the times on another."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from kgqa.evaluation.question import Question
from kgqa.evaluation.result import OUTAGE_OUTCOMES
from kgqa.kg.terms import one_line
from kgqa.runtime.record import Ref, zero_spend

Json = Mapping[str, Any]

TIME_FIELDS = ("seconds", "seconds_llm", "seconds_kg")
"""What of a record's usage differs from run to run."""

MAX_ERROR_CHARS = 1000
"""Characters that a record says at most about an exception."""


def json_line(value: Json) -> bytes:
    """Write JSON on one line, keys in their order; a lone surrogate is escaped.

    Raises:
        ValueError: for NaN, infinity, and what holds itself.
        TypeError: for what is not JSON.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False).encode() + b"\n"


class RecordLines(NamedTuple):
    """What is written of one record."""

    times: bytes
    record: bytes


def record_lines(record: Json) -> RecordLines:
    """Return the lines of a record for ``timings.jsonl`` and ``results.jsonl``.

    Raises:
        ValueError, TypeError: if the record is not JSON.
    """
    usage = record["usage"]
    times = {"id": record["id"], **{key: usage[key] for key in TIME_FIELDS}}
    return RecordLines(
        json_line(times), json_line({**record, "usage": {**usage, **dict.fromkeys(TIME_FIELDS)}})
    )


def crash_record(question: Question, config: Json, error: Exception) -> dict[str, Any]:
    """Make the record of a question that failed by an exception which no method expects.

    What it has cost until then is unknown: null, not 0.
    """
    said = str(error).encode("utf-8", "replace").decode()
    return {
        "id": question.id,
        "question": question.text,
        "method": config["method"],
        "topics": topic_refs(question),
        "answers": [],
        "outcome": "none",
        "stopped_by": None,
        "paths": [],
        "evidence": [],
        "trace": [],
        "usage": dict.fromkeys(zero_spend()),
        "config": config,
        "error": one_line(f"{type(error).__name__}: {said}", MAX_ERROR_CHARS),
    }


def topic_refs(question: Question) -> list[Ref]:
    """Return the topic entities of a question as a method takes them."""
    return [{"id": topic.id, "name": topic.name} for topic in question.topics]


def is_failed(record: Json) -> bool:
    """Tell a question that was not really tried: an exception, or an outage."""
    return "error" in record or record.get("outcome") in tuple(
        OUTAGE_OUTCOMES
    )  # what a file says may have no hash


def failure_reason(record: Json) -> str:
    """Say in one line why a question failed."""
    said = [entry["error"] for entry in record["trace"] if "error" in entry]
    return str(record.get("error") or (said[-1] if said else record["outcome"]))
