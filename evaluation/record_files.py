"""Reads files into records: files of questions, and JSON records, plain or gzipped."""

import csv
import gzip
import hashlib
import io
import json
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NoReturn

from pydantic_core import from_json

from kgqa.files import gunzip, read_file
from kgqa.kg.terms import one_line

MAX_DATASET_BYTES = 1 << 28  # bytes of a question file at most, as it is and unpacked
MAX_RECORDS_FILE_BYTES = 1 << 30  # bytes of a file of JSON records at most, as it is and unpacked
TABLE_COLUMNS = re.compile(
    r"id|question|topics?|topic_entities|answers?|split\w*|kind|level|hops|sparql", re.IGNORECASE
)
"""The columns of a table that are read; others are left out."""

JSON_SUFFIXES = re.compile(r"\.(jsonl|ndjson|json)(\.gz)?\Z", re.IGNORECASE)
YAML_SUFFIXES = re.compile(r"\.ya?ml(\.gz)?\Z", re.IGNORECASE)
TABLE_SUFFIXES = re.compile(r"\.csv(\.gz)?\Z", re.IGNORECASE)
MAX_LINES = 2_000_000  # lines of a question file with something on them at most
JSON_START = re.compile(r"\s*(\{|\[\s*([{\[\]]|$))")
"""How JSON begins; MetaQA's text may begin with ``[`` too, with a name behind it."""

LIST_OF_TEXTS = re.compile(r'\s*\[\s*"')

QUESTION_LIST_KEYS = ("Questions", "questions")  # where the documents of WebQSP and QALD keep their list
PARSER_POSITION = re.compile(r" at line (\d+) column (\d+)$")  # how pydantic's complaints about JSON end

Unit = Literal["line", "record"]
NumberedRecords = Iterator[tuple[int, Any]]
JsonObject = dict[str, Any]


class UnreadableFile(ValueError):
    """A file that does not hold records; the message is one line with the file and the place in it."""


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """The records of a file of questions, each with its number, and what the numbers count.

    A record is whatever JSON value the file has, or the tuple of fields of a line of text.
    They are read when they are asked for, once. ``digest`` is the SHA-256 of the bytes.
    """

    name: str
    digest: str
    unit: Unit
    records: NumberedRecords

    def place(self, number: int) -> str:
        """Say where a record is: ``questions.jsonl, line 12``."""
        return f"{self.name}, {self.unit} {number}"


def read_question_file(path: Path, *, pipes: bool = True) -> QuestionFile:
    """Read JSON lines, a JSON document, a table, or text with or without tabs, in UTF-8; or such a pipe."""
    shown, name = one_line(str(path)), one_line(path.name)
    try:
        data = read_file(path, MAX_DATASET_BYTES, pipes=pipes)
    except FileNotFoundError:
        raise UnreadableFile(f'no such question file: {shown}; "sample" names the sample questions') from None
    except IsADirectoryError:
        raise UnreadableFile(f"{shown} is a folder; name a question file") from None
    except (OSError, ValueError) as error:  # a ValueError: no file can have such a name
        raise UnreadableFile(f"cannot read {shown}: {getattr(error, 'strerror', None) or error}") from error
    unit, records = _split_records(_decode_text(data, name), name)
    return QuestionFile(name, hashlib.sha256(data).hexdigest(), unit, records)


def _decode_text(data: bytes, name: str) -> str:
    try:
        text = gunzip(data, MAX_DATASET_BYTES).decode("utf-8-sig")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableFile(f"{name}: damaged or incomplete gzip file ({error}); fetch it anew") from error
    except OSError as error:
        raise UnreadableFile(f"{name}: {error.strerror}; give it in parts") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{name}: not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    if not text or text.isspace():
        raise UnreadableFile(f"{name}: the file is empty")
    if "\0" in text:
        raise UnreadableFile(f"{name}: not text but binary; name a file of questions")
    return text


def _split_records(text: str, name: str) -> tuple[Unit, NumberedRecords]:
    if YAML_SUFFIXES.search(name):
        from kgqa.evaluation.datasets.text2sparql import read_challenge

        try:
            return "record", enumerate(read_challenge(text), 1)
        except ValueError as error:
            raise UnreadableFile(f"{name}: {error}") from None
    lines = list(islice(_numbered_lines(text), MAX_LINES + 1))
    if len(lines) > MAX_LINES:
        raise UnreadableFile(f"{name}: more than {MAX_LINES:,} lines; give it in parts")
    start, first = lines[0]
    if not (JSON_START.match(first) or (LIST_OF_TEXTS.match(first) and "\t" not in first)):
        if delimiter := _table_delimiter(first):
            return "line", _table_rows(text, name, delimiter)
        if "\t" in first:
            return "line", ((number, tuple(line.split("\t"))) for number, line in lines)
        if TABLE_SUFFIXES.search(name):
            return "line", _cells_of_one_column(lines, name)
        if JSON_SUFFIXES.search(name):
            raise UnreadableFile(f"{name}: neither JSON nor tab-separated text; name a file of questions")
        return "line", ((number, line.strip()) for number, line in lines)
    if first.startswith("{") and first.endswith("}") and len(lines) > 1:
        return "line", ((number, _parse_question(line, name, number)) for number, line in lines)
    document = _parse_question(text, name)
    places = map(document.get, QUESTION_LIST_KEYS) if isinstance(document, dict) else [document]
    found = next((place for place in places if isinstance(place, list)), None)
    return ("line", iter([(start, document)])) if found is None else ("record", enumerate(found, 1))


