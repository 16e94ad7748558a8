"""The numbers that the papers print, beside those of the runs on the same dataset, marked as published."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from kgqa.evaluation.report import cells
from kgqa.evaluation.report.cells import Cell
from kgqa.evaluation.report.groups import DatasetGroup
from kgqa.evaluation.report.tables import (
    Table,
    TableRow,
    columns_of,
    drop_unknown,
    make_table,
    metric_cells,
)
from kgqa.evaluation.runs.asking import OWN

_TRAINING = re.compile(r"train|\bdev|_dev|valid")
"""What names a part of a dataset that no paper tests on."""


def published_tables(group: DatasetGroup) -> list[Table]:
    """Make a table of the runs and of what papers print of their methods; none where they print nothing.

    None either where each question was asked over a graph of its own: the papers asked all of Freebase.
    """
    if any(run.folder.config.get("kg") == [OWN] for run in group.runs):
        return []
    published = list(_published_rows(group))
    if not published:
        return []
    ours = [
        (cells.run_name(run), *map(cells.text, (run.folder.method, run.folder.model)), *metrics)
        for run in group.runs
        for metrics in [metric_cells("published", run)]
    ]
    titles = ("Run or paper", "Method", "Model", *(column.title for column in columns_of("published")))
    columns, rows = drop_unknown(titles, [*ours, *published])
    return [make_table("published", columns, (TableRow((), row) for row in rows))]


def _published_rows(group: DatasetGroup) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each line of a paper's table on this dataset, as far as a run is of its method."""
    papers = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
    first, methods = group.runs[0].folder.dataset, {run.folder.method for run in group.runs}
    named = f"{group.name} {first.get('format')} {first.get('split')}".casefold()
    for dataset, about in () if _TRAINING.search(named) else papers["datasets"].items():
        tables = papers["tables"] if re.search(about["named"], named) else ()
        for table in (table for table in tables if dataset in table["datasets"]):
            start = table["datasets"].index(dataset) * len(table["metrics"])
            source = cells.text("published", table["source"])
            for model, lines in table["rows"].items():
                for method in filter(methods.__contains__, lines):
                    printed = zip(table["metrics"].items(), lines[method][start:], strict=False)
                    shown = {key: _printed(name, value) for (name, key), value in printed}
                    shown["n"] = cells.count(about["questions"])
                    known = (shown.get(column.path, cells.UNKNOWN) for column in columns_of("published"))
                    yield source, cells.text(method), cells.text(model), *known


def _printed(name: str, value: float | None) -> Cell:
    """Show a number as the paper has it, over what it calls it."""
    return cells.UNKNOWN if value is None else Cell(f"{value:,}", name, repr(value))
