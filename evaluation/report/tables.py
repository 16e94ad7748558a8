"""The tables of runs, of comparisons, of what only some methods do (CoG, VoG, PoG-EGP), of what papers print.

``tables.toml`` declares their titles, notes and columns.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, compress
from pathlib import Path
from typing import Any, NamedTuple

from kgqa.evaluation.paper_analysis.refinement import BLUEPRINT_SOURCES
from kgqa.evaluation.paper_analysis.trace import in_order
from kgqa.evaluation.report import cells
from kgqa.evaluation.report.cells import Cell
from kgqa.evaluation.report.groups import MAX_LABEL_CHARS, DatasetGroup, ReportedRun, align_questions
from kgqa.evaluation.runs.asking import OWN
from kgqa.evaluation.scoring.comparison import Comparison, compare_scored
from kgqa.kg.terms import one_line
from kgqa.runtime.record_text import OUTCOME_LABELS

SIGNAL_TITLES = {"none": "no signal", "model": "model only", "nli": "NLI only", "both": "both"}
"""Who gave a signal to revise, and how the page says it."""

PLAN_TITLES = {"first": "first plan"} | {arm: arm for arm in ("local", "lookahead", "global", "mixed")}
"""Where a plan is from, and how the page says it."""

METHOD_TABLES = (
    *("refinement", "signals", "blueprints", "revision", "steps", "strategies", "tokens"),
    *("lookahead", "pruning"),
)
"""What only some methods have a table of."""

MAX_RUNS_IN_ALL_PAIRS = 6
"""Runs up to which every pair is compared; of more runs, those pairs that have the same model."""

COMPARED_METRICS = {
    **{"hits_at_1": "Hits@1", "f1": "F1", "hit_any": "Hit any"},
    **{"precision": "Precision", "recall": "Recall"},
}
"""The metrics whose differences are shown."""

DECLARED: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""What the page has of each table, by what it is about."""