def _table_delimiter(first: str) -> str | None:
    """Return what is between the cells of a line of column names, one of them "question"; else None.

    >>> _table_delimiter("id,question"), _table_delimiter("Question;Note"), _table_delimiter("who is it?")
    (',', ';', None)
    """
    for delimiter in "\t", ",", ";":
        if "question" in [cell.strip().lower() for cell in _split_cells(first, delimiter)]:
            return delimiter
    return None


def _split_cells(line: str, delimiter: str = ",") -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error:  # a text, and longer than any cell, or with a break in it
        return [line]


def _cells_of_one_column(lines: list[tuple[int, str]], name: str) -> NumberedRecords:
    """Yield the lines of a table without a line of names, which can have one column only."""
    start, first = lines[0]
    if max(len(_split_cells(first, delimiter)) for delimiter in ",;") > 1:
        said = f"no column is called question, but {one_line(first, 80)!r}"
        raise UnreadableFile(f"{name}, line {start}: {said}; name the columns in the first line")
    for number, line in lines:
        cells = _split_cells(line)
        yield number, (cells[0] if len(cells) == 1 else line).strip()


def _table_rows(text: str, name: str, delimiter: str) -> NumberedRecords:
    """Yield each row as an object of the columns that are read; empty cells are left out, but for lists."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] = []
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            place = f"{name}, line {rows.line_num}"
            if not columns:
                columns = [cell.lower() for cell in cells]
                continue
            if len(cells) > len(columns):
                said = f"{len(cells)} cells, where {len(columns)} columns are named"
                raise UnreadableFile(f"{place}: {said}; put a text with {delimiter!r} in quotes")
            record = {
                column: cell
                for column, cell in zip(columns, cells, strict=False)
                if TABLE_COLUMNS.fullmatch(column) and (cell or column.startswith(("topic", "answer")))
            }
            if "question" not in record:
                raise UnreadableFile(f"{place}: no question in this row; write one, or take the row out")
            yield rows.line_num, record
    except csv.Error as error:
        raise UnreadableFile(f"{name}, line {rows.line_num}: no row of a table: {error}; mend it") from None


def _numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank; only a line feed ends one, as JSON has it."""
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.isspace():
            yield number, line.strip("\r ")


def _parse_question(text: str, name: str, line: int = 1) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        reason = str(error)
        if where := PARSER_POSITION.search(reason):
            line += int(where[1]) - 1
            reason = f"{reason[: where.start()]} (column {where[2]})"
        raise UnreadableFile(f"{name}, line {line}: not readable as JSON: {reason}; mend the line") from error


def read_json_records(path: Path) -> list[tuple[str, JsonObject]]:
    """Read the records of a file or pipe with where each stands (``line 3``, or ``record 3`` of a list).

    A last line without its line break that is no JSON is left out: whoever writes
    the file is still at it, or was killed. Lone surrogates become question marks.
    """
    shown = one_line(str(path))
    try:
        content = gunzip(read_file(path, MAX_RECORDS_FILE_BYTES, pipes=True), MAX_RECORDS_FILE_BYTES)
    except FileNotFoundError:
        raise UnreadableFile(f"no such file: {shown}") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UnreadableFile(f"cannot read {shown}: {one_line(str(why))}") from None
    if content.lstrip()[:1] == b"[":
        try:
            listed = enumerate(parse_json(content), 1)
            records = iter([(f"record {number}", record) for number, record in listed])
        except ValueError as error:
            raise UnreadableFile(f"{shown} is not JSON: {one_line(str(error))}") from None
    else:
        records = _parse_lines(shown, content)
    found = []
    for place, record in records:
        if not isinstance(record, dict):
            raise UnreadableFile(f"{shown}, {place}: a JSON object was expected")
        found.append((place, record))
    return found


def _parse_lines(shown: str, content: bytes) -> Iterator[tuple[str, Any]]:
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", parse_json(line)
        except ValueError as error:
            if number == len(lines) and line.lstrip()[:1] == b"{":
                return
            raise UnreadableFile(f"{shown}, line {number}: not JSON: {one_line(str(error))}") from None


def parse_json(content: bytes) -> Any:
    """Parse JSON, without NaN and infinity; lone surrogates become question marks."""
    try:
        parsed = json.loads(content, parse_constant=_refuse_constant, parse_float=_parse_finite)
        if b"\\ud" in content or b"\\uD" in content:
            return json.loads(json.dumps(parsed, ensure_ascii=False).encode("utf-8", "replace"))
        return parsed
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _parse_finite(number: str) -> float:
    if math.isinf(value := float(number)):
        raise ValueError(f"{number} is too large a number")
    return value
