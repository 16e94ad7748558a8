"""Tables and their columns as all rows show them: words of names, kinds of values, gaps, different values."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import inflection

from kgqa.kg.errors import KGMalformed
from kgqa.kg.minting import typed_literal, value_kind
from kgqa.kg.tables.mapping import is_midnight
from kgqa.kg.tables.reading import as_text, join_names, read_rows, table_suffix
from kgqa.kg.text import singular
from kgqa.locks import cached_property

MAX_KEY_CHARS = 100  # of an id or a name; longer texts are values
MAX_VALUES_HELD = 4_000_000  # different cells of all columns, held to see what is unique and contained
_BATCH_ROWS = 1 << 12

MISSING_WORDS = frozenset(("NULL", "null", "N/A", "n/a", "#N/A", "NaN", "nan", "\\N"))
DOUBTFUL_WORDS = frozenset(("NA", "None", "none", "-", "?", "."))
"""Words for nothing in columns of numbers and dates, else texts as any other."""

KEY_WORDS = ("id", "key", "pk", "uuid", "guid", "iri", "uri", "code", "no", "nr", "number", "fk", "ref")
KEY_WORD_ALONE = {(word,) for word in KEY_WORDS}


def split_name(name: str) -> tuple[str, ...]:
    """Return the words of the name of a column or file, in lower case.

    >>> split_name("unitPrice"), split_name("CUSTOMER_ID"), split_name("order-details")
    (('unit', 'price'), ('customer', 'id'), ('order', 'details'))
    """
    return tuple(filter(None, re.split(r"[\W_]+", inflection.underscore(name))))


def in_singular(words: Sequence[str]) -> tuple[str, ...]:
    """Return words, the last of them in the singular.

    >>> in_singular(("order", "details")), in_singular(("people",)), in_singular(("weather", "data"))
    (('order', 'detail'), ('person',), ('weather', 'data'))
    """
    return (*words[:-1], *map(singular, words[-1:]))


@dataclass(eq=False)
class Column:
    """What the cells of a column have in common."""

    name: str
    filled: int = 0
    values: set[str] | None = field(default_factory=set)  # None where they are too many, too long, or no ids
    kinds: set[str | None] = field(default_factory=set)
    missing: Counter[str] = field(default_factory=Counter)
    many: bool = False  # lists
    typed: bool = False  # of Parquet
    timed: bool = False  # whether a time is not 00:00
    unreadable: str = ""
    dropped: bool = False

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return split_name(self.name)

    @property
    def last_word(self) -> str:
        """The last of the words; empty where there are none."""
        return "".join(self.words[-1:])

    @cached_property
    def base(self) -> tuple[str, ...]:
        """The words without those that say that it is a key."""
        words = self.words
        while len(words) > 1 and words[-1] in KEY_WORDS:
            words = words[:-1]
        return words

    @property
    def is_text(self) -> bool:
        """Whether a value is neither a number nor a date nor a truth value."""
        return None in self.kinds

    @property
    def known(self) -> set[str]:
        """The values; none where they are not held."""
        return self.values or set()

    def add(self, cells: Iterable[object]) -> None:
        """Add cells, each one value or empty."""
        for cell, count in Counter(cells).items():
            if not (text := as_text(cell)):
                continue
            if text in MISSING_WORDS or text in DOUBTFUL_WORDS:
                self.missing[text] += count
                continue
            self.filled += count
            if self.values is None or text not in self.values:
                self._learn(cell, text)

    def add_lists(self, cells: Iterable[object]) -> None:
        """Add cells of Parquet, which may hold several values each, or what no mapping reads."""
        plain: list[object] = []
        for cell in cells:
            self.many |= isinstance(cell, list | tuple)
            for one in cell if isinstance(cell, list | tuple) else (cell,):
                if isinstance(one, dict | bytes | list | tuple):
                    self.unreadable = type(one).__name__
                else:
                    plain.append(one)
        self.add(plain)

    def keep_words(self, missing: frozenset[str]) -> None:
        """Take the words for nothing that are none in this table as texts."""
        for text, count in self.missing.items():
            if text not in missing:
                self.filled += count
                self._learn(text, text)

    def _learn(self, cell: object, text: str) -> None:
        if isinstance(cell, str):
            kind = value_kind(text)
        else:
            self.typed, literal = True, typed_literal(cell)
            is_whole = isinstance(cell, float) and cell.is_integer()  # as integers are where some are missing
            kind = "integer" if is_whole else literal.datatype.value.rpartition("#")[2] if literal else None
            if literal is None:
                self.unreadable = type(cell).__name__
        self.kinds.add(kind)
        self.timed |= kind == "dateTime" and not is_midnight(text)
        if len(text) > MAX_KEY_CHARS or kind not in {"integer", None}:
            self.values = None
        if self.values is not None:
            self.values.add(text)


@dataclass(eq=False)
class Reference:
    """A column whose values are values of a table's key."""

    column: Column
    to: "Table"
    why: str

    @property
    def words(self) -> tuple[str, ...]:
        """What the relation is called: as the column, or the table where that says no more than its key."""
        key, column = self.to.key, self.column
        as_key = key is not None and column.base == key.words
        return self.to.words if as_key or column.base[:1] in KEY_WORD_ALONE else column.base


