"""Looks through XML before it is parsed as RDF: how deep it is, and what it would grow to.

The parsers of RDF/XML and TriX keep what is open, and write entities out, whatever that takes; a
file of a kilobyte can ask for all memory there is (billion laughs). Here a parser that keeps
nothing, expat, reads ahead of them.
"""

from io import BytesIO
from typing import TYPE_CHECKING
from xml.parsers import expat

if TYPE_CHECKING:
    from _typeshed import SupportsRead

DEEPEST = 500
"""Elements within elements at most."""

TEXT = 1 << 24
"""Bytes of one piece of markup or text at most, as pyoxigraph has it for other formats."""

ENTITY = 1_000
"""Characters that an entity stands for at most: it shortens namespaces."""

WRITTEN_OUT = 1 << 20
"""Characters of a text or an attribute at most in a file that has entities."""


BLOCK = 1 << 16


class Markup:
    """A file of XML, each block of which is looked through before it is given.

    Args:
        file: open for reading, binary.
    """

    def __init__(self, file: "SupportsRead[bytes]") -> None:
        self._file, self._ahead = file, BytesIO()
        # whatever else it says it is in: rdflib decodes bytes so, and pyoxigraph refuses anything else
        self._parser = expat.ParserCreate("UTF-8")
        self._depth = self._text = self._fed = 0
        self._most = TEXT
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._close
        self._parser.CharacterDataHandler = self._said
        self._parser.EntityDeclHandler = self._declared

    def read(self, size: int = -1) -> bytes:
        """Read on; nothing more ends the file.

        Raises:
            SyntaxError: if it is no XML, too deep, or would grow.
        """
        if not (data := self._ahead.read(size)):
            # expat reads a piece from its start again with every block, so blocks grow with the piece
            self._ahead = BytesIO(block := self._file.read(max(BLOCK, self._unread)))
            self._feed(block)
            data = self._ahead.read(size)
        return data

    @property
    def _unread(self) -> int:
        """Bytes of a piece that has begun."""
        return self._fed - max(0, self._parser.CurrentByteIndex)

    def _feed(self, block: bytes) -> None:
        self._fed += len(block)
        try:
            self._parser.Parse(block, not block)
        except expat.ExpatError as error:
            raise SyntaxError(str(error)) from error
        if self._unread > TEXT:
            raise SyntaxError(f"a piece of more than {TEXT:,} bytes")

    def _start(self, _: str, attributes: dict[str, str]) -> None:
        self._depth, self._text = self._depth + 1, 0
        if self._depth > DEEPEST:
            raise SyntaxError(f"more than {DEEPEST} elements within each other")
        if sum(map(len, attributes.values())) > self._most:
            raise SyntaxError(f"attributes of more than {self._most:,} characters")

    def _close(self, _: str) -> None:
        self._depth, self._text = self._depth - 1, 0

    def _said(self, text: str) -> None:
        self._text += len(text)
        if self._text > self._most:
            raise SyntaxError(f"a text of more than {self._most:,} characters")

    def _declared(self, name: str, _: bool, value: str | None, *__: str | None) -> None:
        self._most = WRITTEN_OUT
        if value is None:
            raise SyntaxError(f"the entity {name[:40]} is outside of the file, which is not looked at")
        if len(value) > ENTITY or "&" in value:
            raise SyntaxError(f"the entity {name[:40]} may be {ENTITY:,} characters, and no other entity")
