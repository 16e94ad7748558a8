"""Tables of triples: three columns, subject, relation and object, by names or ids.

What a cell stands for is told by all tables of a graph:

| cell | becomes |
|---|---|
| ``http://…``, ``https://…``, ``_:x`` | this node, a node without a name |
| an id of Freebase or Wikidata, where all relations are of that graph | this node |
| an object of more than 1,000 characters, or of ``rdfs:label`` and its like | a text |
| an object of a relation all of whose objects are written as numbers, dates or truth values | a value |
| any other | the entity of that name |

The last but one holds only where none of these objects is a subject somewhere (the film 1984), and not
all subjects are numbers (ids).
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

import pyoxigraph as ox

from kgqa.kg.dialects import FREEBASE, PLAIN, RDF, RDFS, SKOS, WIKIDATA, Dialect
from kgqa.kg.errors import KGMalformed
from kgqa.kg.minting import (
    ALIAS,
    LABEL,
    MAX_NAME_CHARS,
    LabelOnce,
    Node,
    mint,
    relation_node,
    typed_literal,
    value_kind,
    value_literal,
    web_node,
)
from kgqa.kg.tables.reading import NO_TEXTS, Row, as_text, join_names, read_rows, table_suffix
from kgqa.kg.terms import is_id, one_line

ROLES = ("subject", "relation", "object")
HEADINGS = {
    "subject": {"subject", "subj", "s", "head", "h", "source", "src", "from", "start", "entity1", "entity_1"}
    | {"head_entity", "subject_id"},
    "relation": {"relation", "rel", "r", "predicate", "pred", "p", "property", "edge", "type", "relation_id"},
    "object": {"object", "obj", "o", "tail", "t", "target", "dst", "to", "end", "entity2", "entity_2"}
    | {"value", "tail_entity", "object_id"},
}
"""What columns are called, in any case; without such a header they stand in this order."""

_SURELY_HEADINGS = {"relation", "rel", "predicate", "pred"}  # what no relation is called

_WELL_KNOWN = {
    f"{prefix}:{name}": ox.NamedNode(space + name)
    for prefix, space, names in (
        ("rdf", RDF, ("type",)),
        ("rdfs", RDFS, ("label", "comment")),
        ("skos", SKOS, ("prefLabel", "altLabel")),
    )
    for name in names
}
_TEXT_RELATIONS = frozenset(
    (*PLAIN.labels, *PLAIN.aliases, *FREEBASE.labels, *FREEBASE.aliases, f"{RDFS}comment")
)
_NAMING_RELATIONS = frozenset((*PLAIN.labels, *FREEBASE.labels))


Table = Path | Sequence[tuple[int, str, str, object]]
"""A file, or its rows where they are at hand: a number, subject, relation and object, none of them empty."""


class TripleTables:
    """Tables of triples that make one graph; they are read once to see what cells stand for, then by `quads`.

    Raises:
        KGError: if one cannot be read, or is no table of triples.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        relations: set[str] = set()
        others: set[str] = set()  # relations that have an object which is not written as a value
        numbers: set[str] = set()  # subjects that are written as a value
        words = False  # whether a subject is not
        labelled: dict[str, set[str]] = {}  # under relations that name entities, their subjects
        for subject, relation, object in _all_triples(tables):
            relations.add(relation)
            kind = value_kind(object.strip()) if isinstance(object, str) else typed_literal(object)
            if kind is None:
                others.add(relation)
            if value_kind(subject):
                numbers.add(subject)
            else:
                words = True
            if _may_name(relation):
                labelled.setdefault(relation, set()).add(subject)
        self._dialect = next((each for each in (FREEBASE, WIKIDATA) if _is_of(each, relations)), PLAIN)
        self._values = relations - others if words else set()
        if numbers and self._values:
            self._values -= {by for _, by, object in _all_triples(tables) if as_text(object) in numbers}
        self._labelled = {
            each
            for relation, subjects in labelled.items()
            if self._relation(relation).value in _NAMING_RELATIONS
            for each in subjects
        }
        self._label = LabelOnce()
        self._node = lru_cache(maxsize=1 << 16)(self._make_node)

    def quads(self, table: Table) -> Iterator[ox.Quad]:
        """Go through the triples of a table, and the names of its entities."""
        for _, subject, relation, object in _triples(table):
            start, called = self._node(subject)
            yield from self._label(start, subject, called) if called else ()
            by = self._relation(relation)
            if (value := self._value(relation, by, object)) is not None:
                yield ox.Quad(start, by, value)
                continue
            name = as_text(object)
            end, called = self._node(name)
            yield from self._label(end, name, called) if called else ()
            yield ox.Quad(start, by, end)

    def _value(self, relation: str, by: ox.NamedNode, object: object) -> ox.Literal | None:
        """Return the literal that an object is; None for an entity."""
        text = as_text(object)
        if by.value in _TEXT_RELATIONS or len(text) > MAX_NAME_CHARS:
            return ox.Literal(text)
        if relation not in self._values:
            return None
        if not isinstance(object, str):
            return typed_literal(object)
        return value_literal(text, kind) if (kind := value_kind(text)) else None

    def _make_node(self, text: str) -> tuple[Node, ox.NamedNode | None]:
        """Return what a cell names, and by which relation its text is a name of that; None where by none."""
        if text.startswith("_:") and is_id(text):
            return ox.BlankNode(text[2:]), None
        if known := self._dialect.entity_iri(text):
            return ox.NamedNode(known), None
        if node := web_node(text):
            return node, None
        return mint("name", text), ALIAS if text in self._labelled else LABEL

    def _relation(self, text: str) -> ox.NamedNode:
        known = self._dialect.relation_iris(text)
        return ox.NamedNode(known[0]) if known else _relation(text)


