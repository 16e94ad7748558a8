"""What a question file becomes, and how a file is read into records."""

import gzip
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic_core import from_json

from kgqa.evaluation.question import Question
from kgqa.files import gunzip, read_file
from kgqa.kg.terms import one_line


class DatasetError(ValueError):
    """A question file that cannot be used; its text is one line that names the place."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The questions of a file, in its order.

    ``digest`` is the SHA-256 of the file's bytes in hexadecimal, ``format`` the name of
    the format it was read as.
    """

    name: str
    questions: tuple[Question, ...]
    digest: str
    format: str

    def part(self, split: str | None = None, limit: int | None = None) -> tuple[Question, ...]:
        """Take the questions of one split, or all of them.

        Args:
            split: ``all`` or None for every question; ``test`` for those whose ``split`` is
                "test"; ``split_group=test`` for those whose ``split_group`` is.
            limit: Take the first so many of them.

        Raises:
            DatasetError: if no question is in that split, or the limit is below 1.
        """
        if limit is not None and limit < 1:
            raise DatasetError(f"a limit is at least 1, not {limit}")
        return self._of(split)[:limit]

    def _of(self, split: str | None) -> tuple[Question, ...]:
        if split is None or split == "all":
            return self.questions
        key, equals, value = split.partition("=")
        if not equals:
            key, value = "split", split
        chosen = tuple(question for question in self.questions if question.splits.get(key) == value)
        if not chosen:
            raise DatasetError(
                f"{self.name} has no questions in the split {split!r}; it has {self._splits()}"
            )
        return chosen

    def _splits(self) -> str:
        there = Counter(pair for question in self.questions for pair in question.splits.items())
        shown = (value if key == "split" else f"{key}={value}" for key, value in sorted(there))
        return ", ".join(("all", *shown))


MAX_DATASET_BYTES = 1 << 28
"""Bytes of a file at most, as it is and unpacked."""

MAX_LINES = 2_000_000
"""Lines with something on them at most."""

JSON_START = re.compile(r"\s*(\{|\[\s*([{\[\]]|$))")
"""How JSON begins; MetaQA's text may begin with ``[`` too, with a name behind it."""

QUESTION_LIST_KEYS = ("Questions", "questions")
"""Where the documents of WebQSP and QALD keep their list."""

PARSER_POSITION = re.compile(r" at line (\d+) column (\d+)$")
"""How pydantic's reader of JSON ends a complaint."""

Unit = Literal["line", "record"]
Records = Iterator[tuple[int, Any]]


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """The records of a file, each with its number, and what the numbers count.

    A record is whatever JSON value the file has, or the tuple of fields of a line of text.
    They are read when they are asked for, once.
    """

    name: str
    digest: str
    unit: Unit
    records: Records

    def place(self, number: int) -> str:
        """Say where a record is: ``questions.jsonl, line 12``."""
        return f"{self.name}, {self.unit} {number}"


def read_question_file(path: Path, *, pipes: bool = True) -> QuestionFile:
    """Read a file, gzipped or not, in UTF-8 with or without a byte order mark; or such a pipe.

    Raises:
        DatasetError: if it is no file, damaged, no text, or no JSON where it looks like
            JSON; the lines of JSON lines are read, and may fail, later.
    """
    data = _read_bytes(path, pipes)
    name = one_line(path.name)
    return QuestionFile(
        name, hashlib.sha256(data).hexdigest(), *_split_records(_decode_text(data, name), name)
    )


def _read_bytes(path: Path, pipes: bool) -> bytes:
    shown = one_line(str(path))
    try:
        return read_file(path, MAX_DATASET_BYTES, pipes=pipes)
    except FileNotFoundError:
        raise DatasetError(f'no such question file: {shown}; "sample" names the sample questions') from None
    except IsADirectoryError:
        raise DatasetError(f"{shown} is a folder; name a question file") from None
    except OSError as error:
        raise DatasetError(f"cannot read {shown}: {error.strerror or error}") from error
    except ValueError as error:  # no file can have such a name
        raise DatasetError(f"cannot read {shown}: {error}") from error


def _decode_text(data: bytes, name: str) -> str:
    try:
        text = gunzip(data, MAX_DATASET_BYTES).decode("utf-8-sig")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DatasetError(f"{name}: damaged or incomplete gzip file ({error}); fetch it anew") from error
    except OSError as error:
        raise DatasetError(f"{name}: {error.strerror}; give it in parts") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{name}: not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    if not text or text.isspace():
        raise DatasetError(f"{name}: the file is empty")
    if "\0" in text:
        raise DatasetError(f"{name}: not text but binary; name a file of questions")
    return text


def _split_records(text: str, name: str) -> tuple[Unit, Records]:
    lines = list(islice(_numbered_lines(text), MAX_LINES + 1))
    if len(lines) > MAX_LINES:
        raise DatasetError(f"{name}: more than {MAX_LINES:,} lines; give it in parts")
    start, first = lines[0]
    if not JSON_START.match(first):
        if "\t" not in first:
            raise DatasetError(f"{name}: neither JSON nor tab-separated text; name a file of questions")
        return "line", ((number, tuple(line.split("\t"))) for number, line in lines)
    if first.startswith("{") and first.endswith("}") and len(lines) > 1:
        return "line", ((number, _parse_json(line, name, number)) for number, line in lines)
    document = _parse_json(text, name)
    listed = _records_of_document(document)
    return ("line", iter([(start, document)])) if listed is None else ("record", enumerate(listed, 1))


def _numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Go through the lines that are not blank; only a line feed ends one, as JSON has it."""
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace():
            yield number, line.strip("\r ")


def _parse_json(text: str, name: str, line: int = 1) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        reason = str(error)
        if where := PARSER_POSITION.search(reason):
            line += int(where[1]) - 1
            reason = f"{reason[: where.start()]} (column {where[2]})"
        raise DatasetError(f"{name}, line {line}: not readable as JSON: {reason}; mend the line") from error


def _records_of_document(document: Any) -> list[Any] | None:
    """Return the records of a document; None if it is a record itself."""
    if isinstance(document, dict):
        return next(
            (document[key] for key in QUESTION_LIST_KEYS if isinstance(document.get(key), list)), None
        )
    return document if isinstance(document, list) else None
