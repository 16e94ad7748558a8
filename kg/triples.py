"""Triples as Python has them, as a file: whatever takes a file takes them.

They are a graph of rdflib or networkx, a data frame, or a list of triples.

The file lies below `cache_folder`, for its user alone, and is called by its content: the same triples are the
same graph, in another process too. A file that nobody asked for within a month is removed.
"""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeGuard, runtime_checkable

import pyoxigraph as ox

from kgqa.builds import replace_file
from kgqa.home import cache_folder, temporary_folder
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.tables.reading import NO_TEXTS, as_text
from kgqa.kg.tables.triples import ROLES, TripleTables, find_roles
from kgqa.kg.terms import one_line, replace_surrogates

MIN_SECONDS_KEPT = 30 * 86_400.0  # from when the triples were last given


@runtime_checkable
class Frame(Protocol):
    """A data frame of pandas."""

    columns: Any

    def itertuples(self, index: bool = True, name: str | None = "Pandas") -> Iterable[tuple[Any, ...]]:
        """Go through the rows."""

    def isna(self) -> "Frame":
        """Return where something is missing."""


@runtime_checkable
class _RdflibGraph(Protocol):
    def triples(self, triple: Any) -> Any: ...

    def serialize(self, *, format: str, encoding: str) -> bytes | None: ...


@runtime_checkable
class Network(Protocol):
    """A graph of networkx."""

    @property
    def nodes(self) -> Any:
        """The nodes; with ``data`` their attributes."""

    @property
    def edges(self) -> Any:
        """The edges; with ``data`` their attributes."""

    def is_directed(self) -> bool:
        """Return whether edges lead from one node to the other."""


Rows = Sequence[tuple[object, object, object]]

Triples = Frame | _RdflibGraph | Network | Rows

EDGE_NAMES = ("relation", "predicate", "type", "label", "name", "title")
"""The attributes of edges that say the relation, the first that is there."""

NODE_NAMES = (
    "label",
    "name",
    "title",
)  # those of nodes that say what a node is called, the first that is there


def is_triples(given: object) -> TypeGuard[Triples]:
    """Return whether something is a graph of rdflib or networkx, a data frame, or a list of triples."""
    if isinstance(given, list | tuple):
        return bool(given) and all(
            isinstance(each, list | tuple) and len(each) == len(ROLES) for each in given
        )
    return isinstance(given, Frame | _RdflibGraph | Network)


def write_triples(given: Triples) -> Path:
    """Write triples to their file and return its path.

    A row of a data frame is a triple: subject, relation, object; it is read as `kgqa.kg.tables` reads files.
    So is what is in a list, and are edges and attributes of nodes of a network.

    Raises:
        KGMalformed: if they cannot be written as RDF.
        KGUnavailable: if there is no room for the file.
    """
    if not isinstance(given, _RdflibGraph):
        rows = list(_frame_rows(given) if isinstance(given, Frame) else _rows(given))
        quads = TripleTables([rows]).quads(rows)
        text = ox.serialize((quad.triple for quad in quads), format=ox.RdfFormat.N_TRIPLES)
    else:
        try:
            text = _one_graph(given).serialize(format="nt", encoding="utf-8")
        except Exception as error:  # rdflib raises what it likes
            raise KGMalformed(f"rdflib cannot write its graph: {one_line(str(error))}") from None
    lines = b"".join(sorted((text or b"").splitlines(keepends=True)))
    return _keep(lines, f"{hashlib.sha256(lines).hexdigest()[:32]}.nt")


def _one_graph(given: Any) -> Any:
    """Return the triples of all graphs of a dataset as one graph, as queries see them."""
    if not hasattr(given, "quads"):
        return given
    from rdflib import Graph

    merged = Graph()
    for *triple, _ in given.quads():
        merged.add(tuple(triple))
    return merged


