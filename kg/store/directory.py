"""Opens graphs: files into memory, or a folder that was built from files once.

A store folder holds ``kgqa.json`` (what the graph is), ``names.sqlite`` (what its
entities are called) and ``store/`` (RocksDB).
It is built beside its place and renamed when complete, so that an interrupted
build leaves nothing that looks like a store.
"""

import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from secrets import token_hex
from typing import Protocol

import pyoxigraph as ox

from kgqa.files import read_file
from kgqa.kg.dialects import Dialect, detect_dialect
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.graph import GraphFacts
from kgqa.kg.linking.lookup import StoreNames
from kgqa.kg.linking.name_index import NamedGraph
from kgqa.kg.linking.name_table import NameTable
from kgqa.kg.naming import Naming
from kgqa.kg.store.embedded import EmbeddedStore
from kgqa.kg.store.loading import QuadReader
from kgqa.kg.store.survey import count_predicates, read_names, survey, write_names
from kgqa.kg.terms import is_iri

STORE_VERSION = 4
FACTS_FILE = "kgqa.json"
NAMES_FILE = "names.sqlite"
STORE_FOLDER = "store"

KeepsName = Callable[[str, str], bool]
"""Returns, for the id and a name of an entity, whether it keeps the name."""


def is_store(path: Path) -> bool:
    """Return whether ``path`` is a folder that `build_store` made.

    Raises:
        KGUnavailable: if ``path`` cannot be a path at all, being too long.
    """
    try:
        return (path / FACTS_FILE).is_file() and (path / STORE_FOLDER).is_dir()
    except (OSError, ValueError) as error:
        raise KGUnavailable(f"not a path: {str(path)[:80]!r} ({error.__class__.__name__})") from error


class GraphReader(Protocol):
    """Reads a graph, wherever it is; what it is called and its fingerprint are known when it is read."""

    @property
    def source(self) -> str:
        """Where the graph is, as it may be shown."""

    @property
    def fingerprint(self) -> str:
        """A short hash of its content."""

    def load(self, store: ox.Store) -> None:
        """Put the graph into a store; raise KGError if it cannot be read."""


def load_files(files: Sequence[Path]) -> tuple[ox.Store, GraphFacts]:
    """Read files into memory.

    Raises:
        KGUnavailable: for missing files, unknown kinds, and files without triples.
        KGMalformed: for files that are not what their suffix promises.
    """
    return load_graph(QuadReader(files))


def load_graph(reader: GraphReader) -> tuple[ox.Store, GraphFacts]:
    """Read a graph into memory; raise KGError if it cannot be read, or is empty."""
    store = ox.Store()
    reader.load(store)
    return store, _state_facts(store, reader.source, reader.fingerprint)


def load_text(text: bytes, source: str) -> tuple[ox.Store, GraphFacts]:
    """Read N-Triples into memory; KGMalformed for what is none. A graph without triples is one, too."""
    store = ox.Store()
    try:
        store.load(text, ox.RdfFormat.N_TRIPLES)
    except SyntaxError as error:
        raise KGMalformed(f"{source} is no graph: {error}") from None
    predicates = count_predicates(store)
    fingerprint = hashlib.sha256(text).hexdigest()[:16]
    return store, GraphFacts(source, fingerprint, sum(predicates.values()), predicates)