@dataclass(eq=False)
class Table:
    """A table and what was found of it."""

    path: Path
    header: list[str]
    columns: list[Column]
    rows: int
    missing: frozenset[str]
    notes: list[str]
    key: Column | None = None
    key_why: str = ""
    names: tuple[Column, ...] = ()
    names_why: str = ""
    numbered: bool = False  # whether the names are ids
    of: Reference | None = None
    references: dict[Column, Reference] = field(default_factory=dict)

    @cached_property
    def stem(self) -> str:
        """The name of the file without its suffix."""
        return self.path.name[: self.path.name.lower().rindex(str(table_suffix(self.path)))]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of that, in the singular."""
        return in_singular(split_name(self.stem))

    def is_unique(self, column: Column) -> bool:
        """Return whether a column has a different value in each row."""
        return 0 < self.rows == column.filled == len(column.known) and not column.many

    def where(self, column: Column) -> str:
        """Return how a note calls a column."""
        return f"{self.stem}.{column.name}"


class HeldValues:
    """Keeps what is held of values within bounds: columns that are no keys go first, then the largest."""

    def __init__(self) -> None:
        self._columns: list[Column] = []

    def add(self, columns: Sequence[Column]) -> None:
        """Take columns into account."""
        self._columns += columns

    def check(self) -> None:
        """Drop the values of columns until the rest is within bounds."""
        while sum(len(column.known) for column in self._columns) > MAX_VALUES_HELD:
            holding = [each for each in self._columns if each.known]
            first = max(holding, key=lambda each: (len(each.known) < each.filled, len(each.known)))
            first.values, first.dropped = None, True


def read_table(path: Path, held: HeldValues) -> Table:
    """Read all rows of a table.

    Raises:
        KGMalformed: if its first row names no columns, or it is no table.
    """
    rows = (row for _, row in read_rows(path, join_commas=True))
    header = [as_text(each) for each in next(rows)]
    is_parquet = table_suffix(path) == ".parquet"
    if not is_parquet and (value_kind(header[0]) or {*map(value_kind, header)} - {"integer", None}):
        raise KGMalformed(
            f"{path.name}: the first row ({join_names(header)}) does not name columns; add one that does"
        )
    columns, length = [Column(name) for name in header], 0
    held.add(columns)
    while batch := [*islice(rows, _BATCH_ROWS)]:
        length += len(batch)
        for column, cells in zip(columns, zip(*batch, strict=True), strict=True):
            column.add_lists(cells) if is_parquet else column.add(cells)
        held.check()
    found = {text for column in columns for text in column.missing}
    missing = (found & MISSING_WORDS) | {
        text for column in columns if column.kinds and not column.is_text for text in column.missing
    }
    usable, notes = [], []
    for column in columns:
        column.keep_words(frozenset(missing))
        if why := _left_out(column, header):
            notes.append(f"left out: {column.name or 'a column without a name'}: {why}")
        else:
            usable.append(column)
        if column.dropped:
            notes.append(f"{column.name}: too many values to see whether they are ids; taken as values")
    return Table(path, header, usable, length, frozenset(missing), [*dict.fromkeys(notes)])


def _left_out(column: Column, header: Sequence[str]) -> str:
    if header.count(column.name) > 1:
        return "two columns are called so"
    if not column.name:
        return "give it one"
    if column.unreadable:
        return f"holds a {column.unreadable}"
    return "" if column.filled else "holds nothing"
