"""Files of JSON lines that a killed process leaves whole but for their last line.

Lines are not synced to the disk one by one: the kernel keeps what a process has
written when the process is killed, and only a machine that goes down could lose
the last seconds, which a resume asks again.
"""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from kgqa.evaluation.runs.errors import RunError


class Log:
    """A file to whose end whole lines are added.

    Raises:
        OSError: if it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
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


def recover(path: Path) -> None:
    """Cut off a last line that was not written to its end; end one that only lacks its line break.

    Raises:
        OSError: if the file cannot be read or written.
    """
    if not path.exists():
        return
    content = path.read_bytes()
    tail = content[content.rfind(b"\n") + 1 :]
    if not tail:
        return
    if _object(tail) is None:
        os.truncate(path, len(content) - len(tail))
    else:
        log = Log(path)
        log.append(b"\n")
        log.close()


def read(path: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Give the objects of a file with their lines.

    Raises:
        RunError: naming the line that is no JSON object.
        OSError: if the file cannot be read.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            found = _object(line)
            if found is None or not isinstance(found.get("id"), str):
                raise RunError(
                    f"{path}, line {number}: no record; delete the line, and its question is asked again"
                )
            yield found, line


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def replace(path: Path, content: bytes) -> None:
    """Replace a file at once: whoever reads it, also after a crash, sees the old one or the new one.

    Raises:
        OSError: if there is no room; the old one stays.
    """
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