def build_store(
    graph: Sequence[Path] | GraphReader,
    directory: Path,
    keeps_name: KeepsName | None = None,
    watch: Callable[[float], None] | None = None,
) -> GraphFacts:
    """Build a store folder from files, or what else is read; an earlier store in its place is replaced.

    Args:
        graph: files, several of which make one graph, or what reads a graph from elsewhere.
        directory: the folder to build.
        keeps_name: told the id and a name of each entity, which ones keep it; the others are left
            without a name (as most nodes of an incomplete graph are, CoR §1). None: all keep theirs.
        watch: told the share of the files that is read; what is left to do then is a third of the work.

    Raises:
        KGUnavailable: as `load_files`, if ``directory`` holds anything else, no entity keeps its name,
            or there is no room.
        KGMalformed: as `load_files`.
    """
    try:
        directory = directory.absolute()
    except OSError:
        raise KGUnavailable(
            "the folder you are in is gone; change to another, or give a whole path"
        ) from None
    is_other = directory.exists() and not is_store(directory)
    if is_other and (not directory.is_dir() or any(directory.iterdir())):
        raise KGUnavailable(f"{directory} exists and is no graph store; choose another folder or empty it")
    beside = directory.with_name(f".{directory.name}.{token_hex(8)}")
    try:  # whoever interrupts, however early, leaves nothing behind
        _make_folder(beside, directory)
        reader = QuadReader(graph, watch) if isinstance(graph, Sequence) else graph
        facts = _build_folder(reader, beside, keeps_name)
        _replace_folder(beside, directory)
    except OSError as error:
        raise KGUnavailable(f"cannot write {directory}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return facts


def _make_folder(beside: Path, directory: Path) -> None:
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir(mode=0o700)
    except OSError as error:
        raise KGUnavailable(f"cannot write beside {directory}: {error.strerror}") from error


def open_store(directory: Path) -> tuple[ox.Store, GraphFacts]:
    """Open a store folder for reading.

    Raises:
        KGUnavailable: if it cannot be opened.
        KGMalformed: if ``kgqa.json`` is damaged or of another version, or ``store/`` holds what RocksDB
            would wait for: a pipe or a device.
    """
    from pydantic import TypeAdapter

    try:
        text = read_file(directory / FACTS_FILE)
        if json.loads(text)["version"] != STORE_VERSION:
            raise KGMalformed(f"{directory} was built by another version of kgqa; build it again")
        facts = TypeAdapter(GraphFacts).validate_json(text, strict=True)
        if not all(map(is_iri, facts.predicates)):
            raise ValueError("a predicate is no IRI")
    except OSError as error:
        raise KGUnavailable(f"cannot open {directory}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise KGMalformed(f"{directory / FACTS_FILE} is damaged; build the store again") from error
    try:
        folder = directory / STORE_FOLDER
        if odd := [each.path for each in os.scandir(folder) if not (each.is_file() or each.is_dir())]:
            raise KGMalformed(f"{odd[0]} is no regular file; build the store again")
        return ox.Store.read_only(str(folder)), facts
    except (OSError, RuntimeError) as error:
        raise KGUnavailable(f"cannot open {directory}: {error}") from error


def open_names(directory: Path) -> NameTable:
    """Open what the entities of a store folder are called.

    Raises:
        KGMalformed: if the file is missing or damaged.
    """
    return NameTable.open(directory / NAMES_FILE)


def list_names(store: ox.Store, facts: GraphFacts, dialect: Dialect, graph: NamedGraph) -> NameTable:
    """List what the entities of a graph in memory are called."""
    with io.BytesIO() as file:
        write_names(store, file)
        return NameTable.build(read_names(file, store, facts, dialect), graph.facts)


def _state_facts(store: ox.Store, source: str, fingerprint: str) -> GraphFacts:
    predicates = count_predicates(store)
    if not predicates:
        raise KGUnavailable(f"{source} holds no triples")
    return GraphFacts(source, fingerprint, sum(predicates.values()), predicates)


def _build_folder(reader: GraphReader, beside: Path, keeps_name: KeepsName | None) -> GraphFacts:
    store = ox.Store(str(beside / STORE_FOLDER))
    reader.load(store)
    source, fingerprint = reader.source, reader.fingerprint
    if keeps_name is not None:
        source, fingerprint = _remove_names(store, _state_facts(store, source, fingerprint), keeps_name)
    with tempfile.TemporaryFile(dir=beside) as file, ThreadPoolExecutor(1) as aside:
        writing = aside.submit(write_names, store, file)
        facts = _state_facts(store, source, fingerprint)
        dialect = detect_dialect(tuple(facts.predicates))
        naming = Naming(dialect, facts.predicates)
        graph = StoreNames(EmbeddedStore(store), dialect, naming, facts.predicates)
        writing.result()
        counting = aside.submit(survey, store, facts, naming, graph)
        NameTable.build(read_names(file, store, facts, dialect), graph.facts, beside / NAMES_FILE)
        facts = counting.result()
    store.flush()
    del store
    text = json.dumps(
        {"version": STORE_VERSION, **asdict(facts)}, ensure_ascii=False, indent=1, sort_keys=True
    )
    (beside / FACTS_FILE).write_text(text + "\n", encoding="utf-8")
    beside.chmod(0o755)
    return facts


def _remove_names(store: ox.Store, facts: GraphFacts, keeps_name: KeepsName) -> tuple[str, str]:
    """Take the names away that are not kept; return what the rest is called, and its fingerprint."""
    dialect = detect_dialect(tuple(facts.predicates))
    naming = [ox.NamedNode(predicate) for predicate in (*dialect.labels, *dialect.aliases)]
    names = [quad for predicate in naming for quad in store.quads_for_pattern(None, predicate, None)]
    gone = [quad for quad in names if not keeps_name(_term_text(quad.subject), _term_text(quad.object))]
    if len(gone) == len(names):
        raise KGUnavailable(f"no entity of {facts.source} that has a name keeps it; are these its questions?")
    for quad in gone:
        store.remove(quad)
    removed = hashlib.sha256("\n".join(sorted(map(str, gone))).encode()).hexdigest()
    fingerprint = hashlib.sha256(f"{facts.fingerprint} {removed}".encode()).hexdigest()[:16]
    return f"{facts.source}, {len(gone):,} names left out", fingerprint


def _term_text(term: object) -> str:
    return term.value if isinstance(term, ox.NamedNode | ox.Literal) else ""


def _replace_folder(beside: Path, directory: Path) -> None:
    if directory.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        os.replace(directory, old)
        os.replace(beside, directory)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(beside, directory)
