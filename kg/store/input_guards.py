"""Guards of the parsers of RDF: XML that grows or is nested deep, and triples quoted within each other.

The parsers of RDF/XML and TriX keep what is open, and write entities out, whatever that takes; a
file of a kilobyte can ask for all memory there is (billion laughs). Here a parser that keeps
nothing, expat, reads ahead of them.

pyoxigraph follows ``<<( s p <<( s p o )>> )>>`` by recursion, and ends the process where that goes too
deep. A file that may go deep is first read through by a process of its own, in a thread with a small
stack: what passes there is safe here.
"""

import os
import subprocess
import sys
import threading
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from kgqa.kg.store.sandbox import start_module

if TYPE_CHECKING:
    from _typeshed import SupportsRead

MAX_ELEMENT_DEPTH = 500

MAX_XML_PIECE_BYTES = 1 << 24
"""Bytes of one piece of markup or text at most, as pyoxigraph has it for other formats."""

MAX_ENTITY_CHARS = 1_000  # characters that an entity stands for at most: it shortens namespaces
MAX_EXPANDED_CHARS = 1 << 20  # characters of a text or an attribute at most in a file that has entities


XML_BLOCK_BYTES = 1 << 16


class XmlGuard:
    """A file of XML, each block of which is looked through before it is given."""

    def __init__(self, file: "SupportsRead[bytes]") -> None:
        self._file, self._ahead = file, BytesIO()
        # whatever else it says it is in: rdflib decodes bytes so, and pyoxigraph refuses anything else
        self._parser = expat.ParserCreate("UTF-8")
        self._depth = self._text = self._bytes_fed = 0
        self._max_chars = MAX_XML_PIECE_BYTES
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element
        self._parser.CharacterDataHandler = self._read_text
        self._parser.EntityDeclHandler = self._read_entity

    def read(self, size: int = -1) -> bytes:
        """Read on; nothing more ends the file; raise SyntaxError if it is no XML, too deep, or would grow."""
        if not (data := self._ahead.read(size)):
            # expat reads a piece from its start again with every block, so blocks grow with the piece
            self._ahead = BytesIO(block := self._file.read(max(XML_BLOCK_BYTES, self._unread)))
            self._feed(block)
            data = self._ahead.read(size)
        return data

    @property
    def _unread(self) -> int:
        """Bytes of a piece that has begun."""
        return self._bytes_fed - max(0, self._parser.CurrentByteIndex)

    def _feed(self, block: bytes) -> None:
        self._bytes_fed += len(block)
        try:
            self._parser.Parse(block, not block)
        except expat.ExpatError as error:
            raise SyntaxError(str(error)) from error
        if self._unread > MAX_XML_PIECE_BYTES:
            raise SyntaxError(f"a piece of more than {MAX_XML_PIECE_BYTES:,} bytes")

    def _start_element(self, _: str, attributes: dict[str, str]) -> None:
        self._depth, self._text = self._depth + 1, 0
        if self._depth > MAX_ELEMENT_DEPTH:
            raise SyntaxError(f"more than {MAX_ELEMENT_DEPTH} elements within each other")
        if sum(map(len, attributes.values())) > self._max_chars:
            raise SyntaxError(f"attributes of more than {self._max_chars:,} characters")

    def _end_element(self, _: str) -> None:
        self._depth, self._text = self._depth - 1, 0

    def _read_text(self, text: str) -> None:
        self._text += len(text)
        if self._text > self._max_chars:
            raise SyntaxError(f"a text of more than {self._max_chars:,} characters")

    def _read_entity(self, name: str, _: bool, value: str | None, *__: str | None) -> None:
        self._max_chars = MAX_EXPANDED_CHARS
        if value is None:
            raise SyntaxError(f"the entity {name[:40]} is outside of the file, which is not looked at")
        if len(value) > MAX_ENTITY_CHARS or "&" in value:
            raise SyntaxError(
                f"the entity {name[:40]} may be {MAX_ENTITY_CHARS:,} characters, and no other entity"
            )


STACK_BYTES = 1 << 18  # bytes; threads have 8 MB, on some systems half of one
QUOTED_TRIPLE = b"<<("  # how a triple within a triple begins; ``<<`` alone names one, and nests nothing
SAFE_NESTING = 100  # triples within each other that are safe anywhere: `STACK_BYTES` bears some 500

MIN_SECONDS, MIN_BYTES_PER_SECOND = 60, 100_000
"""Seconds that a file may be read through, and the bytes of it, packed or not, for which it has one more."""


class NestingDepth:
    """Follows a text, a block at a time: how deep its triples may be nested at most.

    Nothing is understood of the text: what is written in a string or a comment counts as well, and
    nothing closes what was opened but, where they have a meaning, the ends of lines.
    """

    def __init__(self, *, lines: bool) -> None:
        self._lines = lines
        self._open, self._last = 0, b""

    def max_depth(self, block: bytes) -> int:
        """Return the depth that may be reached in this block."""
        text = self._last + block
        self._last = text[1 - len(QUOTED_TRIPLE) :]
        if QUOTED_TRIPLE not in text:
            self._open = 0 if self._lines and b"\n" in block else self._open
            return self._open
        first, *others = text.split(b"\n") if self._lines else (text,)
        depths = [self._open + first.count(QUOTED_TRIPLE), *(line.count(QUOTED_TRIPLE) for line in others)]
        self._open = depths[-1]
        return max(depths)


def check_nesting(path: Path) -> None:
    """Read a file through in a process of its own.

    Raises:
        SyntaxError: if that overflows the stack, or does not end.
        OSError: if the file is gone, or no process can be begun.
    """
    seconds = MIN_SECONDS + path.stat().st_size / MIN_BYTES_PER_SECOND
    with start_module("kgqa.kg.store.input_guards") as process:
        try:
            process.communicate(os.fsencode(path.absolute()), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise SyntaxError(
                "triples are quoted within each other and take too long to look through"
            ) from None
        finally:
            process.kill()
    if process.returncode:
        raise SyntaxError("triples are quoted within each other too deeply")


def _parse_in_small_stack() -> None:
    from kgqa.kg.store.loading import parse_only

    path = Path(os.fsdecode(sys.stdin.buffer.read()))
    threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=parse_only, args=(path,))
    thread.start()
    thread.join()


if __name__ == "__main__":
    _parse_in_small_stack()