@lru_cache(maxsize=1 << 12)
def _relation(text: str) -> ox.NamedNode:
    return _WELL_KNOWN.get(text) or web_node(text) or relation_node(text)


def _is_of(dialect: Dialect, relations: set[str]) -> bool:
    own = [each for each in relations if each not in _WELL_KNOWN and not web_node(each)]
    return bool(own) and all(map(dialect.relation_iris, own))


def _may_name(relation: str) -> bool:
    known = (_relation(relation).value, *FREEBASE.relation_iris(relation))
    return not _NAMING_RELATIONS.isdisjoint(known)


def _all_triples(tables: Sequence[Table]) -> Iterator[tuple[str, str, object]]:
    for table in tables:
        yield from (triple for _, *triple in _triples(table))  # type: ignore[misc]


def _triples(table: Table) -> Iterator[tuple[int, str, str, object]]:
    return _read_triples(table) if isinstance(table, Path) else iter(table)


def _read_triples(path: Path) -> Iterator[tuple[int, str, str, object]]:
    rows = read_rows(path)
    if (first := next(rows, None)) is None:
        return
    order = _order(path, first[1])
    for number, row in rows if order else chain([first], rows):
        cells = [row[place] for place in order or (0, 1, 2)]
        subject, relation, _ = texts = [as_text(cell) for cell in cells]
        _check(path, number, cells, texts)
        yield number, subject, relation, cells[2]


def _check(path: Path, number: int, cells: Sequence[object], texts: Sequence[str]) -> None:
    for role, cell, text in zip(ROLES, cells, texts, strict=True):
        if isinstance(cell, NO_TEXTS):
            raise KGMalformed(
                f"{path.name}, row {number}: the {role} is a {type(cell).__name__}, not a text, number or "
                "date; give each its own row, or say what the columns mean in a mapping (docs/graphs.md)"
            )
        if not text:
            raise KGMalformed(f"{path.name}, row {number}: no {role}; fill it in, or leave the row out")
        if len(text) > MAX_NAME_CHARS and role != "object":
            raise KGMalformed(
                f"{path.name}, row {number}: a {role} of {len(text):,} characters; a name has "
                f"{MAX_NAME_CHARS:,} at most: {one_line(text, 40)}"
            )


def find_roles(first: Row) -> tuple[int, int, int] | None:
    """Return the places of subject, relation and object in a header; None where a row is no such header.

    Other columns are left aside where one is called a relation, for sure.
    """
    names, places = _find_headings(first)
    if not all(len(found) == 1 for found in places):
        return None
    (subject,), (relation,), (object,) = places
    is_one = len(names) == len(ROLES) or names[relation] in _SURELY_HEADINGS
    return (subject, relation, object) if is_one else None


def _find_headings(first: Row) -> tuple[list[str], list[list[int]]]:
    names = [as_text(each).lower() for each in first]
    return names, [[at for at, name in enumerate(names) if name in HEADINGS[role]] for role in ROLES]


def _order(path: Path, first: Row) -> tuple[int, int, int] | None:
    """Return the places of subject, relation and object by a header; None where the first row is none."""
    if found := find_roles(first):
        return found
    names, places = _find_headings(first)
    shown = join_names(first)
    seems_one = sum(map(bool, places)) > 1 or not _SURELY_HEADINGS.isdisjoint(names)
    if len(names) != len(ROLES):
        raise KGMalformed(
            f"{path.name}: {len(names)} columns ({shown}), where triples have three; "
            + (
                "cells are apart by , or ; in .csv, and by tabs in .tsv"
                if len(names) == 1
                else "say what they mean in a mapping (docs/graphs.md), which kgqa kg map writes"
            )
        )
    if seems_one or table_suffix(path) == ".parquet":
        raise KGMalformed(
            f"{path.name}: which column is what? ({shown}); call them subject, relation and object, "
            "or say what they mean in a mapping (docs/graphs.md)"
        )
    return None
