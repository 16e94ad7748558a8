"""What a format is, and how a record that does not fit it is reported."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from kgqa.evaluation.question import Question
from kgqa.kg.terms import one_line

Record = TypeVar("Record")

START = re.compile(r"^(Value error, |Input |String )")
"""How pydantic begins a complaint; the field is said before."""


class Misfit(ValueError):
    """A record that is not as its format has it; the text names the field."""


@dataclass(frozen=True, slots=True)
class Format(Generic[Record]):
    """One way in which questions are published.

    ``knows`` tells it by a file's first record; ``columns`` name the fields of a line of
    text; ``schema`` checks a record, and ``question`` makes a question of it, with an
    empty id where the record has none. Where ``unique`` holds, two records with one id
    are a mistake; elsewhere the second is given another.
    """

    name: str
    knows: Callable[[Any], bool]
    schema: TypeAdapter[Record]
    question: Callable[[Record], Question]
    columns: tuple[str, ...] = ()
    unique: bool = False

    def read(self, record: Any) -> Question:
        """Make a question of a record.

        Raises:
            Misfit: naming the field that is wrong.
        """
        if self.columns and isinstance(record, tuple):
            record = dict(zip(self.columns, record, strict=False))
        try:
            return self.question(self.schema.validate_python(record))
        except ValidationError as error:
            raise Misfit(_in_one_line(error, record)) from None


def _in_one_line(error: ValidationError, record: Any) -> str:
    """Tell the mistake that lies deepest: of a field with alternatives, it is the nearest miss."""
    details = error.errors(include_url=False, include_context=False)
    mistake = max(details, key=lambda each: len(_field(each, record)))
    field = ".".join(map(str, _field(mistake, record)))
    return f"field {one_line(field, 80)}: {_what(mistake)}" if field else f"the record {_what(mistake)}"


def _field(mistake: ErrorDetails, record: Any) -> list[str | int]:
    """Give the path to the mistake, without the names that pydantic gives to alternatives."""
    path: list[str | int] = []
    for part in mistake["loc"]:
        if isinstance(record, dict) and (part in record or mistake["type"] == "missing"):
            record = record.get(part)
        elif isinstance(record, list) and isinstance(part, int) and part < len(record):
            record = record[part]
        else:
            continue
        path.append(part)
    return path


def _what(mistake: ErrorDetails) -> str:
    if mistake["type"] == "missing":
        return "is missing"
    found, message = mistake["input"], mistake["msg"].replace("a valid dictionary", "an object")
    return f"{START.sub('', message)}, not {_shown(found)}"


def _shown(found: Any) -> str:
    if isinstance(found, tuple):
        return "tab-separated text"
    if isinstance(found, dict | list):
        return "an object" if isinstance(found, dict) else "a list"
    return one_line(json.dumps(found, ensure_ascii=False), 40)
