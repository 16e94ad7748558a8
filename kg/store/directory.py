"""Opens graphs: files into memory, or a folder that was built from files once.

A store folder has ``kgqa.json`` (what the graph is) for its head; a build of it (`kgqa.builds`) holds
``names.sqlite`` (what its entities are called), ``values.sqlite`` (texts that they have),
``profile.json`` and ``store/`` (RocksDB). What RocksDB calls itself stands in the head, the two tables
and the store, so that files of two builds are never taken for one graph.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Protocol

import pyoxigraph as ox

from kgqa.builds import HeldFolder, has_build, hold_build, is_remains, new_build, read_head
from kgqa.files import read_file
from kgqa.kg.dialects import Dialect, detect_dialect
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.graph import GraphFacts
from kgqa.kg.linking.name_index import NamedGraph
from kgqa.kg.linking.name_sources import StoreNames
from kgqa.kg.linking.name_table import NameTable
from kgqa.kg.naming import Naming
from kgqa.kg.profile.building import build_profile
from kgqa.kg.profile.profile import Profile
from kgqa.kg.store.axioms import derive_facts
from kgqa.kg.store.embedded import EmbeddedStore
from kgqa.kg.store.loading import QuadReader, without_blank_nodes
from kgqa.kg.store.survey import count_predicates, read_names, read_values, survey
from kgqa.kg.store.unify import unify
from kgqa.kg.terms import is_iri, one_line

STORE_VERSION = 11
FACTS_FILE = "kgqa.json"
NAMES_FILE = "names.sqlite"
VALUES_FILE = "values.sqlite"
PROFILE_FILE = "profile.json"
STORE_FOLDER = "store"
MAX_IDENTITY_BYTES = 1 << 10

KeepsName = Callable[[str, str], bool]
"""Returns, for the id and a name of an entity, whether it keeps the name."""


def is_store(path: Path) -> bool:
    """Return whether ``path`` is a folder that `build_store` made.

    Raises:
        KGUnavailable: if ``path`` cannot be a path at all, being too long.
    """
    try:
        return (path / FACTS_FILE).is_file() and ((path / STORE_FOLDER).is_dir() or has_build(path))
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

    @property
    def inferred(self) -> dict[str, str]:
        """Which of its relations are not stated as such, and why they were inferred."""

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
    unify(store)
    derive_facts(store)
    return store, _state_facts(store, reader.source, reader.fingerprint, reader.inferred)


def load_text(text: bytes, source: str) -> tuple[ox.Store, GraphFacts]:
    """Read N-Triples into memory; KGMalformed for what is none. A graph without triples is one, too."""
    store = ox.Store()
    try:
        store.load(without_blank_nodes(text), ox.RdfFormat.N_TRIPLES)
    except SyntaxError as error:
        raise KGMalformed(f"{source} is no graph: {error}") from None
    unify(store)
    derive_facts(store)
    predicates = count_predicates(store)
    fingerprint = hashlib.sha256(text).hexdigest()[:16]
    return store, GraphFacts(source, fingerprint, sum(predicates.values()), predicates)


def build_store(
    graph: Sequence[Path] | GraphReader,
    directory: Path,
    keeps_name: KeepsName | None = None,
    watch: Callable[[float], None] | None = None,
) -> GraphFacts:
    """Build a store folder from files, or what else is read, in place of an earlier one.

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
    if is_other and not is_remains(directory):
        raise KGUnavailable(f"{directory} exists and is no graph store; choose another folder or empty it")
    try:
        with new_build(directory, FACTS_FILE, (NAMES_FILE, VALUES_FILE, PROFILE_FILE, STORE_FOLDER)) as build:
            reader = QuadReader(graph, watch) if isinstance(graph, Sequence) else graph
            return _write_build(reader, build, keeps_name)
    except OSError as error:
        raise KGUnavailable(f"cannot write {directory}: {error.strerror or error}") from error


@dataclass(frozen=True)
class StoredGraph:
    """What a store folder held when it was opened; it stays so, whatever takes its place."""

    store: ox.Store
    facts: GraphFacts
    names: NameTable
    values: NameTable
    profile: bytes
    build: HeldFolder

    @property
    def folder(self) -> Path:
        """Where RocksDB has it."""
        return self.build.path / STORE_FOLDER

    def read_profile(self) -> Profile:
        """Read its profile (blocking); KGMalformed if that is damaged."""
        path = self.build.path / PROFILE_FILE
        try:
            return Profile.read(self.profile)
        except ValueError as error:
            raise KGMalformed(f"{path} is damaged; build the store again ({one_line(str(error))})") from error


def open_store(directory: Path) -> StoredGraph:
    """Open a store folder for reading.

    Raises:
        KGUnavailable: if it cannot be opened.
        KGMalformed: if ``kgqa.json`` is damaged or of another version, the names are missing or damaged, a
            file is of another build, or ``store/`` holds what RocksDB would wait for: a pipe or a device.
    """
    try:
        return read_head(directory / FACTS_FILE, lambda head: _open_build(directory, head))
    except (OSError, RuntimeError) as error:
        raise KGUnavailable(
            f"cannot open {directory}: {getattr(error, 'strerror', None) or error}"
        ) from error


