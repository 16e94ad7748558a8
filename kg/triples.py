"""Triples as Python has them, of rdflib or in a data frame, as a file: whatever takes a file takes them.

The file lies below `cache_folder`, for its user alone, and is called by its content: the same triples are the
same graph, in another process too. A file that nobody asked for within a month is removed.
"""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol, TypeGuard, runtime_checkable
from urllib.parse import quote

import pyoxigraph as ox

from kgqa.home import cache_folder, temporary_folder
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.terms import is_iri, one_line, replace_surrogates

NAMES = "urn:kgqa:name#"  # of what a data frame calls by a plain name
LABEL = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
XSD = "http://www.w3.org/2001/XMLSchema#"
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


def is_triples(given: object) -> TypeGuard[Frame | _RdflibGraph]:
    """Return whether something is a graph of rdflib, or a data frame."""
    return isinstance(given, Frame | _RdflibGraph)


def write_triples(given: Frame | _RdflibGraph) -> Path:
    """Write triples to their file and return its path.

    A row of a data frame is a triple: subject, relation, object. What is no IRI is the name of a node or a
    relation; beside an IRI and a relation that is one, it is a text, as a number always is a number.

    Raises:
        KGMalformed: if they cannot be written as RDF.
        KGUnavailable: if there is no room for the file.
    """
    if isinstance(given, Frame):
        text = ox.serialize(_frame_triples(given), format=ox.RdfFormat.N_TRIPLES)
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


def _frame_triples(frame: Frame) -> Iterator[ox.Triple]:
    """Go through the triples of a data frame, and the names of its nodes, which are told once."""
    if len(frame.columns) != 3:
        raise KGMalformed(
            f"a data frame of triples has three columns: subject, relation, object; not {len(frame.columns)}"
        )
    named: set[str] = set()
    rows, missing = (each.itertuples(index=False, name=None) for each in (frame, frame.isna()))
    for place, (row, lacks) in enumerate(zip(rows, missing, strict=True)):
        for column, cell, lacking in zip(("subject", "relation", "object"), row, lacks, strict=True):
            if lacking or not str(cell).strip():
                raise KGMalformed(f"row {place} of the data frame has no {column}; leave it out: dropna()")
        subject, relation, value = (
            replace_surrogates(cell) if isinstance(cell, str) else cell for cell in row
        )
        is_rdf = _is_iri(str(subject)) and _is_iri(str(relation))
        for cell in () if is_rdf else (str(subject), value):
            if isinstance(cell, str) and not _is_iri(cell) and cell not in named:
                named.add(cell)
                yield ox.Triple(_node(cell), LABEL, ox.Literal(cell))
        yield ox.Triple(_node(str(subject)), _node(str(relation)), _object(value, is_rdf))


def _is_iri(cell: str) -> bool:
    """Return whether a cell is an IRI rather than a name with a colon."""
    return is_iri(cell) and ("://" in cell or cell.startswith("urn:"))


def _node(name: str) -> ox.NamedNode:
    return ox.NamedNode(name if _is_iri(name) else NAMES + quote(name, safe=""))


def _object(value: Any, is_rdf: bool) -> ox.NamedNode | ox.Literal:
    if isinstance(value, str):
        return ox.Literal(value) if is_rdf and not _is_iri(value) else _node(value)
    value = value.item() if hasattr(value, "item") else value  # a number of numpy
    if isinstance(value, bool | int | float):
        return ox.Literal(value)
    if isinstance(value, date):  # a time, too
        kind = "dateTime" if isinstance(value, datetime) else "date"
        return ox.Literal(value.isoformat(), datatype=ox.NamedNode(XSD + kind))
    return ox.Literal(str(value))


def _keep(text: bytes, name: str) -> Path:
    """Write a text to where triples are kept, or where that cannot be written to a temporary folder."""
    try:
        return _keep_in(cache_folder() / "triples", text, name)
    except OSError:
        try:
            return _keep_in(Path(temporary_folder().name) / "triples", text, name)
        except OSError as error:
            raise KGUnavailable(
                f"cannot write {name}: {error.strerror}; set KGQA_HOME to a folder of yours"
            ) from None


def _keep_in(folder: Path, text: bytes, name: str) -> Path:
    path, beside = folder / name, folder / f".{token_hex(8)}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            beside.write_bytes(text)
            os.replace(beside, path)
        now = time.time_ns()
        os.utime(path, ns=(now, path.stat().st_mtime_ns))  # it was read: it is not another one
        for each in folder.iterdir():
            with suppress(OSError):
                if now - each.stat().st_atime_ns > MIN_SECONDS_KEPT * 1e9:
                    each.unlink()
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise
    return path
