"""Tables of anything, with a mapping: a TOML file that says what their columns mean.

```toml
[film]                        # rows are films; the class has this name
file = "films.csv"            # beside this file, or in a folder below
id = "id"                     # the column that tells rows apart; without one the name does
name = "title"                # the column of the name, or several: ["first", "last"]
aliases = ["original_title"]  # columns of further names
values = { year = "year", released = { column = "date", type = "date" } }  # relation = column
links = { director = { column = "director_id", to = "person" }, genre = "genre" }
missing = ["N/A"]             # what stands for nothing in cells

[person]
file = "people.csv"
id = "id"
name = "name"

[actors]                      # rows that say more of rows of another table
of = "film"
file = "actors.csv"
id = "film_id"
links = { starring = { column = "person_id", to = "person" } }
```

A table without ``id`` and ``name`` has rows that are nodes without a name (mediators): who played which part.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal as Choice

import pyoxigraph as ox
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from kgqa.files import read_file
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.minting import (
    ALIAS,
    MAX_NAME_CHARS,
    TYPE,
    LabelOnce,
    Node,
    literal,
    mint,
    relation_node,
    typed_literal,
    value_kind,
    value_literal,
    web_node,
)
from kgqa.kg.tables.reading import TABLE_SUFFIXES, Row, as_text, join_names, read_rows, table_suffix
from kgqa.kg.terms import one_line
from kgqa.locks import cached_property

MAPPING_SUFFIX = ".toml"
MAX_MAPPING_BYTES = 1 << 20


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    column: str
    separator: str | None = Field(default=None, min_length=1)  # between several values in one cell


Kind = Choice["text", "integer", "decimal", "double", "date", "dateTime", "year", "boolean"]


class Value(_Part):
    """A column of values; without a type its values are what all of them are written as, else texts.

    A date may be written with the time 00:00, a boolean as 0 or 1.
    """

    type: Kind | None = None
    language: str | None = Field(default=None, pattern=r"^[A-Za-z]+(-[A-Za-z0-9]+)*$")


class Link(_Part):
    """A column of entities: by the ids of rows of a table (``to``), or by names.

    Where each row has a relation of its own, a column says which (``relation``).
    """

    to: str | None = None
    relation: str | None = None


def _as_column(given: object) -> object:
    return {"column": given} if isinstance(given, str) else given


def _as_columns(given: object) -> object:
    return [given] if isinstance(given, str) else given


class TableMapping(BaseModel):
    """What the columns of one table mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    id: str | None = None
    name: Annotated[tuple[str, ...], BeforeValidator(_as_columns)] = ()
    prefix: str | None = None  # of names that are numbers: order 10248
    aliases: Annotated[tuple[str, ...], BeforeValidator(_as_columns)] = ()
    of: str | None = None
    values: Mapping[str, Annotated[Value, BeforeValidator(_as_column)]] = {}
    links: Mapping[str, Annotated[Link, BeforeValidator(_as_column)]] = {}
    missing: Annotated[tuple[str, ...], BeforeValidator(_as_columns)] = ()

    @property
    def columns(self) -> list[str]:
        """The columns that are named."""
        parts = [part.column for part in (*self.values.values(), *self.links.values())]
        relations = [link.relation for link in self.links.values()]
        return [each for each in (self.id, *self.name, *self.aliases, *parts, *relations) if each]


class MappedTables:
    """The tables of a mapping by the names of their sections, which make one graph; ``source`` is its name.

    Raises:
        KGError: if a table cannot be read, or the mapping does not fit it.
    """

    def __init__(self, tables: Mapping[str, TableMapping], folder: Path, source: str) -> None:
        self._tables, self._folder, self._source = tables, folder, source
        for name, table in tables.items():
            self._check(name, table)
        self._label = LabelOnce()

    @classmethod
    def read(cls, path: Path) -> "MappedTables":
        """Read a mapping, which lies beside its tables; raise KGError if it cannot be read."""
        return cls(_read_mapping(path), path.parent, path.name)

    @cached_property
    def files(self) -> list[Path]:
        """The files of the tables, each once."""
        return list(dict.fromkeys(self._file(table) for table in self._tables.values()))

    def quads(self, only: Path | None = None) -> Iterator[ox.Quad]:
        """Go through the facts of all tables, or of one file."""
        for name, table in self._tables.items():
            if only in {None, file := self._file(table)}:
                yield from _MappedTable(name, table, file, self._tables, self._label).quads()

    def _file(self, table: TableMapping) -> Path:
        return self._folder / table.file

    def _check(self, name: str, table: TableMapping) -> None:
        if table.of and not table.id:
            raise KGMalformed(
                f"{self._source}: {name}: which column has the ids of rows of {table.of!r}? say id"
            )
        for target in filter(None, (table.of, *(link.to for link in table.links.values()))):
            if target not in self._tables:
                known = ", ".join(self._tables)
                raise KGMalformed(
                    f"{self._source}: {name}: no table is called {target!r}; there are: {known}"
                )
            if not (self._tables[target].id or self._tables[target].name):
                raise KGMalformed(f"{self._source}: {name}: rows of {target!r} have neither id nor name")
            if self._tables[target].of:
                raise KGMalformed(
                    f"{self._source}: {name}: name {self._tables[target].of!r} in the place of {target!r}"
                )
        file = Path(table.file)
        if file.is_absolute() or ".." in file.parts or table_suffix(file) is None:
            raise KGMalformed(
                f"{self._source}: {name}: file {table.file!r} is no table ({', '.join(TABLE_SUFFIXES)}) "
                "beside the mapping or in a folder below"
            )
        if not self._file(table).is_file():
            raise KGUnavailable(f"{self._source}: {name}: no such file: {self._file(table)}")


