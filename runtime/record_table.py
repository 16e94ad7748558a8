"""The table of a record, as CSV, Markdown, HTML and a data frame; answers without one are its only column."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    import pandas

    from kgqa.runtime.record import Ref, Table

MAX_ROWS_SHOWN = 20  # the record has all

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")  # with leading zeros it is a code


def table_of(record: Mapping[str, Any]) -> "Table":
    """Return the table of a record, or its answers as a table of one column."""
    table: Table | None = record.get("table")
    answers = [[answer] for answer in record["answers"]]
    return table or {"columns": ["answer"], "rows": answers, "ordered": False, "truncated": False}


def wide_table(record: Mapping[str, Any]) -> "Table | None":
    """Return the table of a record that has more to say than its list of answers; else None."""
    table: Table | None = record.get("table")
    return table if table and len(table["columns"]) > 1 else None


def cell_text(cell: "Ref | None") -> str:
    """Return the name of a cell, or the id of what has none, on one line; nothing for an empty cell."""
    text = (cell["name"] or cell["id"] or "") if cell else ""
    return one_line(text, limit=len(text))


def hidden_rows(table: "Table") -> str:
    """Return what to say of rows that are not shown; nothing where all are."""
    left = len(table["rows"]) - MAX_ROWS_SHOWN
    if table["truncated"]:
        return "and more rows"
    return f"and {left} more row{'s' * (left > 1)}" if left > 0 else ""


def to_csv(table: "Table") -> str:
    """Return a table as CSV, in which a spreadsheet takes no text for a formula."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(map(_without_formula, table["columns"]))
    writer.writerows([_without_formula(cell_text(cell)) for cell in row] for row in table["rows"])
    return written.getvalue()


def to_markdown(table: "Table") -> str:
    """Return the first rows of a table as Markdown, which is a table to people as well."""
    rows = [[cell_text(cell) for cell in row] for row in table["rows"][:MAX_ROWS_SHOWN]]
    lines = [table["columns"], ["---"] * len(table["columns"]), *rows]
    drawn = ["| " + " | ".join(one_line(text).replace("|", "\\|") for text in line) + " |" for line in lines]
    return "\n".join([*drawn, *filter(None, [hidden_rows(table)])])


def to_html(table: "Table") -> str:
    """Return the first rows of a table as HTML."""

    def row(texts: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(one_line(text))}</{tag}>' for text in texts)}</tr>"

    body = "".join(row([*map(cell_text, cells)], "td") for cells in table["rows"][:MAX_ROWS_SHOWN])
    more = hidden_rows(table)
    head = row(table["columns"], "th")
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{f'<p>{more}</p>' if more else ''}"


def to_pandas(table: "Table") -> "pandas.DataFrame":
    """Return a table as a data frame: names, and numbers in columns that hold nothing else.

    Raises:
        ImportError: if pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("a data frame needs pandas; bring it with: pip install pandas") from None
    frame = pandas.DataFrame(
        [[cell_text(cell) if cell else None for cell in row] for row in table["rows"]],
        columns=table["columns"],
    )
    for at in range(len(table["columns"])):
        cells = [row[at] for row in table["rows"] if row[at]]
        if cells and all(map(_is_number, cells)):
            frame.isetitem(at, pandas.to_numeric(frame.iloc[:, at]))
    return frame


def _is_number(cell: "Ref | None") -> bool:
    """Return whether a cell is a value, which is its own name, and a number."""
    return bool(cell and cell["id"] == cell["name"] and _NUMBER.fullmatch(cell["id"] or ""))


def _without_formula(text: str) -> str:
    plain = one_line(text, limit=len(text))
    return f"'{plain}" if plain[:1] in ("=", "+", "-", "@") and not _NUMBER.fullmatch(plain) else plain
