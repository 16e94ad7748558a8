"""The records of a run, in files of JSON lines that a killed process leaves whole but for their last line.

What is reproducible of a record stands on one line, its times on another. Lines are not
synced to the disk one by one: the kernel keeps what a process has written when the process
is killed, and only a machine that goes down could lose the last seconds, which a resume asks
again.
"""

import errno
import json
import os
import stat
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from kgqa.evaluation.question import Question
from kgqa.evaluation.result import OUTAGE_OUTCOMES
from kgqa.kg.terms import one_line
from kgqa.runtime.record import Record, Ref, zero_spend

Json = Mapping[str, Any]

TIME_FIELDS = ("seconds", "seconds_llm", "seconds_kg")  # what of a record's usage differs from run to run
MAX_ERROR_CHARS = 1000  # characters that a record says at most about an exception


class RunError(ValueError):
    """A run that cannot begin or go on; the message is one line that says what to do."""


class AskedRecord(NamedTuple):
    """The record of a question, and its lines for ``timings.jsonl`` and ``results.jsonl``."""

    record: Json
    times_line: bytes
    record_line: bytes


def json_line(value: Json) -> bytes:
    """Write JSON on one line, keys in their order; a lone surrogate is escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False).encode() + b"\n"


def asked_record(record: Json) -> AskedRecord:
    """Write the lines of a record."""
    usage = record["usage"]
    times = {"id": record["id"], **{key: usage[key] for key in TIME_FIELDS}}
    timeless = {**record, "usage": {**usage, **dict.fromkeys(TIME_FIELDS)}}
    return AskedRecord(record, json_line(times), json_line(timeless))


def failed_record(question: Question, config: Json, error: Exception) -> AskedRecord:
    """Make the record of a question that failed by an exception which no method expects.

    What it has cost until then is unknown: null, not 0.
    """
    said = str(error).encode("utf-8", "replace").decode()
    record = {
        **dict.fromkeys(Record.__annotations__),
        **{key: [] for key in ("answers", "paths", "evidence", "conditions", "trace")},
        **{"id": question.id, "question": question.text, "method": config["method"]},
        **{"topics": topic_refs(question), "outcome": "none"},
        **{"usage": dict.fromkeys(zero_spend()), "config": config},
        "error": one_line(f"{type(error).__name__}: {said}", MAX_ERROR_CHARS),
    }
    return asked_record(record)


def topic_refs(question: Question) -> list[Ref]:
    """Return the topic entities of a question as a method takes them."""
    return [{"id": topic.id, "name": topic.name} for topic in question.topics]


def is_failed(record: Json) -> bool:
    """Return whether a question was not really tried: an exception, or an outage."""
    return "error" in record or record.get("outcome") in tuple(OUTAGE_OUTCOMES)  # it may have no hash


def failure_reason(record: Json) -> str:
    """Say in one line why a question failed."""
    said = [entry["error"] for entry in record["trace"] if "error" in entry]
    return str(record.get("error") or (said[-1] if said else record["outcome"]))


class AppendLog:
    """A file to whose end whole lines are added."""

    def __init__(self, path: Path) -> None:
        self._file = _open_descriptor(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._size = os.fstat(self._file).st_size

    def append(self, line: bytes) -> None:
        """Add a line, whole or not at all."""
        left = line
        try:
            while left:
                written = os.write(self._file, left)
                if not written:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                left = left[written:]
        except OSError:
            with suppress(OSError):  # `repair_tail` cuts what stays
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn what the disk refuses, an OSError, into a RunError of one line."""
    try:
        yield
    except OSError as error:
        raise RunError(
            f"cannot use {error.filename or path}: {error.strerror or error}; what is recorded stays: "
            "make room or give another --out, and repeat the command"
        ) from None


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; a pipe or a device, which may never end, is an OSError."""
    return open(path, "rb", opener=_open_descriptor)


def _open_descriptor(path: str | Path, flags: int) -> int:
    """Open a regular file, made if the flags say so; a pipe is not waited for."""
    file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "no regular file", str(path))
    return file


def repair_tail(path: Path) -> None:
    """Cut off a last line that was not written to its end; end one that only lacks its line break."""
    if not path.exists():
        return
    with open_regular(path) as file:
        tail = b"".join(deque(file, maxlen=1))
    if not tail or tail.endswith(b"\n"):
        return
    if _parse_object(tail) is None:
        os.truncate(path, path.stat().st_size - len(tail))
    else:
        log = AppendLog(path)
        log.append(b"\n")
        log.close()


def read_records(path: Path, *, skip_torn: bool = False) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Return the objects of a file with their lines; an error names the line that is none.

    With ``skip_torn`` a last line that was not written to its end, which `repair_tail` would cut, is none.
    """
    if not path.exists():
        return
    with open_regular(path) as file:
        for number, line in enumerate(file, start=1):
            found = _parse_object(line)
            if found is None and skip_torn and not line.endswith(b"\n"):
                return
            if found is None or not isinstance(found.get("id"), str):
                raise RunError(
                    f"{path}, line {number}: no record; delete the line, and its question is asked again"
                )
            yield found, line


def _parse_object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
