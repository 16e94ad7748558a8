"""The tables of a report as files: CSV for spreadsheets, LaTeX for papers."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kgqa.builds import replace_file
from kgqa.evaluation.report.cells import UNKNOWN_TEXT, Cell
from kgqa.evaluation.report.tables import Table
from kgqa.kg.terms import one_line

MAX_FILE_NAME_CHARS = 60  # characters of a file's name at most, without its ending

LATEX_CHARS = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "−": "$-$",
    "≥": r"$\geq$",
    "·": r"$\cdot$",
    "’": "'",
}
"""What LaTeX reads otherwise, and how it is written."""


def write_tables(tables: Iterable[tuple[str, Table]], folder: Path) -> list[Path]:
    """Write each table of a dataset as ``DATASET-TABLE.csv`` and ``.tex`` into a folder; return the files.

    Raises:
        OSError: if they cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    taken: Counter[str] = Counter()
    for dataset, table in tables:
        name = _file_name(dataset, table.about)
        taken[name] += 1
        name = name if taken[name] == 1 else f"{name}-{taken[name]}"
        for ending, text in (("csv", to_csv(table)), ("tex", to_latex(table, dataset))):
            files.append(folder / f"{name}.{ending}")
            content = text.encode("utf-8", "replace")
            replace_file(files[-1], lambda file, content=content: file.write(content))  # type: ignore[misc]
    return files


def to_csv(table: Table) -> str:
    """Write a table as CSV; an interval has two columns of its own, other small print one."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    columns = list(zip(*(row.cells for row in table.rows), strict=True))
    has_interval = [any(cell.low for cell in column) for column in columns]
    has_note = [any(cell.detail and not cell.low for cell in column) for column in columns]
    heads: list[str] = ["Run", "Remark"] if table.rows[0].runs else []
    for title, interval, note in zip(table.columns, has_interval, has_note, strict=True):
        heads += [title, *([f"{title}, low", f"{title}, high"] if interval else [])]
        heads += [f"{title}, note"] if note else []
    rows.writerow(map(_plain, heads))
    for row in table.rows:
        values = [_run_numbers(row.runs), row.remark] if row.runs else []
        for cell, interval, note in zip(row.cells, has_interval, has_note, strict=True):
            values += [_named(cell), *([cell.low, cell.high] if interval else [])]
            values += ["" if cell.low else cell.detail] if note else []
        rows.writerow(map(_plain, values))
    return written.getvalue()


def to_latex(table: Table, dataset: str) -> str:
    """Write a table as LaTeX for the package booktabs; intervals stand small behind their numbers."""
    runs = bool(table.rows[0].runs)
    kinds = ["r" if cell.is_number else "l" for cell in table.rows[0].cells]
    heads = [*(["Run"] if runs else []), *table.columns]
    lines = [
        f"% {one_line(table.title)}, {one_line(dataset)}: by kgqa report; needs \\usepackage{{booktabs}}",
        f"\\begin{{tabular}}{{{'r' * runs}{''.join(kinds)}}}",
        "\\toprule",
        _latex_row(map(escape_latex, heads)),
        "\\midrule",
        *(
            _latex_row(_latex_cells(row.cells, _run_numbers(row.runs) if runs else None))
            for row in table.rows
        ),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    r"""Write text so that LaTeX shows it as it is.

    >>> escape_latex("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(LATEX_CHARS.get(char, char) for char in one_line(text))


def _latex_row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _latex_cells(cells: Sequence[Cell], runs: str | None) -> Iterator[str]:
    if runs is not None:
        yield runs
    for cell in cells:
        text = escape_latex(_named(cell))
        shown = f"\\textbf{{{text}}}" if cell.is_sure else text
        yield f"{shown} {{\\scriptsize [{escape_latex(f'{cell.low}, {cell.high}')}]}}" if cell.low else shown


def _run_numbers(runs: Sequence[object]) -> str:
    return ", ".join(str(getattr(run, "number", "")) for run in runs)


def _named(cell: Cell) -> str:
    """Return what a cell says, with the number of the run that it names."""
    return f"{cell.run} {cell.text}" if cell.run else cell.text


def _plain(text: str) -> str:
    """Write a text so that a spreadsheet takes it for no formula, and a number for a number."""
    plain = "" if text == UNKNOWN_TEXT else one_line(text).replace("−", "-")
    number = re.fullmatch(r"[+-]?[\d,]*\.?\d+", plain)
    return plain.replace(",", "") if number else f"'{plain}" if plain[:1] in ("=", "+", "-", "@") else plain


def _file_name(dataset: str, about: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', dataset).strip('-')[:MAX_FILE_NAME_CHARS] or 'dataset'}-{about}"
