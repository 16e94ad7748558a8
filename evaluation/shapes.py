"""The shapes of result records: our own, PoG's (also CoG, VoG, ToG), and CoR's."""

import math
from collections.abc import Mapping
from typing import Any

from kgqa.evaluation.extraction import answers_in
from kgqa.evaluation.question import Named
from kgqa.evaluation.result import Result, Usage

Record = Mapping[str, Any]

QUESTION_KEYS = ("question", "RawQuestion", "input", "sentence")
"""Where the published outputs keep the question, from dataset to dataset."""

SPENT = {
    "call_num": "llm_calls",
    "input_token": "input_tokens",
    "output_token": "output_tokens",
    "time": "seconds",
}
"""What PoG's records call the parts of our usage."""

ENDINGS = {"stop": "grounded", "constraint": "grounded", "error": "model_unavailable"}
"""What CoR's actions mean as an outcome; under any other one the answers are from the model's memory."""


class Mistake(ValueError):
    """A record that is wrong in a field; the message names the field."""


def to_result(record: Record) -> Result:
    """Read a record of any known shape.

    Raises:
        Mistake: naming the field that is missing or wrong.
    """
    if "answers" in record:
        return _ours(record)
    if "results" not in record:
        raise Mistake('field "answers" (or "results", in published outputs) is missing')
    return _published(record) if isinstance(record["results"], str | None) else _cor(record)


def to_usage(given: Any) -> Usage:
    """Read what a question has cost: numbers, or null where unknown.

    Raises:
        Mistake: naming the field.
    """
    if not isinstance(given, Mapping):
        raise Mistake('field "usage": an object was expected')
    return {key: _amount(key, value) for key, value in given.items()}


def _ours(record: Record) -> Result:
    return Result(
        id=_id(record.get("id")),
        question=_question(record),
        answers=_answers("answers", record["answers"]),
        outcome=_optional(record, "outcome"),
        error=_optional(record, "error"),
        usage=to_usage(record.get("usage") or {}),
        record=record,
    )


def _published(record: Record) -> Result:
    """Read a record whose ``results`` is the raw reply of a model (null: the model gave none)."""
    text = record["results"]
    spent = {ours: _amount(theirs, record.get(theirs)) for theirs, ours in SPENT.items()}
    return Result(
        id=_id(record.get("id")),
        question=_question(record),
        answers=tuple(Named(None, name) for name in answers_in(text or "", record.get("reasoning_chains"))),
        usage=spent,
        text=text,
        record=record,
    )


def _cor(record: Record) -> Result:
    answers = _answers("results", record["results"])
    action = _optional(record, "action")
    from_memory = "parametric" if answers else "none"
    return Result(
        id=_id(record.get("id")),
        question=_question(record),
        answers=answers,
        outcome=None if action is None else ENDINGS.get(action.casefold(), from_memory),
        record=record,
    )


def _question(record: Record) -> str:
    for key in QUESTION_KEYS:
        if key in record:
            return _string(key, record[key])
    raise Mistake('field "question" is missing')


def _id(value: Any) -> str | None:
    """Give an id as text: GrailQA and QALD-10 number their questions."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise Mistake('field "id": a string was expected')


def _answers(key: str, given: Any) -> tuple[Named, ...]:
    if not isinstance(given, list):
        raise Mistake(f'field "{key}": a list was expected')
    return tuple(_named(f"{key}[{at}]", item) for at, item in enumerate(given))


def _named(key: str, item: Any) -> Named:
    if not isinstance(item, Mapping):
        raise Mistake(f'field "{key}": an object with id and name was expected')
    id, name = (_scalar(f"{key}.{part}", item.get(part)) for part in ("id", "name"))
    return Named(id, name)


def _scalar(key: str, value: Any) -> str | None:
    """Give an id or name as text; numbers and truth values are answers like any other."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise Mistake(f'field "{key}": a string was expected')


def _optional(record: Record, key: str) -> str | None:
    value = record.get(key)
    return None if value is None else _string(key, value)


def _string(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise Mistake(f'field "{key}": a string was expected')
    return value


def _amount(key: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mistake(f'field "{key}": a number was expected')
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite or value < 0:
        raise Mistake(f'field "{key}": a number of at least 0 was expected')
    return value
