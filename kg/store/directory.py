"""Opens graphs: files into memory, or a folder that was built from files once.

A store folder holds ``kgqa.json`` (what the graph is), ``names.sqlite`` (what its
entities are called) and ``store/`` (RocksDB).
It is built beside its place and renamed when complete, so that an interrupted
build leaves nothing that looks like a store.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from kgqa.files import read_file
from kgqa.kg.dialects import Dialect, detect_dialect
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.graph import GraphFacts
from kgqa.kg.linking.lookup import StoreNames, is_node
from kgqa.kg.linking.name_index import NamedGraph
from kgqa.kg.linking.name_table import NameTable
from kgqa.kg.naming import Naming
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.store.embedded import EmbeddedStore
from kgqa.kg.store.loading import QuadReader
from kgqa.kg.terms import is_iri

STORE_VERSION = 4
FACTS_FILE = "kgqa.json"
NAMES_FILE = "names.sqlite"
STORE_FOLDER = "store"

MAX_TRIPLES_SURVEYED = 1_000_000
"""Triples up to which entities, and relations that facts have both ways, are counted: it takes longer than
to load them."""

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


def load_files(files: Sequence[Path], store: ox.Store | None = None) -> tuple[ox.Store, GraphFacts]:
    """Read files into a store, or into memory where none is given.

    Raises:
        KGUnavailable: for missing files, unknown kinds, and files without triples.
        KGMalformed: for files that are not the RDF their suffix promises.
    """
    store, reader = ox.Store() if store is None else store, QuadReader(files)
    reader.load(store)
    source = ", ".join(str(path) for path in files)
    if len(store) == 0:
        raise KGUnavailable(f"{source} holds no triples")
    return store, GraphFacts(source, reader.fingerprint, len(store), _count_predicates(store))


def build_store(files: Sequence[Path], directory: Path, keeps_name: KeepsName | None = None) -> GraphFacts:
    """Build a store folder from files; an earlier store in its place is replaced.

    Args:
        files: RDF files; several make one graph.
        directory: the folder to build.
        keeps_name: told the id and a name of each entity, which ones keep it; the others are left
            without a name (as most nodes of an incomplete graph are, CoR §1). None: all keep theirs.

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
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    except OSError as error:
        raise KGUnavailable(f"cannot write beside {directory}: {error.strerror}") from error
    try:
        facts = _build_folder(files, beside, keeps_name)
        _replace_folder(beside, directory)
    except OSError as error:
        raise KGUnavailable(f"cannot write {directory}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return facts


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


def list_names(
    store: ox.Store, facts: GraphFacts, dialect: Dialect, named: NamedGraph, path: Path | None = None
) -> NameTable:
    """List the names of a graph, in memory if no path is given.

    Relations are no entities, nor are the entities that they have their names from.
    """
    naming = Naming(dialect, facts.predicates)

    def names() -> Iterator[tuple[str, str]]:
        if naming.local:
            for (node,) in _solutions(store, queries.nodes()):
                if is_node(id := _term_id(node), facts.predicates, dialect) and (name := naming.name(id, ())):
                    yield id, name
        for predicate in (*naming.labels, *naming.aliases):
            for node, name in _solutions(store, queries.all_names(predicate)):
                if is_node(id := _term_id(node), facts.predicates, dialect) and isinstance(name, ox.Literal):
                    yield id, name.value

    return NameTable.build(names(), named.degrees, path)


def _build_folder(files: Sequence[Path], beside: Path, keeps_name: KeepsName | None) -> GraphFacts:
    store, facts = load_files(files, ox.Store(str(beside / STORE_FOLDER)))
    dialect = detect_dialect(tuple(facts.predicates))
    if keeps_name is not None:
        facts = _remove_names(store, facts, dialect, keeps_name)
    naming = Naming(dialect, facts.predicates)
    named = StoreNames(EmbeddedStore(store), dialect, naming, facts.predicates)
    list_names(store, facts, dialect, named, beside / NAMES_FILE)
    relations = [name for name in named.preferred(list(facts.predicates)).values() if name]
    count = _count(store, queries.count_labelled(naming.labels)) - len(relations) if naming.labels else 0
    facts = replace(facts, named=count)
    if (facts.triples or 0) <= MAX_TRIPLES_SURVEYED:
        nodes = (_term_id(node) for (node,) in _solutions(store, queries.nodes()))
        both = [
            (one.value, other.value, int(n.value)) for one, other, n in _solutions(store, queries.both_ways())
        ]
        facts = replace(
            facts, entities=sum(node not in facts.predicates for node in nodes), both_ways=tuple(both)
        )
    store.flush()
    del store
    text = json.dumps(
        {"version": STORE_VERSION, **asdict(facts)}, ensure_ascii=False, indent=1, sort_keys=True
    )
    (beside / FACTS_FILE).write_text(text + "\n", encoding="utf-8")
    beside.chmod(0o755)
    return facts


def _remove_names(store: ox.Store, facts: GraphFacts, dialect: Dialect, keeps_name: KeepsName) -> GraphFacts:
    """Take the names away that are not kept; what is left has a fingerprint of its own."""
    naming = [ox.NamedNode(predicate) for predicate in (*dialect.labels, *dialect.aliases)]
    names = [quad for predicate in naming for quad in store.quads_for_pattern(None, predicate, None)]
    gone = [quad for quad in names if not keeps_name(_term_text(quad.subject), _term_text(quad.object))]
    if len(gone) == len(names):
        raise KGUnavailable(f"no entity of {facts.source} that has a name keeps it; are these its questions?")
    for quad in gone:
        store.remove(quad)
    removed = hashlib.sha256("\n".join(sorted(map(str, gone))).encode()).hexdigest()
    fingerprint = hashlib.sha256(f"{facts.fingerprint} {removed}".encode()).hexdigest()[:16]
    return GraphFacts(
        f"{facts.source}, {len(gone):,} names left out", fingerprint, len(store), _count_predicates(store)
    )


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


def _count_predicates(store: ox.Store) -> dict[str, int]:
    return dict(sorted((each.value, int(n.value)) for each, n in _solutions(store, queries.predicates())))


def _count(store: ox.Store, query: str) -> int:
    return next(int(n.value) for (n,) in _solutions(store, query))


def _solutions(store: ox.Store, query: str) -> Iterator[tuple[Any, ...]]:
    answer = store.query(query, use_default_graph_as_union=True)
    assert isinstance(answer, ox.QuerySolutions)  # noqa: S101
    yield from map(tuple, answer)


def _term_id(node: ox.NamedNode) -> str:
    blank = node.value.removeprefix(BLANK_NAMESPACE)
    return node.value if blank == node.value else f"_:{blank}"
