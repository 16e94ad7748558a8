"""Reads files as one stream of quads: RDF of every common format, compressed or not, and tables.

pyoxigraph parses what it knows, rdflib the rest; `kg/tables/` makes triples of tables. Blank nodes
become IRIs under `patterns.BLANK_NAMESPACE`, numbered in the order of the files, so that equal files
give equal ids and a query can name an unnamed node. In N-Triples and N-Quads that is done to the text,
and no triple on its way to the store becomes an object of Python.
"""

import hashlib
import io
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count, islice
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import quote

import pyoxigraph as ox

from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.packing import DAMAGE, PACKED_SUFFIXES, is_damage, open_packed, unpacked_suffix
from kgqa.kg.sparql.guard import mute_logger
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.store.input_guards import SAFE_NESTING, NestingDepth, XmlGuard, check_nesting
from kgqa.kg.tables.inference import Inference, infer_tables
from kgqa.kg.tables.mapping import MAPPING_SUFFIX, MappedTables
from kgqa.kg.tables.reading import TABLE_SUFFIXES, table_suffix
from kgqa.kg.tables.triples import TripleTables
from kgqa.kg.terms import one_line
from kgqa.locks import cached_property

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
    ".json": ox.RdfFormat.JSON_LD,
}
RDFLIB_FORMATS = {".trix": "trix", ".hext": "hext"}
KNOWN_SUFFIXES = tuple(sorted((*OXIGRAPH_FORMATS, *RDFLIB_FORMATS, *TABLE_SUFFIXES, MAPPING_SUFFIX)))


QUOTING_SUFFIXES = {".nt": True, ".nq": True, ".ttl": False, ".turtle": False, ".trig": False, ".n3": False}
"""Formats in which a triple may be the object of another, and whether a triple ends with its line."""

XML_SUFFIXES = {".rdf", ".owl", ".xml", ".trix"}

ONTOLOGY_SUFFIXES = {
    ".ofn": "functional syntax",
    ".fss": "functional syntax",
    ".omn": "Manchester syntax",
    ".owx": "OWL/XML",
    ".obo": "OBO format",
}
"""Syntaxes of ontologies that are not RDF's."""

_COMMENTS = re.compile(rb"\A(?:\s+|#[^\n]*\n)+")
_XML_BEGINS = re.compile(rb"\s*<[?!]|\s*<(?:[\w.-]+:)?[A-Za-z][\w.-]*[\s/>]|[\x00\xfe\xff]")
_SYNTAXES = {
    "functional syntax": re.compile(rb"(?:Prefix|Ontology)\s*\("),
    "Manchester syntax": re.compile(rb"(?:Prefix|Ontology):"),
    "OWL/XML": re.compile(rb"(?:\s*(?:<[?!][^>]*>|\]>))*\s*<(?:owl:)?Ontology\b"),
    "OBO format": re.compile(rb"format-version:"),
}
"""How they begin."""

_JSON_BEGINS = re.compile(rb"\[?\s*\{")
_JSON_LD = re.compile(rb'"@(?:context|id|graph|type|value|list|set|reverse)"')
_REMOTE_CONTEXT = re.compile(rb'"@(?:context|import)"\s*:\s*(?:\[[^\]{]*?)?"([^"\\]*)"')

