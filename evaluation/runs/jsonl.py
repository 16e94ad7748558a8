"""Files of JSON lines that a killed process leaves whole but for their last line.

Lines are not synced to the disk one by one: the kernel keeps what a process has
written when the process is killed, and only a machine that goes down could lose
the last seconds, which a resume asks again.
"""

import errno
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from kgqa.evaluation.runs.records import RecordLines


class RunError(ValueError):
    """A run that cannot begin or go on; the message is one line that says what to do."""


BLOCK_BYTES = 1 << 20
"""Bytes that are read of a file at a time."""


class AppendLog:
    """A file to whose end whole lines are added.

    Raises:
        OSError: if it cannot be written, or is no regular file.
    """

    def __init__(self, path: Path) -> None:
        self._file = _open_descriptor(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._size = os.fstat(self._file).st_size

    def append(self, line: bytes) -> None:
        """Add a line, whole or not at all.

        Raises:
            OSError: if there is no room; what is in the file stays as it was.
        """
        try:
            self._write(line)
        except OSError:
            with suppress(OSError):  # `recover` cuts what stays
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)

    def _write(self, line: bytes) -> None:
        written = 0
        while written < len(line):
            wrote = os.write(self._file, line[written:])
            if not wrote:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written += wrote

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises:
        OSError: if it cannot be read, or is a pipe or a device, which may never end.
    """
    return open(path, "rb", opener=_open_descriptor)


def _open_descriptor(path: str | Path, flags: int) -> int:
    """Open a regular file, made if the flags say so; a pipe is not waited for."""
    file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "no regular file", str(path))
    return file


def repair_tail(path: Path) -> None:
    """Cut off a last line that was not written to its end; end one that only lacks its line break.

    Raises:
        OSError: if the file cannot be read or written.
    """
    if not path.exists():
        return
    tail = _read_tail(path)
    if not tail:
        return
    if _parse_object(tail) is None:
        os.truncate(path, path.stat().st_size - len(tail))
    else:
        log = AppendLog(path)
        log.append(b"\n")
        log.close()


def count_lines(path: Path) -> int:
    """Count the line breaks of a file."""
    with open_regular(path) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK_BYTES), b""))


def _read_tail(path: Path) -> bytes:
    """Return what stands after the last line break of a file."""
    tail = b""
    with open_regular(path) as file:
        start = file.seek(0, os.SEEK_END)
        while start and b"\n" not in tail:
            end, start = start, max(0, start - BLOCK_BYTES)
            file.seek(start)
            tail = file.read(end - start) + tail
    return tail[tail.rfind(b"\n") + 1 :]


def read_records(path: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Return the objects of a file with their lines.

    Raises:
        RunError: naming the line that is no JSON object.
        OSError: if the file cannot be read.
    """
    if not path.exists():
        return
    with open_regular(path) as file:
        for number, line in enumerate(file, start=1):
            found = _parse_object(line)
            if found is None or not isinstance(found.get("id"), str):
                raise RunError(
                    f"{path}, line {number}: no record; delete the line, and its question is asked again"
                )
            yield found, line


def read_records_with_offsets(path: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Return the objects of a file with the byte at which each one's line begins; see `read`."""
    start = 0
    for found, line in read_records(path):
        yield found, start
        start += len(line)


def read_line_at(file: BinaryIO, start: int) -> bytes:
    """Read the line that begins at a byte."""
    file.seek(start)
    return file.readline()


def _parse_object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def replace_file(path: Path, parts: Iterable[bytes]) -> None:
    """Replace a file at once: whoever reads it, also after a crash, sees the old one or the new one.

    Whoever may read and write it may do so ever after.
    It is written beside its place first, and where a link stands there, not to what the link leads to.

    Raises:
        OSError: if there is no room; the old one stays.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        new.unlink(missing_ok=True)
        with new.open("xb") as file:
            with suppress(OSError):  # there is no old one, or no modes on this disk
                shutil.copymode(path, new)
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise


class Writer:
    """Adds records to a run; close it."""

    def __init__(self, path: Path, logs: Sequence[AppendLog]) -> None:
        self._path, self._logs = path, logs

    def add(self, lines: RecordLines) -> None:
        """Add a record, its times first, so that no record is without them.

        Raises:
            RunError: if there is no room; what is in the files stays whole.
        """
        with writing(self._path):
            for log, line in zip(self._logs, lines, strict=True):
                log.append(line)

    def close(self) -> None:
        """Close the files."""
        for log in self._logs:
            log.close()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the disk refuses into one line.

    Raises:
        RunError: in place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise RunError(
            f"cannot use {error.filename or path}: {error.strerror or error}; what is recorded stays: "
            "make room or give another --out, and repeat the command"
        ) from None
