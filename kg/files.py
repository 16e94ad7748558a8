"""Reads files that somebody else may have put there, whole, but never without end."""

import errno
import gzip
import io
import os
import stat
from pathlib import Path

GZIP = b"\x1f\x8b"
"""How a gzipped file begins."""

LARGEST = 1 << 32
"""Bytes of a file at most."""


def read_file(path: Path, most: int = LARGEST) -> bytes:
    """Read a file as it is.

    Raises:
        OSError: if it is missing, too large, or no regular file: a pipe or device may never end.
        ValueError: if there can be no such path.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        if about.st_size > most:
            raise OSError(errno.EFBIG, f"more than {most:,} bytes", str(path))
        return file.read(most)


def unpacked(data: bytes, most: int = LARGEST) -> bytes:
    """Give what a gzipped file holds; what is not gzipped as it is.

    Raises:
        OSError: if it holds too much, or is damaged.
        EOFError, zlib.error: if it is damaged.
    """
    if not data.startswith(GZIP):
        return data
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"more than {most:,} bytes when unpacked")
    return found


def _without_waiting(path: str, flags: int) -> int:
    """Open a pipe, too, at once, though nobody writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
