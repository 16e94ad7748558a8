"""Compressed files: by which name they are told, how they are opened, what a damaged one raises."""

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import Any

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

PACKED_SUFFIXES = tuple(_OPENERS)

DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
"""What is raised where a file is damaged, beside the `OSError` of bz2, which has no number."""


def is_damage(error: Exception) -> bool:
    """Return whether an error of reading a file says that it is damaged, or not all there."""
    return isinstance(error, DAMAGE) or (isinstance(error, OSError) and error.errno is None)


def is_packed(path: Path) -> bool:
    """Return whether a file is compressed, by its name."""
    return path.suffix.lower() in _OPENERS


def unpacked_suffix(path: Path) -> str:
    """Return the suffix of what a file holds, in lower case.

    >>> unpacked_suffix(Path("films.TTL.bz2")), unpacked_suffix(Path("films.csv"))
    ('.ttl', '.csv')
    """
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


def open_packed(path: Path) -> io.BufferedReader:
    """Open a file to read what it holds."""
    opened: io.BufferedReader = _OPENERS.get(path.suffix.lower(), Path.open)(path, "rb")
    return opened
