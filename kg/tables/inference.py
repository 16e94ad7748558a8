"""Infers a mapping for tables that have none: what tells rows apart, what links them, what they are called.

| what | where it is taken for that |
|---|---|
| key | a column without gaps all of whose values differ: by its name, by what refers to it, or the first |
| link | all values are values of a key, and the names agree; or nothing else comes as near |
| table between two others | two links and nothing else: a link from one to the other |
| rows without a name | no key: nodes that only stand between others |
| name | a text that nearly all rows have and that differs in nearly all, by what it is called |

Uniqueness and containment are checked on all rows. What is not clear is no link: the column stays a value,
and a note says so.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import get_args

from kgqa.kg.errors import KGUnavailable
from kgqa.kg.minting import relation_node, value_kind, web_node
from kgqa.kg.tables.columns import (
    KEY_WORD_ALONE,
    KEY_WORDS,
    Column,
    HeldValues,
    Reference,
    Table,
    in_singular,
    read_table,
    split_name,
)
from kgqa.kg.tables.mapping import Kind, Link, MappedTables, TableMapping, Value, common_kind
from kgqa.kg.tables.reading import as_text, join_names, read_rows, table_suffix
from kgqa.kg.tables.triples import ROLES, find_roles
from kgqa.locks import cached_property

MIN_DISTINCT_SHARE = 0.9  # of a column of names
MIN_FILLED_SHARE = 0.95
MIN_CONTAINED_SHARE = 0.95  # of different values, where the names agree
MIN_STEM_CHARS = 4
MIN_NAMING_CHARS = 5  # of an id that stands for its row by itself: shorter ones are years, amounts and words
_ROWS_SAMPLED = 1_000  # to see whether a table is one of triples
_VALUES_TO_TELL = 2  # different values that are in a key, where nothing else says so
_ROWS_TO_TELL = 3  # by whose values a row above them is a header

REFERRING_WORDS = frozenset(
    (*KEY_WORDS, "to", "by", "of", "via", "from", "for", "at", "parent", "source", "target", "head", "tail")
)
NAME_WORDS = ("name", "title", "label", "designation")
_KEY_OR_NAME = {(word,) for word in ("id", "name", "title", "code")}
GIVEN_WORDS = {"first", "given", "forename", "firstname", "givenname"}
FAMILY_WORDS = {"last", "family", "surname", "lastname", "familyname"}
TRUTH_WORDS = frozenset(("is", "has", "was", "can", "are"))


@dataclass
class Inference:
    """A mapping that was inferred, and why.

    Attributes:
        folder: Where its files are.
        tables: The sections of the mapping.
        reasons: Why, by section and what it says: ``id``, ``name``, ``of``, or the name of a relation.
        notes: What else there is to say of a section.
        relations: Which relations a link may have that a column names, by section and link.
    """

    folder: Path
    tables: Mapping[str, TableMapping]
    reasons: Mapping[tuple[str, str], str]
    notes: Mapping[str, Sequence[str]]
    relations: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)

    @cached_property
    def mapped(self) -> MappedTables:
        """The tables, read by this mapping."""
        return MappedTables(self.tables, self.folder, "the inferred mapping")

    @property
    def links(self) -> dict[str, str]:
        """Which relations rest on links that were inferred, and why, by their ids."""
        found: dict[str, list[str]] = {}
        for name, table in self.tables.items():
            said = [(by, link.to, self.reasons[name, by]) for by, link in table.links.items()]
            if table.of:
                said += [(by, table.of, self.reasons[name, "id"]) for by in (*table.links, *table.values)]
            for by, to, why in said:
                for relation in self.relations.get((name, by), [by]):
                    found.setdefault(relation_node(relation).value, []).append(f"{name} -> {to}: {why}")
        return {relation: "; ".join(whys) for relation, whys in found.items()}


def infer_tables(files: Sequence[Path]) -> Inference | None:
    """Return a mapping for those of several tables that need one; None where all may be of triples.

    Raises:
        KGError: if one cannot be read.
    """
    if len(files) < 2 or False not in (found := {file: is_triple_table(file) for file in files}).values():
        return None
    return infer_mapping(files, triples=[file for file in files if found[file]])


def is_triple_table(file: Path) -> bool | None:
    """Return whether a table is one of triples, by its header or a repeated relation; None if unclear."""
    first, *rest = (row for _, row in islice(read_rows(file, join_commas=True), _ROWS_SAMPLED))
    if find_roles(first):
        return True
    if len(first) != len(ROLES) or table_suffix(file) == ".parquet":
        return False
    if any(row[1] == first[1] for row in rest):
        return True
    named = any(split_name(as_text(each))[-1:] in _KEY_OR_NAME for each in (first[0], first[2]))
    columns = zip(first, *rest, strict=True) if len(rest) >= _ROWS_TO_TELL else ()
    typed = any(
        not value_kind(as_text(head)) and all(map(value_kind, map(as_text, cells)))
        for head, *cells in columns
    )
    return False if named or typed else None


def infer_mapping(
    files: Sequence[Path], folder: Path | None = None, *, triples: Sequence[Path] = ()
) -> Inference:
    """Infer what the columns of tables mean, which are read once or twice for it.

    Args:
        files: The tables.
        folder: Where the mapping is to lie; None for the folder that all of them are in.
        triples: Those of them that are of triples: they are left to be read as such, where what they are
            about is not told by ids of the others.

    Raises:
        KGUnavailable: if one cannot be read.
        KGMalformed: if one is no table, or has no header.
    """
    folder = folder or Path(os.path.commonpath([file.absolute().parent for file in files]))
    if below := [file for file in files if folder not in file.absolute().parents]:
        raise KGUnavailable(
            f"{below[0]} is not below {folder}; write the mapping into a folder above its tables"
        )
    held = HeldValues()
    tables = [table for file in files if file not in triples and (table := read_table(file, held)).rows]
    _choose_keys(tables)
    for of_keys in (True, False):
        for table in tables:
            _refer_by_name(table, tables, of_keys)
    mentioned = {reference.to for table in tables for reference in table.references.values()}
    for table in tables:
        _extend(table, table in mentioned)
    for table in tables:
        _refer_by_values(table, tables)
        _choose_name(table)
    edges = [edge for file in triples if (edge := _read_edges(file, tables, held))]
    return _Writer(tables, folder).write(edges)


def _choose_keys(tables: Sequence[Table]) -> None:
    """Choose what tells the rows of each table apart: by its name, by what refers to it, or the first."""
    unique = {table: [column for column in table.columns if table.is_unique(column)] for table in tables}
    names = {table.words for table in tables}
    for table, columns in unique.items():
        own = [each for each in columns if _names_key(each, table, names)]
        table.key = min(own, key=lambda each: KEY_WORDS.index(each.last_word), default=None)
    for table, columns in unique.items():
        if table.key is None:
            mentions = {each: _count_mentions(each, table, tables) for each in columns}
            most = max(columns, key=lambda each: mentions[each], default=None)
            first = next((each for each in columns if each.name == table.header[0]), None)
            table.key = most if most and mentions[most] else first
        if table.key is not None:
            named = _names_key(table.key, table, names)
            others = [each.name for each in columns if each is not table.key and not named]
            table.key_why = "unique, no gaps" + (f"; so is {join_names(others, 3)}" if others else "")


def _names_key(column: Column, table: Table, names: set[tuple[str, ...]]) -> bool:
    """Return whether the name of a column says that it tells the rows of its table apart."""
    if column.last_word not in KEY_WORDS:
        return False
    base = in_singular(column.base)
    if len(column.words) == 1 or base == table.words:
        return True
    return table.words[-len(base) :] == base and base not in names


def _count_mentions(column: Column, table: Table, tables: Sequence[Table]) -> int:
    """Count the tables that have a column of this name with nothing but values of this one."""
    return sum(
        any(
            each.words == column.words and each.known and each.known <= column.known for each in other.columns
        )
        for other in tables
        if other is not table
    )


def _refer_by_name(table: Table, tables: Sequence[Table], of_keys: bool) -> None:
    """Find the columns, keys or others, that are named like a key or table and have values of that key."""
    for column in table.columns:
        if (column is table.key) != of_keys:
            continue
        able = [each for each in tables if each.key not in {None, column, *each.references}]
        agreeing = [(_agreement(column, table, other), other) for other in able]
        for level, other in sorted(agreeing, key=lambda each: -each[0]):
            if not level or other.key is None or not (values := column.known):
                continue
            inside = len(values & other.key.known)
            if inside >= MIN_CONTAINED_SHARE * len(values):
                table.references[column] = Reference(column, other, _say_contained(inside, column, other))
                break
            if 2 * inside > len(values):
                table.notes.append(
                    f"{column.name}: only {inside} of {len(values)} values are in {other.where(other.key)}"
                )


def _agreement(column: Column, table: Table, other: Table) -> int:
    """Return how well the name of a column agrees with another table and its key; 0 for not at all."""
    if other.key is None or not (column.words and other.words and other.key.words):
        return 0
    base, tells = in_singular(column.base), other.key.words not in KEY_WORD_ALONE
    same_key, same_table = tells and column.words == other.key.words, base == other.words
    if column is table.key:
        says_own = _names_key(column, table, {other.words})
        return int((same_table and not says_own) or (same_key and _key_rank(other) > _key_rank(table)))
    ends = (other.words, other.key.words) if tells else (other.words,)
    plays_role = any(words[-len(end) :] == end for end in ends for words in (base, column.words))
    if other is table:
        return int(plays_role)
    return 4 if same_key and same_table else 3 if same_key else 2 if same_table else int(plays_role)


def _key_rank(table: Table) -> tuple[bool, int, int, str]:
    """Return how likely rows of a table are what its key stands for: other tables may have the same key."""
    key = table.key
    named = key is not None and _names_key(key, table, set())
    return named, len(key.known) if key else 0, len(table.columns), table.stem


def _say_contained(inside: int, column: Column, other: Table) -> str:
    key = other.key
    count, where = len(column.known), other.where(key) if key else ""
    if inside == count:
        return f"all {count} values are in {where}" if count > 1 else f"its one value is in {where}"
    return f"{inside} of {count} values are in {where}; the others are nodes without a name"


def _extend(table: Table, mentioned: bool) -> None:
    """See what the rows of a table are: things, more about rows of another table, or links between two."""
    references = sorted(table.references.values(), key=lambda each: table.columns.index(each.column))
    targets = [each for each in references if each.column.filled == table.rows and each.to is not table]
    surrogate = table.key if table.key and table.key not in table.references else None
    others = {*table.columns} - {*table.references} - {surrogate}
    joins = len(references) == 2 and not others and not mentioned
    extends = len(references) == 1 and table.key in table.references
    if targets and (joins or extends):
        table.of = targets[0]
        if surrogate in table.columns:
            table.columns.remove(surrogate)
            table.notes.append(f"left out: {surrogate.name}: nothing refers to it")
    if table.of or surrogate is None:
        table.key = None
    if table.of:
        table.references.pop(table.of.column)


def _refer_by_values(table: Table, tables: Sequence[Table]) -> None:
    """Find the columns whose values are of one key alone, though their names do not say so."""
    for column in table.columns:
        if not column.known or column is table.key or column in table.references:
            continue
        if table.of and column is table.of.column:
            continue
        able = [each for each in tables if each.key and column.known <= each.key.known]
        if not able or not (column.is_text or _refers(column, able)):
            continue
        if found := _only_target(column, table, able):
            target, why = found
            said = f"weak: {_say_contained(len(column.known), column, target)}; {why}"
            table.references[column] = Reference(column, target, said)
        elif others := [each.where(each.key) for each in able if each.key and each is not table]:
            said = f"may refer to {join_names(others)}, which have all its values; taken as values"
            table.notes.append(f"{column.name}: {said}")


def _refers(column: Column, able: Sequence[Table]) -> bool:
    """Return whether the name of a column of numbers says that these are ids of something."""
    return column.last_word in REFERRING_WORDS or any(_shares_stem(column, table) for table in able)


def _shares_stem(column: Column, table: Table) -> bool:
    return any(
        min(len(one), len(other)) >= MIN_STEM_CHARS and (one.startswith(other) or other.startswith(one))
        for one in column.base
        for other in table.words
    )


def _only_target(column: Column, table: Table, able: Sequence[Table]) -> tuple[Table, str] | None:
    """Return the one of several tables that a column may refer to, and why; None where that is not clear."""
    alike = [each for each in able if _shares_stem(column, each)]
    if len(alike) == 1 and alike[0] is not table:
        return alike[0], "the names agree in part"
    if table in able and _is_hierarchy(table, column):
        return table, "rows of one table refer to others of it without a circle"
    others = [each for each in able if each is not table]
    if len(others) != 1 or len(column.known) < _VALUES_TO_TELL:
        return None
    numbered = others[0].key is not None and _counts_rows(others[0].key)
    return None if numbered and not column.is_text else (others[0], "no other key has them")


def _counts_rows(key: Column) -> bool:
    """Return whether a key is 1, 2, 3, ...: what small numbers are not among these?"""
    return key.known <= {str(number) for number in range(len(key.known) + 1)}


def _is_hierarchy(table: Table, column: Column) -> bool:
    """Return whether a column leads from each row to others of its table, and ends at some without it."""
    if table.key is None or column.filled >= table.rows or column.many:
        return False
    places = [table.columns.index(each) for each in (table.key, column)]
    parents: dict[str, str] = dict(_read_pairs(table, *(table.columns[at].name for at in places)))
    settled: set[str] = set()
    for start in parents:
        path: dict[str, None] = {}
        at = start
        while at in parents and at not in settled:
            if at in path:
                return False
            path[at] = None
            at = parents[at]
        settled |= path.keys()
    return True


def _read_pairs(table: Table, one: str, other: str) -> Iterator[tuple[str, str]]:
    rows = (row for _, row in read_rows(table.path, join_commas=True))
    header = [as_text(each) for each in next(rows)]
    places = header.index(one), header.index(other)
    for row in rows:
        key, value = (as_text(row[at]) for at in places)
        if value and value not in table.missing:
            yield key, value


@dataclass(eq=False)
class _Edges:
    """A table of triples between rows of other tables, which it names by their ids."""

    table: Table
    subject: Reference
    relation: Column
    object: Reference


def _read_edges(path: Path, tables: Sequence[Table], held: HeldValues) -> _Edges | None:
    """Read a table of triples; None where its subjects and objects are not of one key each."""
    table = read_table(path, held)
    places = find_roles(tuple(table.header))
    columns = {column.name: column for column in table.columns}
    if not places or not all(table.header[place] in columns for place in places):
        return None
    subject, relation, object = (columns[table.header[place]] for place in places)
    ends = [_refer_to_key(end, tables) for end in (subject, object)]
    if not ends[0] or not ends[1] or subject.filled < table.rows or relation.values is None:
        return None
    return _Edges(table, ends[0], relation, ends[1])


def _refer_to_key(column: Column, tables: Sequence[Table]) -> Reference | None:
    """Return the one table whose key has nearly all values of a column."""
    least = MIN_CONTAINED_SHARE * len(column.known)
    found = [each for each in tables if each.key and len(column.known & each.key.known) >= least > 0]
    if len(found) != 1 or found[0].key is None:
        return None
    inside = len(column.known & found[0].key.known)
    return Reference(column, found[0], _say_contained(inside, column, found[0]))


def _choose_name(table: Table) -> None:
    """Choose the columns by which rows are called: a name, given and family name, or the only text."""
    free = [each for each in table.columns if each not in table.references and each is not table.key]
    if table.of:
        return
    texts = [each for each in free if each.is_text and not each.many]
    full = [each for each in texts if each.known and each.filled >= MIN_FILLED_SHARE * table.rows]
    found = next(_name_candidates(full, texts, table), None)
    key = table.key
    if key is None:
        table.names = found[0] if found and len(found[0]) == 1 and table.is_unique(found[0][0]) else ()
        table.names_why = "unique, no gaps: tells rows apart, too" if table.names else ""
    elif found:
        table.names, table.names_why = found
    elif key.is_text and key.words and key.last_word not in KEY_WORDS:
        table.key, table.names, table.names_why = None, (key,), f"{table.key_why}: tells rows apart, too"
    elif not any(map(web_node, key.known)):
        table.names, table.names_why, table.numbered = (key,), "nothing else names the rows", True


def _name_candidates(
    full: Sequence[Column], texts: Sequence[Column], table: Table
) -> Iterator[tuple[tuple[Column, ...], str]]:
    """Yield columns that may name rows, the best first, and why."""

    def share(column: Column) -> float:
        return len(column.known) / column.filled

    def said(column: Column) -> str:
        different = "all different" if share(column) == 1 else f"{share(column):.0%} different"
        return f"a text, {different}"

    for word in ("name", "title"):
        plain = {(word,), (*table.words, word), (*table.words[-1:], word), ("full", word), table.words}
        yield from (((each,), said(each)) for each in full if each.words in plain and share(each) > 0.5)
        if word == "name":
            alone = [each for each in full if each.words and each.words[1:] in {(), ("name",)}]
            given, family = (
                next((each for each in alone if each.words[0] in words), None)
                for words in (GIVEN_WORDS, FAMILY_WORDS)
            )
            if given and family:
                yield (given, family), "given and family name"
    for word in NAME_WORDS:
        for each in full:
            says_so = each.last_word.endswith(word) and each.last_word not in GIVEN_WORDS | FAMILY_WORDS
            if says_so and share(each) >= MIN_DISTINCT_SHARE:
                yield (each,), said(each)
    if len(texts) == 1 and texts == [*full] and share(texts[0]) >= MIN_DISTINCT_SHARE:
        yield (texts[0],), f"the only text, {said(texts[0]).partition(', ')[2]}"


class _Writer:
    """Writes what was found of tables as a mapping."""

    def __init__(self, tables: Sequence[Table], folder: Path) -> None:
        self._folder, self._names = folder, dict[Table, str]()
        self._reasons: dict[tuple[str, str], str] = {}
        for table in tables:
            self._name(table)

    def write(self, edges: Sequence[_Edges]) -> Inference:
        tables = {name: self._map(name, table) for table, name in self._names.items()}
        notes = {name: table.notes for table, name in self._names.items()}
        relations: dict[tuple[str, str], list[str]] = {}
        for each in edges:
            name = self._name(each.table)
            tables[name], notes[name] = self._map_edges(name, each), each.table.notes
            relations[name, each.relation.name] = sorted(each.relation.known)
        return Inference(self._folder, tables, self._reasons, notes, relations)

    def _name(self, table: Table) -> str:
        taken = {*self._names.values()}
        names = (" ".join(table.words), table.stem, *(f"{table.stem} {n + 2}" for n in range(len(taken))))
        self._names[table] = next(name for name in names if name and name not in taken)
        return self._names[table]

    def _map_edges(self, name: str, edges: _Edges) -> TableMapping:
        relation = edges.relation.name
        self._reasons |= {(name, "id"): edges.subject.why, (name, relation): edges.object.why}
        ends = self._names[_owner(edges.subject.to)], self._names[_owner(edges.object.to)]
        return TableMapping(
            file=self._file(edges.table),
            id=edges.subject.column.name,
            of=ends[0],
            links={relation: Link(column=edges.object.column.name, to=ends[1], relation=relation)},
            missing=tuple(sorted(edges.table.missing)),
        )

    def _file(self, table: Table) -> str:
        return table.path.absolute().relative_to(self._folder).as_posix()

    def _map(self, name: str, table: Table) -> TableMapping:
        links: dict[str, Link] = {}
        values: dict[str, Value] = {}
        for reference in table.references.values():
            relation = self._relation(reference.column, reference.words, {*links})
            links[relation] = Link(column=reference.column.name, to=self._names[_owner(reference.to)])
            self._reasons[name, relation] = reference.why
        named = {*table.names, *((table.of.column,) if table.of else ()), *table.references}
        for column in table.columns:
            if column in named or column is table.key:
                continue
            relation = self._relation(column, column.words, {*links, *values})
            kind = _value_type(column)
            values[relation] = Value(column=column.name, type=kind)
            if kind == "date" and "dateTime" in column.kinds:
                self._reasons[name, relation] = "the time is 00:00 in all rows"
            elif kind == "boolean" and "integer" in column.kinds:
                self._reasons[name, relation] = "0 and 1, and the name says yes or no"
        for key, why in (
            ("id", table.key_why if table.key else table.of.why if table.of else ""),
            ("name", table.names_why),
        ):
            if why:
                self._reasons[name, key] = why
        return TableMapping(
            file=self._file(table),
            id=table.of.column.name if table.of else table.key.name if table.key else None,
            name=tuple(column.name for column in table.names),
            prefix=name if table.numbered else None,
            aliases=tuple(
                column.name
                for column in table.names
                if table.numbered and min(map(len, column.known)) >= MIN_NAMING_CHARS
            ),
            of=self._names[_owner(table.of.to)] if table.of else None,
            values=values,
            links=links,
            missing=tuple(sorted(table.missing)),
        )

    def _relation(self, column: Column, words: Sequence[str], taken: set[str]) -> str:
        readable = " ".join(words)
        return readable if readable and readable not in taken else column.name


def _owner(table: Table) -> Table:
    """Return the table whose rows a table tells more of; itself where it has rows of its own."""
    return _owner(table.of.to) if table.of else table


def _value_type(column: Column) -> Kind | None:
    """Return the type of a column's values as a mapping says it; None where it need not."""
    if "dateTime" in column.kinds and column.kinds <= {"date", "dateTime"} and not column.timed:
        return "date"
    if column.typed:
        return None
    if column.kinds == {"integer"} and column.known <= {"0", "1"} and _says_truth(column.words):
        return "boolean"
    kind = common_kind(column.kinds)
    return next((each for each in get_args(Kind) if each == kind), None)


def _says_truth(words: Sequence[str]) -> bool:
    """Return whether a name says that something is so or not: is_open, discontinued, member flag."""
    return bool(words) and (
        words[0] in TRUTH_WORDS or words[-1] == "flag" or (len(words) == 1 and words[0].endswith("ed"))
    )
