"""Reads CSV, TSV and Parquet by pyarrow, a block of rows at a time.

In CSV a value may stand in quotes, and ``;`` for the comma; in TSV a quote is a character like any other.
Both are text in UTF-8, all of it: what a column means is for others to say. Parquet has types of its own, and
None for no value.
"""

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgqa.kg.errors import KGError, KGMalformed, KGUnavailable
from kgqa.kg.packing import DAMAGE, is_damage, is_packed, open_packed, unpacked_suffix
from kgqa.kg.terms import one_line

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")

MAX_ROW_BYTES = 1 << 22  # of a row of text; so many are read at a time
_BATCH_ROWS = 1 << 14

NO_TEXTS = (list, tuple, dict, bytes)  # what a cell of Parquet or of a data frame may hold besides

Row = tuple[object, ...]


def table_suffix(path: Path) -> str | None:
    """Return what kind of table a file is by its name, also where it is compressed; None if it is none."""
    suffix = unpacked_suffix(path)
    return suffix if suffix in TABLE_SUFFIXES else None


def read_rows(path: Path, *, join_commas: bool = False) -> Iterator[tuple[int, Row]]:
    """Go through the rows of a table, each with its number: the header of a file of text is row 1.

    The first row of a text comes first, whether that is a header or not; so do the names of Parquet.

    Args:
        path: The file.
        join_commas: Whether a row of CSV that is too long is read as one with commas in its texts, where
            it has its length when each cell that begins with a space belongs to the one before it.

    Raises:
        KGUnavailable: if the file or pyarrow is missing.
        KGMalformed: if it is no such table.
    """
    with _errors_of(path):
        if table_suffix(path) == ".parquet":
            yield from _read_parquet(path)
        else:
            yield from _read_text(path, join_commas)


def _read_text(path: Path, join_commas: bool) -> Iterator[tuple[int, Row]]:
    from pyarrow import csv, string

    is_csv = table_suffix(path) == ".csv"
    with open_packed(path) as file:
        first = file.peek(1 << 12).partition(b"\n")[0]
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # "Unicode text" of Excel
            raise KGMalformed(f"{path.name}: not UTF-8; save the table in that encoding")
        marks = re.sub(rb'"[^"]*"', b"", first)
        comma = ";" if b";" in marks and b"," not in marks else ","  # as Excel has it in much of Europe
        joined: dict[int, Row] = {}
        batches = csv.open_csv(
            file,
            csv.ReadOptions(use_threads=False, autogenerate_column_names=True, block_size=MAX_ROW_BYTES),
            csv.ParseOptions(
                delimiter=comma if is_csv else "\t",
                quote_char='"' if is_csv else False,
                newlines_in_values=is_csv,
                invalid_row_handler=_CommaJoiner(comma, joined) if is_csv and join_commas else None,
            ),
            csv.ConvertOptions(default_column_type=string(), strings_can_be_null=False),
        )
        yield from _number_rows(batches, 1, joined)


class _CommaJoiner:
    """Takes rows of CSV that are too long, for pyarrow; with their commas joined they go to ``joined``."""

    def __init__(self, comma: str, joined: dict[int, Row]) -> None:
        self._comma, self._joined = comma, joined

    def __call__(self, row: Any) -> str:
        cells: list[str] = []
        for cell in next(csv.reader([row.text], delimiter=self._comma), []):
            if cell.startswith(" ") and cells:
                cells[-1] += self._comma + cell
            else:
                cells.append(cell)
        if len(cells) != row.expected_columns or row.number is None:
            return "error"
        self._joined[row.number] = tuple(cells)
        return "skip"


def _read_parquet(path: Path) -> Iterator[tuple[int, Row]]:
    from pyarrow import parquet

    if is_packed(path):
        raise KGMalformed(f"{path.name}: Parquet is compressed as it is; unpack it")
    with parquet.ParquetFile(path) as file:
        yield 1, tuple(file.schema_arrow.names)
        yield from _number_rows(file.iter_batches(_BATCH_ROWS, use_threads=False), 2, {})


def _number_rows(batches: Any, number: int, joined: dict[int, Row]) -> Iterator[tuple[int, Row]]:
    """Number the rows of all batches from ``number`` on; ``joined`` has those that are in none of them."""
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        for row in zip(*columns, strict=True):
            while number in joined:
                yield number, joined.pop(number)
                number += 1
            yield number, row
            number += 1
    yield from sorted(joined.items())


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Tell in one line what is wrong with a file."""
    try:
        import pyarrow
    except ImportError:
        raise KGUnavailable("tables need a package that is missing: pip install 'kgqa[tables]'") from None
    try:
        yield
    except (KGError, GeneratorExit):
        raise
    except (pyarrow.ArrowInvalid, pyarrow.ArrowException, ValueError, *DAMAGE) as error:
        raise KGMalformed(f"{path.name}{_explain(str(error))}") from error
    except OSError as error:
        if is_damage(error):
            raise KGMalformed(f"{path.name}{_explain(str(error))}") from error
        raise KGUnavailable(f"cannot read {path}: {error.strerror}") from error


def _explain(error: str) -> str:
    """Say in our words what pyarrow has met, with the row where it tells."""
    row = re.search(r"Row #(\d+)", error)
    at = f", row {row[1]}" if row else ""
    if ragged := re.search(r"Expected (\d+) columns, got (\d+)", error):
        why = (
            "is a separator in a cell that is not in quotation marks?"
            if int(ragged[2]) > int(ragged[1])
            else "is a cell missing, or a quotation mark left open?"
        )
        return f"{at}: {ragged[2]} columns, where the first row has {ragged[1]}; {why}"
    if "invalid UTF8" in error:
        return f"{at}: not UTF-8; save the table in that encoding"
    if "straddling" in error:
        return f": a row of more than {MAX_ROW_BYTES:,} bytes; is a quotation mark left open?"
    if "Empty CSV" in error:
        return f" holds no rows, or a first one of more than {MAX_ROW_BYTES:,} bytes"
    return f"{at}: not readable as a table: {one_line(error)}"


def as_text(value: object) -> str:
    """Return a cell as text, without the space around it; empty where there is nothing.

    >>> as_text(" Ada "), as_text(7), as_text(7.0), as_text(None)
    ('Ada', '7', '7', '')
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None or value != value else str(value).strip()


def join_names(names: Sequence[object], most: int = 12) -> str:
    """Write the names of columns on one line."""
    shown = ", ".join(one_line(as_text(name), 40) or "(empty)" for name in names[:most])
    return f"{shown}, …" if len(names) > most else shown
