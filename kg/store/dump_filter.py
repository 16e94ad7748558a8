"""Thins out a dump before it is loaded: what a dialect never looks at is left out, line by line.

Only N-Triples come in and go out, since a line of it is a triple: a dump of thousands of millions is
read once, in constant memory.
"""

import errno
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from itertools import islice
from pathlib import Path

from kgqa.kg.dialects import XSD, Dialect, detect_dialect
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE

LINES_TO_DETECT = 100_000  # lines that tell the dialect
LINES_PER_BLOCK = 20_000

MAX_LINE_BYTES = 1 << 24
"""Bytes of a line, and about as many of a block at most; what is longer counts as several, malformed."""

GZIP_LEVEL = 3  # of gzip: a third larger than at its best, in a fifth of the time

DISK_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What is wrong where a file cannot grow."""

_UNICODE_ESCAPE = rb"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_IRI = rb"<[^\x00-\x20<>\"{}|^`\\]*+(?:(?:%s)[^\x00-\x20<>\"{}|^`\\]*+)*+>" % _UNICODE_ESCAPE
_BLANK_NODE = rb"_:[0-9A-Za-z_](?:[0-9A-Za-z_.-]*[0-9A-Za-z_-])?"
_STRING = rb"\"[^\"\\\r\n]*+(?:(?:\\[tbnrf\"'\\]|%s)[^\"\\\r\n]*+)*+\"" % _UNICODE_ESCAPE

_BARE_VALUE = rb"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|true|false"

_TRIPLE_LINE = re.compile(
    rb"[ \t]*(?P<s>%s|%s)[ \t]*(?P<p>%s)[ \t]*"
    rb"(?P<o>%s|%s|(?P<bare>%s)|%s(?:@(?P<tag>[A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^%s)?)"
    rb"[ \t]*\.[ \t]*(?:#.*)?\r?\n?"
    % (_IRI, _BLANK_NODE, _IRI, _IRI, _BLANK_NODE, _BARE_VALUE, _STRING, _IRI)
)


@dataclass
class LineCounts:
    """Lines of a dump by what became of them.

    Attributes:
        kept: Triples that were written.
        languages: Texts in languages that the dialect does not look for.
        relations: Triples of relations that it does not look at.
        malformed: Lines that are no N-Triples.
    """

    kept: int = 0
    languages: int = 0
    relations: int = 0
    malformed: int = 0

    @property
    def lines(self) -> int:
        """All of them; empty lines and comments do not count."""
        return sum(getattr(self, field.name) for field in fields(self))


def filter_dump(
    dumps: Sequence[Path], out: Path, dialect: Dialect | None = None
) -> tuple[Dialect, LineCounts]:
    """Write the triples of dumps that kgqa looks at; return their dialect, and counts.

    Names and texts in languages of the dialect stay, and those without one; relations stay that a
    search may follow, and those of names, types and ids in other graphs. Blank nodes become IRIs.

    Args:
        dumps: N-Triples, plain or gzipped (``.gz``).
        out: ``.nt`` or ``.nt.gz``; it appears when all is written.
        dialect: Of the dumps; if not given, the first lines tell it.

    Raises:
        KGUnavailable: if a file cannot be read or written, or is of another kind.
        KGMalformed: if a gzip file is damaged or not all there.
    """
    for path, kinds in (*((dump, ("", ".nt")) for dump in dumps), (out, (".nt",))):
        if (path.with_suffix("") if _is_gzipped(path) else path).suffix.lower() not in kinds:
            raise KGUnavailable(f"{path.name}: only .nt and .nt.gz; convert others: oxigraph convert")
        if path.exists() and path.suffix and not path.is_file():
            raise KGUnavailable(f"{path} is no regular file; name another")
    part = out.with_name(f"{out.name}.part")
    try:
        if dialect is None:
            found = map(_TRIPLE_LINE.fullmatch, islice(_read_lines(dumps), LINES_TO_DETECT))
            predicates = {each["p"][1:-1].decode(errors="replace") for each in found if each}
            dialect = detect_dialect(sorted(predicates))
        triples, counts = TripleFilter(dialect), LineCounts()
        with gzip.open(part, "wb", GZIP_LEVEL) if _is_gzipped(out) else part.open("wb") as file:
            for block in _group_lines(_read_lines(dumps)):
                file.write(b"".join(triples.keep(block, counts)))
        part.replace(out)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        names = ", ".join(path.name for path in dumps)
        raise KGMalformed(f"{names}: damaged or incomplete gzip file: {error}") from error
    except OSError as error:
        failing = error.filename or (out if error.errno in DISK_FULL_ERRNOS else dumps[0])
        raise KGUnavailable(f"cannot read or write {failing}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)  # where a disk is full, it would stay so
    return dialect, counts


class TripleFilter:
    """Lets the triples through that a dialect looks at."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._is_wanted = cache(self._wants)
        self._is_spoken = cache(self._speaks)

    def keep(self, lines: Sequence[bytes], counts: LineCounts) -> Iterator[bytes]:
        """Return the lines that stay."""
        for line in lines:
            found = _TRIPLE_LINE.fullmatch(line)
            if found is None or not _is_text(line):
                counts.malformed += bool(line.strip()) and not line.lstrip().startswith(b"#")
            elif not self._is_wanted(found["p"]):
                counts.relations += 1
            elif (tag := found["tag"]) and not self._is_spoken(tag):
                counts.languages += 1
            else:
                counts.kept += 1
                yield _as_ntriples(found, line)

    def _wants(self, predicate: bytes) -> bool:
        iri, dialect = predicate[1:-1].decode(), self._dialect
        spaces = tuple(space.iri for space in dialect.relations) or ("",)
        types = (each for each in dialect.types if each.startswith(spaces))
        named = (*dialect.labels, *dialect.aliases, *types, *(twin.predicate for twin in dialect.twins))
        return iri in named or (iri.startswith(spaces) and not dialect.ignores(iri))

    def _speaks(self, tag: bytes) -> bool:
        return self._dialect.reads(tag.decode())


def _as_ntriples(found: re.Match[bytes], line: bytes) -> bytes:
    """Write a line as N-Triples; Freebase has bare numbers, and blank nodes cannot be asked for."""
    if found["bare"] or found["s"].startswith(b"_") or found["o"].startswith(b"_"):
        return b"%s %s %s .\n" % (_node_as_ntriples(found["s"]), found["p"], _node_as_ntriples(found["o"]))
    return line if line.endswith(b"\n") else line + b"\n"


def _node_as_ntriples(term: bytes) -> bytes:
    if term.startswith(b"_:"):
        return b"<%s%s>" % (BLANK_NAMESPACE.encode(), term[2:])
    return term if term[:1] in b'<"' else b'"%s"^^<%s%s>' % (term, XSD.encode(), _bare_type(term))


def _bare_type(bare: bytes) -> bytes:
    if bare in (b"true", b"false"):
        return b"boolean"
    return b"double" if b"e" in bare.lower() else b"decimal" if b"." in bare else b"integer"


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read_lines(dumps: Sequence[Path]) -> Iterator[bytes]:
    for path in dumps:
        with gzip.open(path) if _is_gzipped(path) else path.open("rb") as file:
            yield from iter(lambda: file.readline(MAX_LINE_BYTES), b"")


def _group_lines(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    block, size = [], 0
    for line in lines:
        block.append(line)
        size += len(line)
        if len(block) == LINES_PER_BLOCK or size > MAX_LINE_BYTES:
            yield block
            block, size = [], 0
    yield block


def _is_gzipped(path: Path) -> bool:
    return path.suffix.lower() == ".gz"