def _frame_rows(frame: Frame) -> Iterator[tuple[int, str, str, object]]:
    """Go through the rows of a data frame: the number of each, its subject, relation and object.

    What its columns are called tells which is which, as in a file, and which are left aside; else they stand
    in this order.
    """
    order = find_roles(tuple(frame.columns)) or ((0, 1, 2) if len(frame.columns) == len(ROLES) else None)
    if order is None:
        raise KGMalformed(
            f"a data frame of triples has three columns: subject, relation, object; not {len(frame.columns)}"
        )
    rows, missing = (each.itertuples(index=False, name=None) for each in (frame, frame.isna()))
    for place, (row, without) in enumerate(zip(rows, missing, strict=True)):
        cells, lacks = [_plain(row[at]) for at in order], [without[at] for at in order]
        for role, cell, lacking in zip(ROLES, cells, lacks, strict=True):
            if lacking or not as_text(cell):
                raise KGMalformed(f"row {place} of the data frame has no {role}; leave it out: dropna()")
            if isinstance(cell, NO_TEXTS):
                raise KGMalformed(
                    f"row {place} of the data frame: the {role} is a {type(cell).__name__}, not a text, "
                    "number or date; give each its own row: explode()"
                )
        yield place, as_text(cells[0]), as_text(cells[1]), cells[2]


def _rows(given: Network | Rows) -> Iterator[tuple[int, str, str, object]]:
    """Go through a list of triples, or the triples of a network: the number of each and its parts."""
    triples = _network_triples(given) if isinstance(given, Network) else given
    for place, cells in enumerate(triples):
        subject, relation, other = map(_plain, cells)
        for role, cell in zip(ROLES, (subject, relation, other), strict=True):
            if not as_text(cell) or isinstance(cell, NO_TEXTS):
                raise KGMalformed(f"triple {place} has no {role} that is a text, number or date")
        yield place, as_text(subject), as_text(relation), other


def _network_triples(network: Network) -> Iterator[tuple[object, object, object]]:
    """Yield the edges of a network and the attributes of its nodes; what has several parts is left out."""
    for node, about in network.nodes(data=True):
        called = next((name for name in NODE_NAMES if name in about), None)
        relations = {called: "rdfs:label", "type": "rdf:type"}
        for name, value in about.items():
            if as_text(value) and not isinstance(value, (*NO_TEXTS, set)):
                yield node, relations.get(name, name), value
    for start, end, about in network.edges(data=True):
        relation = next((about[name] for name in EDGE_NAMES if as_text(about.get(name))), None)
        if relation is None:
            raise KGMalformed(
                f"the edge from {one_line(str(start), 40)} to {one_line(str(end), 40)} has no relation; "
                f"give it one of the attributes {', '.join(EDGE_NAMES)}"
            )
        yield start, relation, end


def _plain(cell: Any) -> object:
    """Return a cell as Python has it; text without what no file holds."""
    if isinstance(cell, str):
        return replace_surrogates(cell)
    return cell.item() if hasattr(cell, "item") else cell  # of numpy


def _keep(text: bytes, name: str) -> Path:
    """Write a text to where triples are kept, or where that cannot be written to a temporary folder."""
    try:
        return _keep_in(cache_folder() / "triples", text, name)
    except OSError:
        try:
            return _keep_in(temporary_folder() / "triples", text, name)
        except OSError as error:
            raise KGUnavailable(
                f"cannot write {name}: {error.strerror}; set KGQA_HOME to a folder of yours"
            ) from None


def _keep_in(folder: Path, text: bytes, name: str) -> Path:
    path = folder / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        replace_file(path, lambda file: file.write(text))
    now = time.time_ns()
    os.utime(path, ns=(now, path.stat().st_mtime_ns))  # it was read: it is not another one
    for each in folder.iterdir():
        with suppress(OSError):
            if now - each.stat().st_atime_ns > MIN_SECONDS_KEPT * 1e9:
                each.unlink()
    return path
