"""Reads RDF files of every common format, gzipped or not, as one stream of quads.

pyoxigraph parses what it knows, rdflib the rest. Blank nodes become IRIs under
`patterns.BLANK_NAMESPACE`, numbered in the order of the files, so that equal files give
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
from kgqa.kg.sparql.parsing import mute_logger
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.store.input_guards import SAFE_NESTING, NestingDepth, XmlGuard, check_nesting
from kgqa.kg.terms import one_line

OXIGRAPH_FORMATS = {
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
RDFLIB_FORMATS = {".trix": "trix", ".hext": "hext"}
KNOWN_SUFFIXES = tuple(sorted((*OXIGRAPH_FORMATS, *RDFLIB_FORMATS)))


QUOTING_SUFFIXES = {".nt": True, ".nq": True, ".ttl": False, ".turtle": False, ".trig": False, ".n3": False}
"""Formats in which a triple may be the object of another, and whether a triple ends with its line."""

XML_SUFFIXES = {".rdf", ".owl", ".xml", ".trix"}

_BLOCK_BYTES = 1 << 16

MAX_RDFLIB_BYTES = 1 << 28  # bytes of a file that rdflib reads at most: it keeps all of it


class _HashedFile:
    """A binary file that hashes what is read from it.

    Where its triples may be nested deep, it is looked through before more of it is given (`check_nesting`).
    """

    def __init__(self, path: Path, file: gzip.GzipFile | io.BufferedReader, suffix: str) -> None:
        self.digest = hashlib.sha256()
        self._path = path
        self._depth = NestingDepth(lines=QUOTING_SUFFIXES[suffix]) if suffix in QUOTING_SUFFIXES else None
        self._file = XmlGuard(file) if suffix in XML_SUFFIXES else file

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        if self._depth and self._depth.max_depth(data) > SAFE_NESTING:
            check_nesting(self._path)
            self._depth = None
        return data


class QuadReader:
    """Reads files into quads and, having read them, knows their fingerprint.

    Raises:
        KGUnavailable: for a missing file, a folder, a pipe or device, or an unknown suffix.
        KGMalformed: while reading, for text that is not the RDF its suffix promises.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = [(path, _known_suffix(path)) for path in files]
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
                with _open_file(path) as file:
                    hashed = _HashedFile(path, file, suffix)
                    yield from self._without_blanks(_parse(hashed, suffix, path.name))
            except (SyntaxError, MemoryError) as error:
                raise KGMalformed(_syntax_message(path, suffix, error)) from error
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise KGMalformed(f"{path.name}: damaged or incomplete gzip file: {error}") from error
            except OSError as error:
                raise KGUnavailable(f"cannot read {path}: {error.strerror or error}") from error
            self._digests.append(hashed.digest.hexdigest())

    def _without_blanks(self, quads: Iterator[ox.Quad]) -> Iterator[ox.Quad]:
        names: dict[str, ox.NamedNode] = {}

        def node(term: Any) -> Any:
            if not isinstance(term, ox.BlankNode):
                if isinstance(term, ox.NamedNode) and term.value.startswith(BLANK_NAMESPACE):
                    raise SyntaxError(
                        f"IRIs that begin with {BLANK_NAMESPACE} are blank nodes to kgqa; rename it"
                    )
                return term
            if term.value not in names:
                self._blanks += 1
                names[term.value] = ox.NamedNode(f"{BLANK_NAMESPACE}b{self._blanks}")
            return names[term.value]

        for quad in quads:
            given = (quad.subject, quad.predicate, quad.object, quad.graph_name)
            parts = tuple(map(node, given))
            yield quad if parts == given else ox.Quad(*parts)


def _known_suffix(path: Path) -> str:
    if not path.exists():
        raise KGUnavailable(f"no such file: {path}")
    if path.is_dir():
        raise KGUnavailable(f"{path} is a folder, but not one that `kgqa kg load` made")
    if not path.is_file():
        raise KGUnavailable(f"{path} is no regular file; save what it gives, and name that")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in KNOWN_SUFFIXES:
        raise KGUnavailable(
            f"{path.name}: unknown kind of file; known are {', '.join(KNOWN_SUFFIXES)} and these with .gz"
        )
    return suffixes[-1]


def _open_file(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def _syntax_message(path: Path, suffix: str, error: SyntaxError | MemoryError) -> str:
    line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
    reason = " ".join(str(getattr(error, "msg", "") or error).split())
    return f"{path.name}{line}: not readable as {suffix[1:]}: {one_line(reason)}"


def _parse(file: _HashedFile, suffix: str, name: str) -> Iterator[ox.Quad]:
    if suffix in OXIGRAPH_FORMATS:
        return ox.parse(file, OXIGRAPH_FORMATS[suffix], base_iri=f"file:///{quote(name)}")  # type: ignore[arg-type]
    data = b"".join(islice(iter(lambda: file.read(_BLOCK_BYTES), b""), MAX_RDFLIB_BYTES // _BLOCK_BYTES + 1))
    if len(data) > MAX_RDFLIB_BYTES:
        raise SyntaxError(f"more than {MAX_RDFLIB_BYTES:,} bytes; convert it to .nt: oxigraph convert")
    return _parse_by_rdflib(data, RDFLIB_FORMATS[suffix])


def parse_only(path: Path) -> None:
    """Parse a file and keep nothing; what is wrong with it is for `QuadReader` to say."""
    with suppress(SyntaxError, MemoryError, OSError, EOFError, zlib.error), _open_file(path) as file:
        for _ in ox.parse(file, OXIGRAPH_FORMATS[_known_suffix(path)]):  # type: ignore[arg-type]
            pass


def _parse_by_rdflib(data: bytes, kind: str) -> Iterator[ox.Quad]:
    from rdflib import Dataset

    dataset = Dataset()
    try:
        with mute_logger("rdflib.term"):
            dataset.parse(data=data, format=kind)
        text = dataset.serialize(format="nquads", encoding="utf-8")
    except Exception as error:
        raise SyntaxError(" ".join(str(error).split()) or type(error).__name__) from error
    return ox.parse(text, ox.RdfFormat.N_QUADS)
