"""The tables of a report as CSV and LaTeX."""

import csv
import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kgqa.evaluation.report.cells import Cell, percent, text
from kgqa.evaluation.report.page import read_report
from kgqa.evaluation.report.table_files import escape_latex, to_csv, to_latex, write_tables
from kgqa.evaluation.report.tables import Table, TableRow
from kgqa.tests.unit.evaluation.report.folders import HOSTILE, answered, write_dataset, write_run

SHARE = percent({"value": 0.975, "low": 0.9, "high": 1.0})


def table(*rows: tuple[Cell, ...], runs: bool = True) -> Table:
    columns = tuple(f"column_{number}" for number in range(len(rows[0])))
    run: Any = SimpleNamespace(number=1)
    return Table("runs", "Runs & more", columns, tuple(TableRow((run,) if runs else (), row) for row in rows))


def read(written: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written)))


def test_an_interval_has_columns_of_its_own() -> None:
    (row,) = read(to_csv(table((text("cor"), SHARE, Cell("1,200", "p50 1,000")))))
    assert row == {
        "Run": "1",
        "Remark": "",
        "column_0": "cor",
        "column_1": "97.5",
        "column_1, low": "90.0",
        "column_1, high": "100.0",
        "column_2": "1200",
        "column_2, note": "p50 1,000",
    }


@pytest.mark.parametrize(
    "shown, written",
    [
        ("−4.7", "-4.7"),
        ("+1.0", "+1.0"),
        ("–", ""),
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("-x", "'-x"),
        ("a\nb", "a b"),
    ],
)
def test_a_spreadsheet_takes_numbers_for_numbers_and_text_for_text(shown: str, written: str) -> None:
    (row,) = read(to_csv(table((Cell(shown), text("b")), runs=False)))
    assert row["column_0"] == written


def test_latex_has_as_many_columns_in_every_line() -> None:
    written = to_latex(
        table((text("50 % of a_b & c"), SHARE), (text("–"), Cell("< 0.001", is_sure=True))), "d"
    )
    lines = [line for line in written.splitlines() if line.endswith(r"\\")]
    assert r"\begin{tabular}{rlr}" in written
    assert [len(re.split(r"(?<!\\)&", line)) for line in lines] == [3, 3, 3]
    assert lines[1] == r"1 & 50 \% of a\_b \& c & 97.5 {\scriptsize [90.0, 100.0]} \\"
    assert lines[2] == r"1 & -- & \textbf{\textless{} 0.001} \\"


def test_latex_is_told_nothing_by_a_label() -> None:
    assert (
        escape_latex("\\input{x}\n$1^2~#")
        == r"\textbackslash{}input\{x\} \$1\textasciicircum{}2\textasciitilde{}\#"
    )


def test_every_table_of_the_page_is_written(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path)
    records = answered(tmp_path)
    odd = [{**record, "config": {**record["config"], "model": HOSTILE}} for record in records]
    runs = [write_run(tmp_path / f"run{at}", each, dataset) for at, each in enumerate((records, odd))]
    report = read_report(runs)
    named = [(each.group.name, table) for each in report.sections for table in each.tables]
    files = write_tables(named, tmp_path / "a" / "tables")
    names = [file.name for file in files]
    assert len(files) == 2 * len(report.sections[0].tables) == len({*names})
    assert {"town-runs.csv", "town-runs.tex", "town-comparisons.csv"} <= {*names}
    rows = read((tmp_path / "a" / "tables" / "town-runs.csv").read_text())
    shown = report.sections[0].tables[0]
    at = shown.columns.index("Hits@1")
    assert [row["Hits@1"] for row in rows] == [row.cells[at].text for row in shown.rows]
    assert write_tables(named, tmp_path / "a" / "tables") == files
