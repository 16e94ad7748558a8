"""The table of runs, and the table that compares two runs at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress
from typing import TYPE_CHECKING, Any

from kgqa.evaluation.report.cells import (
    METRIC_TITLES,
    UNKNOWN_TEXT,
    Cell,
    cost_cell,
    count_cell,
    difference_cell,
    mcnemar_cells,
    percent_cell,
    read_interval,
    sum_means,
    text_cell,
)
from kgqa.evaluation.report.groups import DatasetGroup, ReportedRun
from kgqa.evaluation.scoring.scores import ZERO_SCORE, ScoredQuestion

if TYPE_CHECKING:
    from kgqa.evaluation.scoring.comparison import Comparison


@dataclass(frozen=True, slots=True)
class RunTableRow:
    """A run of the table."""

    entry: ReportedRun
    unfinished: str
    """How much of the run is done; empty where all is."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class RunTable:
    """The columns' titles, and the rows."""

    columns: tuple[str, ...]
    rows: tuple[RunTableRow, ...]


_RUN_COLUMNS = (
    *("Run", "Method", "Model", "Options", "Questions", "Failed", "Missing", "Unscored"),
    *METRIC_TITLES.values(),
    *("LLM calls", "Tokens", "KG queries", "Seconds", "Cost, USD"),
)


def run_table(entries: Sequence[ReportedRun]) -> RunTable:
    """Make the table: options are those that differ, columns those of which something is known."""
    cells = [_run_cells(entry) for entry in entries]
    known = [any(column[at].key for column in cells) for at in range(len(_RUN_COLUMNS) - 1)]
    rows = (
        RunTableRow(entry, _progress_note(entry), tuple(compress(row, known)))
        for entry, row in zip(entries, cells, strict=True)
    )
    return RunTable((_RUN_COLUMNS[0], *compress(_RUN_COLUMNS[1:], known)), tuple(rows))


def _progress_note(entry: ReportedRun) -> str:
    run = entry.run
    return "" if run.finished else f"unfinished: {run.done:,} of {run.planned:,} questions"


def _run_cells(entry: ReportedRun) -> tuple[Cell, ...]:
    metrics = entry.metrics or {}
    options = ", ".join(f"{key}={value}" for key, value in entry.options.items())
    return (
        *map(text_cell, (entry.run.method, entry.run.model, options)),
        count_cell(metrics.get("n", len(entry.questions))),
        *(count_cell(metrics.get(key)) for key in ("errors", "missing", "unscored")),
        *(percent_cell(read_interval(metrics.get(key))) for key in METRIC_TITLES),
        _calls_cell(metrics),
        _tokens_cell(metrics),
        cost_cell(metrics.get("kg_queries"), "{:,.1f}"),
        cost_cell(metrics.get("seconds"), "{:,.2f}"),
        cost_cell(metrics.get("cost"), "{:,.4f}"),
    )


def _calls_cell(metrics: Any) -> Cell:
    cell, cached = cost_cell(metrics.get("llm_calls"), "{:,.1f}"), metrics.get("cached_calls")
    return replace(cell, detail=f"{cell.detail}; {cached:,} more from the cache") if cached else cell


def _tokens_cell(metrics: Any) -> Cell:
    """Show the mean tokens of a question; a lower bound where a server did not report all."""
    read, written = sum_means(metrics, "input_tokens"), sum_means(metrics, "output_tokens")
    if read is None or written is None:
        return Cell(UNKNOWN_TEXT)
    bound = "≥ " if metrics.get("unknown_calls") else ""
    return Cell(f"{bound}{read + written:,.0f}", f"in {read:,.0f}, out {written:,.0f}", repr(read + written))


MAX_RUNS_IN_ALL_PAIRS = 6
"""Runs up to which every pair is compared; of more runs, those pairs that have the same model."""

COMPARED_METRICS = ("hits_at_1", "f1", "hit_any", "precision", "recall")
"""The metrics whose differences are shown."""

COMPARISON_COLUMNS = (
    "A",
    "B",
    "Questions",
    *map(METRIC_TITLES.__getitem__, COMPARED_METRICS),
    "Only A / only B",
    "McNemar p",
)


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """A pair of runs and the cells that compare them."""

    a: ReportedRun
    b: ReportedRun
    cells: tuple[Cell, ...]


def compare_runs(group: DatasetGroup) -> list[ComparedRuns]:
    """Compare the runs of a group on the questions that have gold and that both have a record of."""
    from kgqa.evaluation.scoring.comparison import compare_scored

    compared = []
    for a, b in _pairs_to_compare(group.entries):
        found = compare_scored([align_judged(a, b)], run_seed(a))
        if found.n:
            compared.append(ComparedRuns(a, b, tuple(_comparison_cells(found))))
    return compared


def align_judged(a: ReportedRun, b: ReportedRun) -> tuple[list[ScoredQuestion], list[ScoredQuestion]]:
    """Return what two runs made of the questions of both; what a run was not asked it has no record of."""
    left, right = ({mark.question.id: mark for mark in entry.judged} for entry in (a, b))
    unasked = {
        id: ScoredQuestion(mark.question, None, mark.score and ZERO_SCORE)
        for id, mark in (left | right).items()
    }
    return list((unasked | left).values()), list((unasked | right).values())


def run_seed(entry: ReportedRun) -> int:
    """Return what the intervals of a run are drawn by."""
    return int(entry.run.about.get("seed") or 0)


def _pairs_to_compare(entries: Sequence[ReportedRun]) -> Iterator[tuple[ReportedRun, ReportedRun]]:
    for a, b in combinations(entries, 2):
        if len(entries) <= MAX_RUNS_IN_ALL_PAIRS or a.run.model == b.run.model:
            yield a, b


def _comparison_cells(found: "Comparison") -> Iterator[Cell]:
    missing = (("A", found.missing_a), ("B", found.missing_b))
    lacking = ", ".join(f"{count:,} not in {side}" for side, count in missing if count)
    yield Cell(f"{found.n:,}", lacking, key=str(found.n))
    for metric in COMPARED_METRICS:
        yield difference_cell(found.differences[metric])
    yield from mcnemar_cells(found.mcnemar)
