"""Reads a question file into records: JSON lines, a JSON document or tab-separated text."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic_core import from_json

from kgqa.evaluation.datasets.dataset import DatasetError
from kgqa.kg.files import read_file, unpacked
from kgqa.kg.terms import one_line

LARGEST = 1 << 28
"""Bytes of a file at most, as it is and unpacked."""

LINES = 2_000_000
"""Lines with something on them at most."""

JSON_START = re.compile(r"\s*(\{|\[\s*([{\[\]]|$))")
"""How JSON begins; MetaQA's text may begin with ``[`` too, with a name behind it."""

LISTS = ("Questions", "questions")
"""Where the documents of WebQSP and QALD keep their list."""

PLACE = re.compile(r" at line (\d+) column (\d+)$")
"""How pydantic's reader of JSON ends a complaint."""

Unit = Literal["line", "record"]
Records = Iterator[tuple[int, Any]]


@dataclass(frozen=True, slots=True)
class Source:
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


def read_source(path: Path, *, pipes: bool = True) -> Source:
    """Read a file, gzipped or not, in UTF-8 with or without a byte order mark; or such a pipe.

    Raises:
        DatasetError: if it is no file, damaged, no text, or no JSON where it looks like
            JSON; the lines of JSON lines are read, and may fail, later.
    """
    data = _bytes(path, pipes)
    name = one_line(path.name)
    return Source(name, hashlib.sha256(data).hexdigest(), *_records(_text(data, name), name))


def _bytes(path: Path, pipes: bool) -> bytes:
    shown = one_line(str(path))
    try:
        return read_file(path, LARGEST, pipes=pipes)
    except FileNotFoundError:
        raise DatasetError(f'no such question file: {shown}; "sample" names the sample questions') from None
    except IsADirectoryError:
        raise DatasetError(f"{shown} is a folder; name a question file") from None
    except OSError as error:
        raise DatasetError(f"cannot read {shown}: {error.strerror or error}") from error
    except ValueError as error:  # no file can have such a name
        raise DatasetError(f"cannot read {shown}: {error}") from error


def _text(data: bytes, name: str) -> str:
    try:
        text = unpacked(data, LARGEST).decode("utf-8-sig")
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


def _records(text: str, name: str) -> tuple[Unit, Records]:
    lines = list(islice(_lines(text), LINES + 1))
    if len(lines) > LINES:
        raise DatasetError(f"{name}: more than {LINES:,} lines; give it in parts")
    start, first = lines[0]
    if not JSON_START.match(first):
        if "\t" not in first:
            raise DatasetError(f"{name}: neither JSON nor tab-separated text; name a file of questions")
        return "line", ((number, tuple(line.split("\t"))) for number, line in lines)
    if first.startswith("{") and first.endswith("}") and len(lines) > 1:
        return "line", ((number, _json(line, name, number)) for number, line in lines)
    document = _json(text, name)
    listed = _listed(document)
    return ("line", iter([(start, document)])) if listed is None else ("record", enumerate(listed, 1))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Go through the lines that are not blank; only a line feed ends one, as JSON has it."""
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace():
            yield number, line.strip("\r ")


def _json(text: str, name: str, line: int = 1) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        reason = str(error)
        if where := PLACE.search(reason):
            line += int(where[1]) - 1
            reason = f"{reason[: where.start()]} (column {where[2]})"
        raise DatasetError(f"{name}, line {line}: not readable as JSON: {reason}; mend the line") from error


def _listed(document: Any) -> list[Any] | None:
    """Give the records of a document; None if it is a record itself."""
    if isinstance(document, dict):
        return next((document[key] for key in LISTS if isinstance(document.get(key), list)), None)
    return document if isinstance(document, list) else None
