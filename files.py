"""Reads files that somebody else may have put there, whole, but never without end; and writes their names."""

import errno
import gzip
import io
import os
import stat
from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"  # how a gzipped file begins
MAX_FILE_BYTES = 1 << 32  # of a file; a larger one is refused
BLOCK_BYTES = 1 << 20  # bytes that are read at a time: of a pipe nobody knows how many there are


def read_file(path: Path, max_bytes: int = MAX_FILE_BYTES, *, pipes: bool = False) -> bytes:
    """Read a file of at most ``max_bytes``, or of ``pipes`` one to its end, waiting for its writer.

    Only a path that the user has named may be a pipe: one that is found somewhere may wait for ever.

    Raises:
        OSError: if it is missing, too large, a folder or a device, which may never end.
        ValueError: if there can be no such path.
    """
    waited_for = pipes and stat.S_ISFIFO(os.stat(path).st_mode)
    with open(path, "rb", buffering=0, opener=None if waited_for else _without_waiting) as file:
        about = os.fstat(file.fileno())
        if not (stat.S_ISREG(about.st_mode) or (waited_for and stat.S_ISFIFO(about.st_mode))):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        found = _read_up_to(file, max_bytes) if about.st_size <= max_bytes else None
    if found is None:
        raise OSError(errno.EFBIG, f"more than {max_bytes:,} bytes", str(path))
    return found


def _read_up_to(file: io.FileIO | gzip.GzipFile, max_bytes: int) -> bytes | None:
    """Read to the end; None where that is too far."""
    held = io.BytesIO()
    while part := file.read(BLOCK_BYTES):
        if held.tell() + len(part) > max_bytes:
            return None
        held.write(part)
    return held.getvalue()


def gunzip(data: bytes, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Return what a gzipped file holds; what is not gzipped as it is.

    Raises:
        OSError, EOFError, zlib.error: if it holds too much, or is damaged.
    """
    if not data.startswith(GZIP_MAGIC):
        return data
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        found = _read_up_to(file, max_bytes)
    if found is None:
        raise OSError(errno.EFBIG, f"more than {max_bytes:,} bytes when unpacked")
    return found


def printable_path(path: str) -> str:
    r"""Write a path as it is, so that it can be copied; only what could command a terminal is escaped.

    >>> print(printable_path("my  runs/\x1b[2J"))
    my  runs/\x1b[2J
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)


def _without_waiting(path: str, flags: int) -> int:
    """Open a pipe, too, at once, though nobody writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