def _read_mapping(path: Path) -> dict[str, TableMapping]:
    try:
        found = tomllib.loads(read_file(path, MAX_MAPPING_BYTES).decode())
    except OSError as error:
        raise KGUnavailable(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise KGMalformed(f"{path.name}: not readable as TOML: {one_line(str(error))}") from error
    if not found or not all(isinstance(each, dict) for each in found.values()):
        raise KGMalformed(
            f"{path.name}: a mapping has a section for each table, such as [film] (docs/graphs.md)"
        )
    tables = {}
    for name, section in found.items():
        try:
            tables[name] = TableMapping.model_validate(section)
        except ValidationError as error:
            raise KGMalformed(f"{path.name}: {one_line(name, 40)}: {_explain(error, section)}") from error
    return tables


def _explain(error: ValidationError, section: Mapping[str, object]) -> str:
    first = error.errors()[0]
    at = ".".join(str(each) for each in first["loc"])
    if first["type"] != "extra_forbidden":
        return one_line(f"{at}: {first['msg']}")
    kinds: dict[str, type[BaseModel]] = {"values": Value, "links": Link}
    kind = kinds.get(str(first["loc"][0]), TableMapping)
    return f"unknown key {one_line(at, 60)!r}; there are: {', '.join(kind.model_fields)}"


class _MappedTable:
    """The facts of one table."""

    def __init__(
        self, name: str, table: TableMapping, path: Path, tables: Mapping[str, TableMapping], label: LabelOnce
    ) -> None:
        self._name, self._table, self._path, self._tables, self._label = name, table, path, tables, label
        self._place: dict[str, int] = {}

    def quads(self) -> Iterator[ox.Quad]:
        """Go through the facts of the rows."""
        table = self._table
        kinds = self._kinds()
        kind = mint("class", self._name)
        for number, row in self._rows():
            node = self._row_node(number, row)
            if table.of is None and (table.id or table.name):
                yield ox.Quad(node, TYPE, kind)
                yield from self._label(kind, self._name)
            if name := self._row_name(row):
                yield from self._label(node, name)
            for column in table.aliases:
                if name := self._text(row, column):
                    yield ox.Quad(node, ALIAS, ox.Literal(name))
            for relation, value in table.values.items():
                by = relation_node(relation)
                for cell in self._cells(row, value):
                    yield ox.Quad(node, by, self._literal(cell, value, kinds[relation], number))
            for relation, link in table.links.items():
                by = relation_node((link.relation and self._text(row, link.relation)) or relation)
                for cell in self._cells(row, link):
                    end, name = self._linked(as_text(cell), link, number)
                    yield ox.Quad(node, by, end)
                    yield from self._label(end, name) if name else ()

    def _rows(self) -> Iterator[tuple[int, Row]]:
        rows = read_rows(self._path, join_commas=True)
        first = next(rows, None)
        header = [as_text(each) for each in first[1]] if first else []
        for column in self._table.columns:
            if header.count(column) != 1:
                what = "two columns are" if column in header else "no column is"
                raise KGMalformed(
                    f"{self._path.name}: {what} called {one_line(column, 60)!r}; "
                    f"there are: {join_names(header)}"
                )
            self._place[column] = header.index(column)
        yield from rows

    def _text(self, row: Row, column: str) -> str:
        text = as_text(row[self._place[column]])
        return "" if text in self._table.missing else text

    def _row_name(self, row: Row) -> str:
        name = " ".join(filter(None, (self._text(row, column) for column in self._table.name)))
        return f"{self._table.prefix} {name}" if name and self._table.prefix else name

    def _cells(self, row: Row, part: _Part) -> Iterator[object]:
        """Return what a cell holds, one or several; nothing for an empty one."""
        cell = row[self._place[part.column]]
        many = cell if isinstance(cell, list | tuple) else [cell]
        for each in many:
            some = each.split(part.separator) if part.separator and isinstance(each, str) else [each]
            yield from (one for one in some if (text := as_text(one)) and text not in self._table.missing)

    def _row_node(self, number: int, row: Row) -> Node:
        table = self._table
        if table.id or table.name:
            if not (key := self._text(row, table.id) if table.id else self._row_name(row)):
                column = table.id or table.name[0]
                raise KGMalformed(
                    f"{self._path.name}, row {number}: nothing in column {column!r}, which tells rows apart"
                )
            return self._keyed(table.of or self._name, key, number)
        return ox.BlankNode(f"{self._name.encode().hex()}-{number}")

    def _keyed(self, name: str, key: str, number: int) -> ox.NamedNode:
        """Return the entity of a row of a table by its id, or by its name where it has none."""
        self._check_length(key, number)
        return web_node(key) or (mint("row", name, key) if self._tables[name].id else mint("name", key))

    def _linked(self, text: str, link: Link, number: int) -> tuple[Node, str]:
        """Return the entity that a cell names, and its name if that is it."""
        if link.to:
            keyed_by_name = not self._tables[link.to].id
            return self._keyed(link.to, text, number), text if keyed_by_name and not web_node(text) else ""
        self._check_length(text, number)
        node = web_node(text)
        return (node, "") if node else (mint("name", text), text)

    def _check_length(self, text: str, number: int) -> None:
        if len(text) > MAX_NAME_CHARS:
            raise KGMalformed(
                f"{self._path.name}, row {number}: an id or name of {len(text):,} characters; "
                f"{MAX_NAME_CHARS:,} are allowed: {one_line(text, 40)}"
            )

    def _kinds(self) -> dict[str, str | None]:
        """Return the datatype of each relation's values: as declared, or as all of the column are written."""
        kinds = {relation: value.type for relation, value in self._table.values.items()}
        untyped = {r: v for r, v in self._table.values.items() if v.type is None and v.language is None}
        seen: dict[str, set[str | None]] = {relation: set() for relation in untyped}
        for _, row in self._rows() if untyped else ():
            for relation, value in untyped.items():
                for cell in self._cells(row, value):
                    if isinstance(cell, str) and None not in seen[relation]:
                        seen[relation].add(value_kind(cell.strip()))
        return kinds | {relation: common_kind(found) for relation, found in seen.items()}

    def _literal(self, cell: object, value: Value, kind: str | None, number: int) -> ox.Literal:
        text = as_text(cell)
        if value.language:
            return ox.Literal(text, language=value.language)
        if kind is None and not isinstance(cell, str):
            if found := typed_literal(cell):
                return found
            raise KGMalformed(
                f"{self._path.name}, row {number}: column {value.column!r} holds a {type(cell).__name__}"
            )
        if kind in {None, "text"}:
            return ox.Literal(text)
        if kind == "year":
            if len(text) == 4 and text.isdecimal() and text.isascii():
                return literal(text, "gYear")
        elif kind == "date" and is_midnight(text):
            return value_literal(text[:_DATE_CHARS], "date")
        elif kind == "boolean" and text in {"0", "1"}:
            return literal("true" if text == "1" else "false", "boolean")
        elif value_kind(text) in _WITHIN.get(str(kind), (kind,)):
            return value_literal(text, str(kind))
        raise KGMalformed(
            f"{self._path.name}, row {number}: {one_line(text, 60)!r} in column {value.column!r} "
            f"is no {kind}; correct it, or change the type in the mapping"
        )


_DATE_CHARS = 10
_MIDNIGHT = re.compile(r"[T ]00:00(?::00(?:\.0+)?)?")


def is_midnight(text: str) -> bool:
    """Return whether a text is a date with the time 00:00, as databases write dates without a time.

    >>> is_midnight("1996-07-04 00:00:00.000"), is_midnight("1996-07-04 10:00:00"), is_midnight("1996-07-04")
    (True, False, False)
    """
    day, time = text[:_DATE_CHARS], text[_DATE_CHARS:]
    return value_kind(day) == "date" and _MIDNIGHT.fullmatch(time) is not None


_NUMBERS = ("integer", "decimal", "double")
_WITHIN = {kind: _NUMBERS[:most] for most, kind in enumerate(_NUMBERS, 1)}  # what each may be written as


def common_kind(kinds: set[str | None]) -> str | None:
    """Return the datatype that holds values of several; None for texts.

    >>> common_kind({"integer", "decimal"}), common_kind({"integer", "date"}), common_kind(set())
    ('decimal', None, None)
    """
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds and kinds <= set(_NUMBERS):
        return max((str(kind) for kind in kinds), key=_NUMBERS.index)
    return None
