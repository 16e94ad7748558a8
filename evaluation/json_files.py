"""JSON records of a file: one a line, or all in a list, plain or gzipped."""

import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from kgqa.files import gunzip, read_file
from kgqa.kg.terms import one_line

MAX_RECORDS_FILE_BYTES = 1 << 30
"""Bytes of a file at most, as it is and unpacked."""

Record = dict[str, Any]


class UnreadableFile(ValueError):
    """A file that is not JSON records; the message is one line with the file and the place in it."""


def read_json_records(path: Path) -> list[tuple[str, Record]]:
    """Read the records of a file or pipe with where each stands (``line 3``, or ``record 3`` of a list).

    A last line without its line break that is no JSON is left out: whoever writes
    the file is still at it, or was killed. Lone surrogates become question marks.

    Raises:
        Unreadable: if the file cannot be read, or something in it is not a JSON object.
    """
    content = _read_content(path)
    if content.lstrip()[:1] == b"[":
        return list(_parse_list(path, content))
    return list(_parse_lines(path, content))


def _read_content(path: Path) -> bytes:
    try:
        return gunzip(read_file(path, MAX_RECORDS_FILE_BYTES, pipes=True), MAX_RECORDS_FILE_BYTES)
    except FileNotFoundError:
        raise UnreadableFile(f"no such file: {_printable_path(path)}") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UnreadableFile(f"cannot read {_printable_path(path)}: {one_line(str(why))}") from None


def _parse_list(path: Path, content: bytes) -> Iterator[tuple[str, Record]]:
    try:
        records = parse_json(content)
    except ValueError as error:
        raise UnreadableFile(f"{_printable_path(path)} is not JSON: {one_line(str(error))}") from None
    for number, record in enumerate(records, start=1):
        yield f"record {number}", _require_object(path, f"record {number}", record)


def _parse_lines(path: Path, content: bytes) -> Iterator[tuple[str, Record]]:
    *lines, last = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate([*lines, last], start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
        except ValueError as error:
            if number > len(lines) and line.lstrip()[:1] == b"{":
                return
            raise UnreadableFile(
                f"{_printable_path(path)}, line {number}: not JSON: {one_line(str(error))}"
            ) from None
        yield f"line {number}", _require_object(path, f"line {number}", record)


def _require_object(path: Path, place: str, record: Any) -> Record:
    if not isinstance(record, dict):
        raise UnreadableFile(f"{_printable_path(path)}, {place}: a JSON object was expected")
    return record


def parse_json(content: bytes) -> Any:
    """Parse JSON; lone surrogates become question marks.

    Raises:
        ValueError: for what is none, and for NaN, nesting without end, and numbers that no float holds.
    """
    try:
        parsed = json.loads(content, parse_constant=_refuse_constant, parse_float=_parse_finite)
        if b"\\ud" in content or b"\\uD" in content:
            whole = json.dumps(parsed, ensure_ascii=False).encode("utf-8", "replace")
            return json.loads(whole)
        return parsed
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _parse_finite(number: str) -> float:
    if math.isinf(value := float(number)):
        raise ValueError(f"{number} is too large a number")
    return value


def _printable_path(path: Path) -> str:
    return one_line(str(path))
