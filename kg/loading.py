"""Reads RDF files of every common format, gzipped or not, as one stream of quads.

pyoxigraph parses what it knows, rdflib the rest. Blank nodes become IRIs under
`sparql.BLANK`, numbered in the order of the files, so that equal files give
equal ids and a query can name an unnamed node.
"""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox

from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.lenient import silent
from kgqa.kg.markup import Markup
from kgqa.kg.nesting import DEEP, Depth, check_depth
from kgqa.kg.sparql import BLANK
from kgqa.kg.terms import one_line

NATIVE = {
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".ttl": ox.RdfFormat.TURTLE,
    ".turtle": ox.RdfFormat.TURTLE,
    ".nq": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG,
    ".n3": ox.RdfFormat.N3,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
    ".jsonld": ox.RdfFormat.JSON_LD,
}
BY_RDFLIB = {".trix": "trix", ".hext": "hext"}
KNOWN = tuple(sorted((*NATIVE, *BY_RDFLIB)))


QUOTING = {".nt": True, ".nq": True, ".ttl": False, ".turtle": False, ".trig": False, ".n3": False}
"""Formats in which a triple may be the object of another, and whether a triple ends with its line."""

XML = {".rdf", ".owl", ".xml", ".trix"}

_BLOCK = 1 << 16

WHOLE = 1 << 28
"""Bytes of a file that rdflib reads at most: it keeps all of it."""


class _Hashed:
    """A binary file that hashes what is read from it.

    Where its triples may be nested deep, it is looked through before more of it is given (`nesting`).
    """

    def __init__(self, path: Path, file: gzip.GzipFile | io.BufferedReader, suffix: str) -> None:
        self.digest = hashlib.sha256()
        self._path = path
        self._depth = Depth(lines=QUOTING[suffix]) if suffix in QUOTING else None
        self._file = Markup(file) if suffix in XML else file

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        if self._depth and self._depth.most(data) > DEEP:
            check_depth(self._path)
            self._depth = None
        return data


class Reader:
    """Reads files into quads and, having read them, knows their fingerprint.

    Raises:
        KGUnavailable: for a missing file, a folder, a pipe or device, or an unknown suffix.
        KGMalformed: while reading, for text that is not the RDF its suffix promises.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = [(path, _suffix(path)) for path in files]
        self._digests: list[str] = []
        self._blanks = 0

    @property
    def fingerprint(self) -> str:
        """A hash of the uncompressed files, whatever their order and names."""
        return hashlib.sha256(" ".join(sorted(self._digests)).encode()).hexdigest()[:16]

    def quads(self) -> Iterator[ox.Quad]:
        """Go through the quads of all files."""
        for path, suffix in self._files:
            try:
                with _open(path) as file:
                    hashed = _Hashed(path, file, suffix)
                    yield from self._without_blanks(_parse(hashed, suffix, path.name))
            except (SyntaxError, MemoryError) as error:
                raise KGMalformed(_not_rdf(path, suffix, error)) from error
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise KGMalformed(f"{path.name}: damaged or incomplete gzip file: {error}") from error
            except OSError as error:
                raise KGUnavailable(f"cannot read {path}: {error.strerror or error}") from error
            self._digests.append(hashed.digest.hexdigest())

    def _without_blanks(self, quads: Iterator[ox.Quad]) -> Iterator[ox.Quad]:
        names: dict[str, ox.NamedNode] = {}

        def node(term: Any) -> Any:
            if not isinstance(term, ox.BlankNode):
                if isinstance(term, ox.NamedNode) and term.value.startswith(BLANK):
                    raise SyntaxError(f"IRIs that begin with {BLANK} are blank nodes to kgqa; rename it")
                return term
            if term.value not in names:
                self._blanks += 1
                names[term.value] = ox.NamedNode(f"{BLANK}b{self._blanks}")
            return names[term.value]

        for quad in quads:
            given = (quad.subject, quad.predicate, quad.object, quad.graph_name)
            parts = tuple(map(node, given))
            yield quad if parts == given else ox.Quad(*parts)


def _suffix(path: Path) -> str:
    if not path.exists():
        raise KGUnavailable(f"no such file: {path}")
    if path.is_dir():
        raise KGUnavailable(f"{path} is a folder, but not one that `kgqa kg load` made")
    if not path.is_file():
        raise KGUnavailable(f"{path} is no regular file; save what it gives, and name that")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in KNOWN:
        raise KGUnavailable(
            f"{path.name}: unknown kind of file; known are {', '.join(KNOWN)} and these with .gz"
        )
    return suffixes[-1]


def _open(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def _not_rdf(path: Path, suffix: str, error: SyntaxError | MemoryError) -> str:
    line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
    reason = " ".join(str(getattr(error, "msg", "") or error).split())
    return f"{path.name}{line}: not readable as {suffix[1:]}: {one_line(reason)}"


def _parse(file: _Hashed, suffix: str, name: str) -> Iterator[ox.Quad]:
    if suffix in NATIVE:
        return ox.parse(file, NATIVE[suffix], base_iri=f"file:///{quote(name)}")  # type: ignore[arg-type]
    data = b"".join(islice(iter(lambda: file.read(_BLOCK), b""), WHOLE // _BLOCK + 1))
    if len(data) > WHOLE:
        raise SyntaxError(f"more than {WHOLE:,} bytes; convert it to .nt: oxigraph convert")
    return _parse_by_rdflib(data, BY_RDFLIB[suffix])


def parsed_only(path: Path) -> None:
    """Parse a file and keep nothing; what is wrong with it is for `Reader` to say."""
    with suppress(SyntaxError, MemoryError, OSError, EOFError, zlib.error), _open(path) as file:
        for _ in ox.parse(file, NATIVE[_suffix(path)]):  # type: ignore[arg-type]
            pass


def _parse_by_rdflib(data: bytes, kind: str) -> Iterator[ox.Quad]:
    from rdflib import Dataset

    dataset = Dataset()
    try:
        with silent("rdflib.term"):
            dataset.parse(data=data, format=kind)
        text = dataset.serialize(format="nquads", encoding="utf-8")
    except Exception as error:
        raise SyntaxError(" ".join(str(error).split()) or type(error).__name__) from error
    return ox.parse(text, ox.RdfFormat.N_QUADS)
