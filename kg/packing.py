"""Compressed files: by which name they are told, how they are opened, what a damaged one raises."""

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import Any

MAX_XZ_BYTES = 1 << 28  # of memory to unpack an .xz: by `xz -9` it takes 65 MiB; its header may ask for 4 GiB


class _XzFile(io.RawIOBase):
    """Unpacks an .xz, of which `lzma.open` knows no limit of memory."""

    def __init__(self, path: Path) -> None:
        self._file, self._decoder, self._rest = path.open("rb"), _xz_decoder(), b""
        self.fileno = self._file.fileno  # type: ignore[method-assign]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            if not self._rest and (self._decoder.needs_input or self._decoder.eof):
                self._rest = self._file.read(io.DEFAULT_BUFFER_SIZE)
                if not self._rest and self._decoder.eof:
                    return 0
                if not self._rest:
                    raise EOFError("it ends before its end is marked")
            if self._decoder.eof:  # more may follow, after zeros
                self._rest = self._rest.lstrip(b"\0")
                self._decoder = _xz_decoder() if self._rest else self._decoder
                continue
            data = self._decoder.decompress(self._rest, len(buffer))
            self._rest = self._decoder.unused_data
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _xz_decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=MAX_XZ_BYTES)


def _open_xz(path: Path, _: str) -> io.BufferedReader:
    return io.BufferedReader(_XzFile(path))


_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": _open_xz}

PACKED_SUFFIXES = tuple(_OPENERS)

DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
"""What is raised where a file is damaged, beside an `OSError` of bz2."""

_BZ2_DAMAGE = ("Invalid data stream",)  # what that says; a full disk is an `OSError` without a number, too


def is_damage(error: Exception) -> bool:
    """Return whether an error of reading a file says that it is damaged, or not all there."""
    return isinstance(error, DAMAGE) or (isinstance(error, OSError) and error.args == _BZ2_DAMAGE)


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