LINE_FORMATS = {".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
"""Formats in which a line is a triple."""

_BLOCK_BYTES = 1 << 18
_QUADS_AT_ONCE = 250_000
MAX_LINE_BYTES = 1 << 24  # bytes of a line: pyoxigraph reads none that is longer

_LABEL = rb"_:[0-9A-Za-z_](?:[0-9A-Za-z_.-]*[0-9A-Za-z_-])?"
_IRI = rb"<[^<>\"\\\s]*>"
_BLANK_LINE = re.compile(
    rb"[ \t]*(%s|%s)([ \t]*%s[ \t]*)(?:(%s)(?=[ \t.]))?([^_]*(?:_(?!:)[^_]*)*)" % (_LABEL, _IRI, _IRI, _LABEL)
)
"""A triple with blank nodes, as almost all are; what else has ``_:`` in it is parsed for itself."""

_ESCAPED_IRI = re.compile(rb"<[^\s>]*\\[uU]")

MAX_RDFLIB_BYTES = 1 << 28  # bytes of a file that rdflib reads at most: it keeps all of it


class _HashedFile:
    """A binary file that hashes what is read from it, and tells how far it is read on disk.

    Where its triples may be nested deep, it is looked through before more of it is given (`check_nesting`).
    """

    def __init__(
        self,
        path: Path,
        file: io.BufferedReader,
        suffix: str,
        watch: Callable[[int], None] | None = None,
    ) -> None:
        self.digest = hashlib.sha256()
        self._path = path
        self._depth = NestingDepth(lines=QUOTING_SUFFIXES[suffix]) if suffix in QUOTING_SUFFIXES else None
        self._file = XmlGuard(file) if suffix in XML_SUFFIXES else file
        self._watch, self._descriptor = watch, file.fileno()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if self._watch:
            self._watch(os.lseek(self._descriptor, 0, os.SEEK_CUR))
        self.digest.update(data)
        if self._depth and self._depth.max_depth(data) > SAFE_NESTING:
            check_nesting(self._path)
            self._depth = None
        return data


def fill_store(store: ox.Store, quads: Iterable[ox.Quad]) -> None:
    """Put quads into a store, which would hold some million of them in memory if it were let."""
    rest = iter(quads)
    while some := list(islice(rest, _QUADS_AT_ONCE)):
        store.bulk_extend(some)


class QuadReader:
    """Reads files into quads and, having read them, knows their fingerprint.

    Args:
        files: the files, which make one graph; a folder of tables stands for these.
        watch: told the share of their bytes that is read, from time to time.

    Raises:
        KGUnavailable: for a missing file, a folder, a pipe or device, or an unknown suffix.
        KGMalformed: while reading, for text that is not the RDF its suffix promises.
    """

    def __init__(self, files: Sequence[Path], watch: Callable[[float], None] | None = None) -> None:
        self._given = files
        self._files = [(path, _known_suffix(path)) for file in files for path in files_of(file)]
        self._watch = watch
        self._bytes = sum(path.stat().st_size for path, _ in self._files)
        self._bytes_read = 0  # of the files before the one that is read
        self._digests: list[str] = []
        self._blanks = 0
        self._renamed: dict[str, str] = {}

    @property
    def source(self) -> str:
        """The names of the files."""
        return ", ".join(map(str, self._given))

    @property
    def inferred(self) -> dict[str, str]:
        """Which relations are links between tables that were inferred, and why."""
        return self._inference.links if self._inference else {}

    @property
    def fingerprint(self) -> str:
        """A hash of the uncompressed files, whatever their order and names."""
        return hashlib.sha256(" ".join(sorted(self._digests)).encode()).hexdigest()[:16]

    def quads(self) -> Iterator[ox.Quad]:
        """Go through the quads of all files."""
        with self._unchanged():
            for path, suffix in self._files:
                if suffix in _TABULAR:
                    yield from self._table_quads(path, suffix)
                    continue
                with self._open(path, suffix) as file:
                    yield from map(self._namer(), _parse(file, suffix, path.name))

    def load(self, store: ox.Store) -> None:
        """Put the quads of all files into a store."""
        with self._unchanged():
            for path, suffix in self._files:
                if suffix in _TABULAR:
                    fill_store(store, self._table_quads(path, suffix))
                    continue
                with self._open(path, suffix) as file:
                    if kind := LINE_FORMATS.get(suffix):
                        store.bulk_load(input=_NamedLines(file, kind, self._namer()), format=kind)  # type: ignore[arg-type]
                    else:
                        fill_store(store, map(self._namer(), _parse(file, suffix, path.name)))

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """Refuse files that change while they are read, where they are read twice or are several."""
        parts = [part for path, _ in self._files for part in parts_of(path)]
        once = len(parts) == 1 and self._files[0][1] not in _TABULAR
        before = None if once else file_versions(parts)
        yield
        if before is not None and file_versions(parts) != before:
            raise KGUnavailable(f"{self.source} changed while it was read; repeat it when it is written")

    def _table_quads(self, path: Path, suffix: str) -> Iterator[ox.Quad]:
        """Go through what a table says, or all tables of a mapping."""
        yield from map(self._namer(), self._read_table(path, suffix))
        self._digests += map(_hash_content, parts_of(path))
        self._bytes_read += path.stat().st_size
        self._tell_share(0)

    def _read_table(self, path: Path, suffix: str) -> Iterator[ox.Quad]:
        if suffix == MAPPING_SUFFIX:
            return MappedTables.read(path).quads()
        if self._inference and path.absolute() in self._inference.mapped.files:
            return self._inference.mapped.quads(path.absolute())
        return self._triple_tables.quads(path)

    @cached_property
    def _tables(self) -> list[Path]:
        return [path for path, suffix in self._files if suffix in TABLE_SUFFIXES]

    @cached_property
    def _inference(self) -> Inference | None:
        return infer_tables(self._tables)

    @cached_property
    def _triple_tables(self) -> TripleTables:
        mapped = self._inference.mapped.files if self._inference else []
        return TripleTables([path for path in self._tables if path.absolute() not in mapped])

    @contextmanager
    def _open(self, path: Path, suffix: str) -> Iterator[_HashedFile]:
        try:
            with _open_file(path) as file:
                yield (hashed := _HashedFile(path, file, suffix, self._tell_share if self._watch else None))
                self._bytes_read += os.fstat(file.fileno()).st_size
        except (SyntaxError, MemoryError) as error:
            raise KGMalformed(_syntax_message(path, suffix, error)) from error
        except (*DAMAGE, OSError) as error:
            if is_damage(error):
                raise KGMalformed(f"{path.name}: damaged or incomplete file: {error}") from error
            raise KGUnavailable(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
        self._digests.append(hashed.digest.hexdigest())

    def _tell_share(self, bytes_read: int) -> None:
        if self._watch:
            self._watch(min(1.0, (self._bytes_read + bytes_read) / max(1, self._bytes)))

    def _namer(self) -> "_BlankNamer":
        return _BlankNamer(self._next_name, self._renamed)

    def _next_name(self) -> str:
        self._blanks += 1
        return f"{BLANK_NAMESPACE}b{self._blanks}"


class _BlankNamer:
    """Puts IRIs in the place of the blank nodes of one file.

    ``renamed`` are those that were given such IRIs before, by a filter of dumps, in any of the files.
    """

    def __init__(self, next_name: Callable[[], str], renamed: dict[str, str]) -> None:
        self._next_name, self._renamed = next_name, renamed
        self._iris: dict[str, str] = {}

    def __call__(self, quad: ox.Quad) -> ox.Quad:
        """Return a quad without blank nodes."""
        if quad.predicate.value.startswith(BLANK_NAMESPACE):
            raise SyntaxError(f"relations of {BLANK_NAMESPACE} are blank nodes to kgqa; rename them")
        given = (quad.subject, quad.predicate, quad.object, quad.graph_name)
        parts = tuple(map(self._node, given))
        return quad if parts == given else ox.Quad(*parts)

    def write(self, label: bytes) -> bytes:
        """Return the IRI for ``_:label`` as N-Triples write it."""
        return b"<%s>" % self._iri(label[2:].decode()).encode()

    def _node(self, term: Any) -> Any:
        if isinstance(term, ox.Triple):
            return ox.Triple(*map(self._node, (term.subject, term.predicate, term.object)))
        if isinstance(term, ox.NamedNode) and term.value.startswith(BLANK_NAMESPACE):
            return ox.NamedNode(self._number(term.value, self._renamed))
        return ox.NamedNode(self._iri(term.value)) if isinstance(term, ox.BlankNode) else term

    def _iri(self, label: str) -> str:
        return self._number(label, self._iris)

    def _number(self, name: str, known: dict[str, str]) -> str:
        if not (iri := known.get(name)):
            iri = known[name] = self._next_name()
        return iri


def without_blank_nodes(text: bytes) -> IO[bytes]:
    """Return N-Triples as a file that has IRIs in the place of blank nodes."""
    numbers = count(1)
    namer = _BlankNamer(lambda: f"{BLANK_NAMESPACE}b{next(numbers)}", {})
    return cast(IO[bytes], _NamedLines(io.BytesIO(text), ox.RdfFormat.N_TRIPLES, namer))


class _NamedLines:
    """A file of a `LINE_FORMATS` without its blank nodes."""

    def __init__(self, file: _HashedFile | io.BytesIO, kind: ox.RdfFormat, namer: _BlankNamer) -> None:
        self._file, self._kind, self._namer = file, kind, namer
        self._ahead, self._rest = io.BytesIO(), b""

    def read(self, size: int = -1) -> bytes:
        """Read on; nothing more ends the file."""
        while not (data := self._ahead.read(size)):
            block = self._file.read(_BLOCK_BYTES)
            text = self._rest + block
            end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
            if not block or len(text) > MAX_LINE_BYTES:
                end = len(text)
            self._rest = text[end:]
            self._ahead = io.BytesIO(self._name_blanks(text[:end]))
            if not block:
                return self._ahead.read(size)
        return data

    def _name_blanks(self, text: bytes) -> bytes:
        if _may_be_named(text):
            return b"\n".join(map(self._name_line, text.split(b"\n")))
        parts: list[bytes] = []
        at = 0
        while (place := text.find(b"_:", at)) >= 0:
            start, end = text.rfind(b"\n", at, place) + 1 or at, text.find(b"\n", place)
            end = len(text) if end < 0 else end
            found = _BLANK_LINE.fullmatch(text, start, end)
            parts += text[at:start], self._write_line(found) if found else self._parse_line(text[start:end])
            at = end
        return b"".join((*parts, text[at:])) if parts else text

    def _name_line(self, line: bytes) -> bytes:
        if b"_:" not in line and not _may_be_named(line):
            return line
        found = None if _may_be_named(line) else _BLANK_LINE.fullmatch(line)
        return self._write_line(found) if found else self._parse_line(line)

    def _write_line(self, found: re.Match[bytes]) -> bytes:
        write = self._namer.write
        subject, relation, other, rest = found.groups()
        if subject.startswith(b"_"):
            subject = write(subject)
        return b"".join((subject, relation, write(other) if other else b"", rest))

    def _parse_line(self, line: bytes) -> bytes:
        try:
            quads = list(map(self._namer, ox.parse(line, self._kind)))
        except SyntaxError as error:
            if error.lineno:  # the store says so, and where
                return line
            raise
        return b"\n".join(f"{quad} .".encode() for quad in quads) if quads else line


_TABULAR = frozenset((*TABLE_SUFFIXES, MAPPING_SUFFIX))


def parts_of(path: Path) -> list[Path]:
    """Return the files that are read for one: of a mapping its tables as well, of a folder what it has.

    Raises:
        KGError: for a mapping that cannot be read.
    """
    if path.is_dir() and (files := files_of(path)) != [path]:
        return [part for file in files for part in parts_of(file)]
    return [path, *MappedTables.read(path).files] if path.suffix.lower() == MAPPING_SUFFIX else [path]


def files_of(path: Path, *, mapped: bool = True) -> list[Path]:
    """Return the files that a name stands for: of a folder its mapping (``mapped``), else its tables.

    Raises:
        KGUnavailable: if a folder has several mappings.
    """
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
    mappings = [each for each in found if mapped and each.suffix.lower() == MAPPING_SUFFIX]
    if len(mappings) > 1:
        named = ", ".join(each.name for each in mappings)
        raise KGUnavailable(f"{path} has several mappings ({named}); name the one you mean")
    return mappings or [each for each in found if table_suffix(each)] or [path]


def file_versions(files: Sequence[Path]) -> tuple[int, ...] | None:
    """Return what tells files from those that take their place; None where one is missing."""
    try:
        found = [file.stat() for file in files]
    except (OSError, ValueError):
        return None
    return tuple(part for each in found for part in (each.st_ino, each.st_mtime_ns, each.st_size))


def _hash_content(path: Path) -> str:
    with _open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _may_be_named(text: bytes) -> bool:
    """Return whether an IRI of a text may be one of those that blank nodes get."""
    if BLANK_NAMESPACE.encode() in text:
        return True
    if b"\\" not in text:  # as most have none: two bytes take ten times as long to look for
        return False
    return (b"\\u" in text or b"\\U" in text) and _ESCAPED_IRI.search(text) is not None


def _known_suffix(path: Path) -> str:
    if not path.exists():
        endpoints = "" if path.suffix or path.name != str(path) else "; kgqa kg list has the public endpoints"
        raise KGUnavailable(f"no such file: {path}{endpoints}")
    if path.is_dir():
        raise KGUnavailable(f"{path} is a folder, but not one that `kgqa kg load` made, nor one of tables")
    if not path.is_file():
        raise KGUnavailable(f"{path} is no regular file; save what it gives, and name that")
    suffix = unpacked_suffix(path)
    if syntax := ONTOLOGY_SUFFIXES.get(suffix):
        raise KGUnavailable(_syntax_advice(path, syntax))
    if suffix not in KNOWN_SUFFIXES:
        known, packed = ", ".join(KNOWN_SUFFIXES), " or ".join(PACKED_SUFFIXES)
        raise KGUnavailable(f"{path.name}: unknown kind of file; known are {known} and these with {packed}")
    return _content_suffix(path, suffix) if suffix in (".owl", ".rdf", ".xml", ".json") else suffix


def _content_suffix(path: Path, suffix: str) -> str:
    """Return the suffix that the text of a file should have, whatever it has.

    Raises:
        KGUnavailable: if it is in a syntax that is not RDF's.
    """
    try:
        head = _COMMENTS.sub(b"", _head_of(path))
    except (OSError, *DAMAGE):  # its reader says what is wrong
        return suffix
    if _JSON_BEGINS.match(head):
        if not _JSON_LD.search(head):
            raise KGUnavailable(
                f'{path.name} is JSON, but no JSON-LD: nothing in it has an "@id" or a "@context"; '
                "save its records as CSV"
            )
        return ".jsonld"
    for syntax, begins in _SYNTAXES.items():
        if begins.match(head):
            raise KGUnavailable(_syntax_advice(path, syntax))
    if _XML_BEGINS.match(head) or not head:
        return ".owl"
    return ".jsonld" if suffix == ".json" else ".ttl"


def _head_of(path: Path) -> bytes:
    with _open_file(path) as file:
        return file.read(_BLOCK_BYTES)


def _syntax_advice(path: Path, syntax: str) -> str:
    return (
        f"{path.name} is an ontology in {syntax}, which is no RDF; save it as Turtle, "
        f"in Protégé or by robot convert -i {path.name} -o {path.name.split('.')[0]}.ttl"
    )


def _open_file(path: Path) -> io.BufferedReader:
    """Open what a file holds, past the mark of UTF-8 with which some editors begin a text."""
    file = open_packed(path)
    if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
        file.read(len(BOM_UTF8))
    return file


def _syntax_message(path: Path, suffix: str, error: SyntaxError | MemoryError) -> str:
    line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
    reason = " ".join(str(getattr(error, "msg", "") or error).split())
    if suffix == ".jsonld" and "remote context" in reason:
        named = _REMOTE_CONTEXT.search(_head_of(path))
        where = f" ({one_line(named[1].decode(errors='replace'))})" if named else ""
        reason = f"its context stands elsewhere{where}, and nothing is fetched; write the context itself "
        reason += "into it, or save it as N-Quads: riot --output=nq, or json-ld.org/playground"
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
    with suppress(SyntaxError, MemoryError, OSError, *DAMAGE), _open_file(path) as file:
        for _ in ox.parse(file, OXIGRAPH_FORMATS[_known_suffix(path)]):
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
