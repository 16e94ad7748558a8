"""Bodies of HTTP answers, unpacked no further than a limit: a few packed bytes may stand for gigabytes."""

import zlib
from collections.abc import Iterator

PACKED = "gzip, deflate"
"""What servers may pack an answer with; only what can be unpacked block by block is asked for."""

BLOCK = 1 << 18
"""Bytes that are unpacked at a time."""

_GZIP = 16 + zlib.MAX_WBITS
_ALONE = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": zlib.MAX_WBITS}
_MEMBER = b"\x1f\x8b"


class UnreadableBody(ConnectionError):
    """A body that is packed in a way that was not asked for, or torn; the next may be better."""


class TooLarge(Exception):
    """A body that is larger than its limit."""


class Body:
    """Takes the blocks of one body as they come over the wire, and gives them as they were before.

    Args:
        encoding: The answer's ``Content-Encoding``.
        most: Bytes that it may have in all, unpacked.

    Raises:
        UnreadableBody: if it is packed in a way that was not asked for.
    """

    def __init__(self, encoding: str, most: int) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", *_ALONE):
            raise UnreadableBody(f"an answer packed as {name[:40]}, which was not asked for")
        self._most, self._size = most, 0
        self._bits = _ALONE.get(name, 0)
        self._unpacking = zlib.decompressobj(self._bits) if self._bits else None
        self._begun = b""

    def blocks(self, packed: bytes) -> Iterator[bytes]:
        """Give what a block stands for.

        Raises:
            TooLarge: as soon as the body is larger than its limit.
            UnreadableBody: if it cannot be unpacked.
        """
        for block in self._unpacked(packed) if self._unpacking else (packed,):
            self._size += len(block)
            if self._size > self._most:
                raise TooLarge(f"the answer is larger than {self._most >> 20} MB")
            yield block

    def end(self) -> None:
        """Tell that no block follows.

        Raises:
            UnreadableBody: if the packed body is not whole.
        """
        if self._unpacking and self._size and not self._unpacking.eof:
            raise UnreadableBody("an answer that cannot be unpacked: its end is missing")

    def _unpacked(self, packed: bytes) -> Iterator[bytes]:
        block = b""
        while self._unpacking and (packed or (len(block) == BLOCK and not self._unpacking.eof)):
            if self._unpacking.eof and not (packed := self._next(packed)):
                return
            try:
                block = self._unpacking.decompress(packed, BLOCK)
            except zlib.error as error:
                if self._size or self._bits != zlib.MAX_WBITS:
                    raise UnreadableBody(f"an answer that cannot be unpacked: {error}") from None
                self._bits = -zlib.MAX_WBITS  # some servers leave out the frame of "deflate"
                self._unpacking = zlib.decompressobj(self._bits)
                continue
            packed = self._unpacking.unused_data if self._unpacking.eof else self._unpacking.unconsumed_tail
            yield block

    def _next(self, packed: bytes) -> bytes:
        """Begin another member of gzip where one follows; what else follows an end is no part of a body."""
        packed = (self._begun + packed).lstrip(b"\0")
        self._begun = packed if packed == _MEMBER[:1] else b""
        if not packed or self._begun:
            return b""
        if self._bits != _GZIP or not packed.startswith(_MEMBER):
            self._bits = 0
            return b""
        self._unpacking = zlib.decompressobj(self._bits)
        return packed