def _open_build(directory: Path, head: bytes) -> StoredGraph:
    from pydantic import TypeAdapter

    try:
        found = json.loads(head)
        if found["version"] != STORE_VERSION:
            raise KGMalformed(f"{directory} was built by another version of kgqa; build it again")
        facts = TypeAdapter(GraphFacts).validate_json(head, strict=True)
        if not all(map(is_iri, facts.predicates)):
            raise ValueError("a predicate is no IRI")
        build, identity = hold_build(directory, found), str(found["identity"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise KGMalformed(f"{directory / FACTS_FILE} is damaged; build the store again") from error
    folder = build.path / STORE_FOLDER
    if odd := [each.path for each in os.scandir(folder) if not (each.is_file() or each.is_dir())]:
        raise KGMalformed(f"{odd[0]} is no regular file; build the store again")
    if _read_identity(folder) != identity:
        raise KGMalformed(f"{directory} has files of two builds; build the store again")
    names, values = (NameTable.open(build.path / file, identity) for file in (NAMES_FILE, VALUES_FILE))
    _rocksdb_process()
    profile = read_file(build.path / PROFILE_FILE)
    return StoredGraph(ox.Store.read_only(str(folder)), facts, names, values, profile, build)


@cache
def _rocksdb_process() -> int:
    """Return the process in which RocksDB was begun: those that are forked from it have not its threads."""
    return os.getpid()


def _read_identity(folder: Path) -> str:
    """Return what RocksDB calls a store; no other is called so."""
    return read_file(folder / "IDENTITY", MAX_IDENTITY_BYTES).decode(errors="replace").strip()


def list_names(
    store: ox.Store, facts: GraphFacts, profile: Profile, dialect: Dialect, graph: NamedGraph
) -> NameTable:
    """List what the entities of a graph in memory are called."""
    with closing(read_names(store, facts, dialect, profile.terms)) as names:
        return NameTable.build(names, graph.facts)


def list_values(store: ox.Store, facts: GraphFacts, dialect: Dialect) -> NameTable:
    """List the values of a graph in memory."""
    return NameTable.build(read_values(store, facts, dialect), lambda _: {})


def profile_store(store: EmbeddedStore, facts: GraphFacts) -> tuple[Profile, GraphFacts]:
    """Make the profile of an embedded graph, and add its summary to what is known."""
    kind = detect_dialect(facts.predicates)
    profile = build_profile(lambda query: store.query_now(query).rows, facts.predicates, kind)
    return profile, replace(facts, summary=profile.summary)


def _state_facts(store: ox.Store, source: str, fingerprint: str, inferred: dict[str, str]) -> GraphFacts:
    predicates = count_predicates(store)
    if not predicates:
        raise KGUnavailable(f"{source} holds no triples")
    return GraphFacts(source, fingerprint, sum(predicates.values()), predicates, inferred=inferred)


def _write_build(reader: GraphReader, build: Path, keeps_name: KeepsName | None) -> GraphFacts:
    if _rocksdb_process() != os.getpid():
        raise KGUnavailable(
            "a process that was forked from one that has opened a store can build none; begin it by spawn"
        )
    store = ox.Store(str(build / STORE_FOLDER))
    identity = _read_identity(build / STORE_FOLDER)
    reader.load(store)
    unify(store)
    derive_facts(store)
    source, fingerprint = reader.source, reader.fingerprint
    if keeps_name is not None:
        source, fingerprint = _remove_names(store, _state_facts(store, source, fingerprint, {}), keeps_name)
    with ThreadPoolExecutor(3) as aside:
        tidying = aside.submit(store.optimize)  # what is left in pieces takes questions thrice as long
        executor = EmbeddedStore(store)
        stated = _state_facts(store, source, fingerprint, reader.inferred)
        profile, facts = profile_store(executor, stated)
        if keeps_name is not None:  # those without one are to have none
            facts = replace(facts, summary=replace(facts.summary, by_iri=False))
        dialect = facts.dialect
        naming = Naming(dialect, facts.predicates)
        graph = StoreNames(executor, dialect, naming, facts.predicates)
        counting = aside.submit(survey, store, facts, naming, graph)
        values = read_values(store, facts, dialect)
        listing = aside.submit(NameTable.build, values, lambda _: {}, build / VALUES_FILE, identity)
        with closing(read_names(store, facts, dialect, profile.terms)) as names:
            NameTable.build(names, graph.facts, build / NAMES_FILE, identity)
        (build / PROFILE_FILE).write_bytes(profile.write())
        facts = counting.result()
        listing.result()
        tidying.result()
    del graph, executor
    store.flush()
    del store
    head = {"version": STORE_VERSION, "build": build.name, "identity": identity, **asdict(facts)}
    text = json.dumps(head, ensure_ascii=False, indent=1, sort_keys=True)
    (build / FACTS_FILE).write_text(text + "\n", encoding="utf-8")
    return facts


def _remove_names(store: ox.Store, facts: GraphFacts, keeps_name: KeepsName) -> tuple[str, str]:
    """Take the names away that are not kept; return what the rest is called, and its fingerprint."""
    dialect = detect_dialect(facts.predicates)
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