class TableRow(NamedTuple):
    """A row of a table: the runs that it begins with, its cells, and a remark on the runs."""

    runs: tuple[ReportedRun, ...]
    cells: tuple[Cell, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the page; ``columns`` are the titles of the cells."""

    about: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]

    @property
    def note(self) -> str:
        """What stands over it."""
        return str(DECLARED[self.about]["note"])

    @property
    def after(self) -> str:
        """What stands under it, if anything does."""
        return str(DECLARED[self.about].get("after", "")).format(rows=len(self.rows))


class Column(NamedTuple):
    """A column of a table that shows metrics, and where these have it: keys apart by points."""

    title: str
    show: Callable[[Any], Cell]
    path: str

    def cell(self, metrics: Any) -> Cell:
        """Return the cell of a row."""
        return self.show(cells.look_up(metrics, *filter(None, self.path.split("."))))


def _calls_cell(metrics: Any) -> Cell:
    cell, cached = cells.rough_cost(metrics.get("llm_calls")), metrics.get("cached_calls")
    return replace(cell, detail=f"{cell.detail}; {cached:,} more from the cache") if cached else cell


def _tokens_cell(metrics: Any) -> Cell:
    """Show the mean tokens of a question, and all; lower bounds where a server did not report all."""
    read, written = cells.sum_means(metrics, "input_tokens"), cells.sum_means(metrics, "output_tokens")
    if read is None or written is None:
        return cells.UNKNOWN
    bound = "≥ " if metrics.get("unknown_calls") else ""
    parts, total = f"in {read:,.0f}, out {written:,.0f}", cells.look_up(metrics, "total_tokens", "total")
    detail = parts if total is None else f"{parts}; all questions {bound}{total:,.0f}"
    return Cell(f"{bound}{read + written:,.0f}", detail, repr(read + written))


def run_table(runs: Sequence[ReportedRun]) -> Table:
    """Make the table of runs: options are those that differ, columns those of which something is known."""
    titles = ("Method", "Model", "Options", *(column.title for column in columns_of("runs")))
    columns, shown = drop_unknown(titles, [tuple(_run_cells(run)) for run in runs])
    rows = (TableRow((run,), row, _progress(run)) for run, row in zip(runs, shown, strict=True))
    return make_table("runs", columns, rows)


def own_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Make the table of the metrics of the user's own; none where no run has any."""
    measured = _runs_with("own", runs)
    names = dict.fromkeys(name for _, _, found in measured for name in found)
    columns = [Column(one_line(name, MAX_LABEL_CHARS), partial(_own_cell, name), "") for name in names]
    return _metric_tables("own", measured, columns)


def _own_cell(name: str, own: Mapping[str, Any]) -> Cell:
    return cells.own(own.get(name))


def _run_cells(run: ReportedRun) -> Iterator[Cell]:
    options = ", ".join(f"{key}={value}" for key, value in run.options.items())
    yield from map(cells.text, (run.folder.method, run.folder.model, options))
    yield from metric_cells("runs", run)


def _progress(run: ReportedRun) -> str:
    """Say how much of a run is done; nothing where all is."""
    folder = run.folder
    return "" if folder.finished else f"unfinished: {folder.done:,} of {folder.planned:,} questions"


def comparison_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Compare runs on the questions that have gold and that both have a record of; nothing where none are."""
    rows = []
    for a, b in combinations(runs, 2):
        if len(runs) <= MAX_RUNS_IN_ALL_PAIRS or a.folder.model == b.folder.model:
            found = compare_scored([align_questions(a, b)], a.folder.seed)
            if found.n:
                rows.append(TableRow((), (cells.run_name(a), cells.run_name(b), *_comparison_cells(found))))
    titles = ("A", "B", "Questions", *COMPARED_METRICS.values(), "Only A / only B", "McNemar p")
    return [make_table("comparisons", titles, rows)] if rows else []


def _comparison_cells(found: Comparison) -> Iterator[Cell]:
    missing = (("A", found.missing_a), ("B", found.missing_b))
    yield cells.count(found.n, ", ".join(f"{count:,} not in {side}" for side, count in missing if count))
    for metric in COMPARED_METRICS:
        yield cells.difference(found.differences[metric])
    yield from cells.mcnemar(found.mcnemar)


Metrics = Mapping[str, Any]

_Item = tuple[ReportedRun, Cell, Metrics]
"""What a row is about: a run, the cell that names the row, and the metrics that it shows."""


def method_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Make the tables of refinement, revision, lookahead and pruning; none of what no run has."""
    guided, revised = (_runs_with(key, runs) for key in ("blueprints", "revision"))
    arms = [
        (run, cells.text(title), {"arm": strategies.get(key), "plan": plans.get(key)})
        for run, _, found in revised
        for strategies, plans in [(found.get("strategies") or {}, found.get("plans") or {})]
        for key, title in PLAN_TITLES.items()
        if key in strategies or key in plans
    ]
    tables: list[Table] = []
    for about in METHOD_TABLES:
        declared = DECLARED[about]
        items = arms if about == "strategies" else _runs_with(declared["metrics"], runs)
        columns = _source_columns(guided) if about == "blueprints" else columns_of(about)
        tables += _metric_tables(
            about, _split(items, declared["part"]) if "part" in declared else items, columns
        )
    return tables


def _metric_tables(about: str, items: Sequence[_Item], columns: Sequence[Column]) -> list[Table]:
    titles = (DECLARED[about]["first"], *(column.title for column in columns))
    rows = (
        TableRow((run,), (name, *(column.cell(found) for column in columns))) for run, name, found in items
    )
    return [make_table(about, titles, rows)] if items else []


def make_table(about: str, columns: Iterable[str], rows: Iterable[TableRow], title: str = "") -> Table:
    """Make a table with the title that is declared, or its own."""
    return Table(about, title or DECLARED[about]["title"], tuple(columns), tuple(rows))


def columns_of(about: str) -> list[Column]:
    """Return the columns that are declared of a table."""
    return [Column(title, SHOWN[show], path) for title, show, path in DECLARED[about]["columns"]]


def metric_cells(about: str, run: ReportedRun) -> Iterator[Cell]:
    """Return the cells of a run in a table of all its metrics."""
    metrics = {"n": len(run.questions), **(run.metrics or {})}
    return (column.cell(metrics) for column in columns_of(about))


def drop_unknown(
    titles: Sequence[str], rows: Sequence[tuple[Cell, ...]]
) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Return titles and rows without the columns of which nothing is known."""
    known = [any(cell.key for cell in column) for column in zip(*rows, strict=True)]
    return tuple(compress(titles, known)), [tuple(compress(row, known)) for row in rows]


def _runs_with(key: str, runs: Sequence[ReportedRun]) -> list[_Item]:
    found = ((run, cells.look_up(run.metrics, key)) for run in runs)
    return [(run, cells.text(run.name.full), metrics) for run, metrics in found if metrics]


def _split(items: Sequence[_Item], key: str) -> list[_Item]:
    """Return an item for each part that the metrics have under a key."""
    return [
        (run, Cell(name, key=name, is_number=name.isdecimal()), part)
        for run, _, metrics in items
        for name, part in (metrics.get(key) or {}).items()
    ]


def _source_columns(guided: Sequence[_Item]) -> list[Column]:
    """Return two columns for each source of blueprints that a run names, and one for relations left out."""
    seen = (source for _, _, found in guided for source in found)
    columns = [
        column
        for source in in_order(seen, BLUEPRINT_SOURCES)
        for column in (
            Column(source.capitalize(), _source_cell, source),
            Column(f"{source.capitalize()}, Hits@1", cells.percent, f"{source}.hits_at_1"),
        )
    ]
    return [*columns, Column("Relations not in the graph", _dropped_cell, "")]


def _fates_cell(*parts: Metrics | None) -> Cell:
    """Show how many of the scored questions are right, of all."""
    fates = sum((Counter(part or {}) for part in parts), Counter[str]())
    scored, unscored = fates["right"] + fates["wrong"], fates["unscored"]
    return Cell(
        f"{fates['right']:,} / {scored:,}" if scored else "0",
        f"{unscored:,} unscored" if unscored else "",
        str(scored),
    )


def _failed_cell(outcomes: Metrics | None) -> Cell:
    return _fates_cell(*(part for key, part in (outcomes or {}).items() if key not in OUTCOME_LABELS))


def _source_cell(source: Metrics | None) -> Cell:
    share, n = cells.percent((source or {}).get("share")), (source or {}).get("questions")
    return replace(share, detail=f"{share.detail}; n={n:,}") if n else share


def _dropped_cell(sources: Metrics) -> Cell:
    return cells.count(sum(source["dropped"] for source in sources.values()))


def _stage_cell(spent: Metrics | None) -> Cell:
    cell, share = cells.cost(spent, "{:,.0f}"), (spent or {}).get("share")
    return cell if share is None else replace(cell, detail=f"{share:.1%}; {cell.detail}")


SHOWN: Mapping[str, Callable[[Any], Cell]] = {
    "calls": _calls_cell,
    "cost": cells.cost,
    "count": cells.count,
    "decimal": cells.decimal,
    "failed": _failed_cell,
    "fates": _fates_cell,
    "percent": cells.percent,
    "price": partial(cells.cost, form="{:,.4f}"),
    "rough cost": cells.rough_cost,
    "stage": _stage_cell,
    "tokens": _tokens_cell,
    "whole": lambda number: cells.count(number and round(number)),
}
"""How a column may be shown."""


_TRAINING = re.compile(r"train|\bdev|_dev|valid")  # what names a part of a dataset that no paper tests on


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
