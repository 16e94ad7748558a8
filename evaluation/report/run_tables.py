"""The table of runs, and the table that compares two runs at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, compress
from typing import TYPE_CHECKING, Any

from kgqa.evaluation.report import cells
from kgqa.evaluation.report.cells import Cell, Column, Table, TableRow
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.scoring.scores import ZERO_SCORE, ScoredQuestion

if TYPE_CHECKING:
    from kgqa.evaluation.scoring.comparison import Comparison

MAX_RUNS_IN_ALL_PAIRS = 6
"""Runs up to which every pair is compared; of more runs, those pairs that have the same model."""

COMPARED_METRICS = ("hits_at_1", "f1", "hit_any", "precision", "recall")
"""The metrics whose differences are shown."""

_COMPARISON_COLUMNS = (
    *("A", "B", "Questions", *map(cells.METRIC_TITLES.__getitem__, COMPARED_METRICS)),
    *("Only A / only B", "McNemar p"),
)

_RUNS_NOTE = (
    "Shares in per cent with their 95% intervals. Costs are means per question. Click a title to sort."
)

_RUNS_FOOTNOTE = (
    "All questions count: one that failed or is missing is wrong. Questions without gold are unscored and in "
    "no accuracy."
)

_COMPARISONS_NOTE = (
    "Run A less run B on the scored questions that both have a record of (below their number: those left out "
    "because a run has none), in percentage points with 95% intervals; bold where the interval does not hold "
    "0, or p is below 0.05."
)

_COMPARISONS_FOOTNOTE = (
    "McNemar’s exact test is on Hits@1: “only A / only B” are the questions that one of them has right and "
    "the other not. The p values are not corrected for the number of comparisons ({} here)."
)


def _calls_cell(metrics: Any) -> Cell:
    cell, cached = cells.rough_cost(metrics.get("llm_calls")), metrics.get("cached_calls")
    return replace(cell, detail=f"{cell.detail}; {cached:,} more from the cache") if cached else cell


def _tokens_cell(metrics: Any) -> Cell:
    """Show the mean tokens of a question; a lower bound where a server did not report all."""
    read, written = cells.sum_means(metrics, "input_tokens"), cells.sum_means(metrics, "output_tokens")
    if read is None or written is None:
        return cells.UNKNOWN
    bound = "≥ " if metrics.get("unknown_calls") else ""
    return Cell(f"{bound}{read + written:,.0f}", f"in {read:,.0f}, out {written:,.0f}", repr(read + written))


_METRIC_COLUMNS = (
    Column("Questions", cells.count, "n"),
    Column("Failed", cells.count, "errors"),
    Column("Missing", cells.count, "missing"),
    Column("Unscored", cells.count, "unscored"),
    *(Column(title, cells.percent, key) for key, title in cells.METRIC_TITLES.items()),
    Column("LLM calls", _calls_cell),
    Column("Tokens", _tokens_cell),
    Column("KG queries", cells.rough_cost, "kg_queries"),
    Column("Seconds", cells.cost, "seconds"),
    Column("Cost, USD", lambda cost: cells.cost(cost, "{:,.4f}"), "cost"),
)


def run_table(runs: Sequence[ReportedRun]) -> Table:
    """Make the table of runs: options are those that differ, columns those of which something is known."""
    titles = ("Method", "Model", "Options", *(column.title for column in _METRIC_COLUMNS))
    cells = [tuple(_run_cells(run)) for run in runs]
    known = [any(cell.key for cell in column) for column in zip(*cells, strict=True)]
    rows = (
        TableRow((run,), tuple(compress(row, known)), _progress(run))
        for run, row in zip(runs, cells, strict=True)
    )
    return Table("Runs", _RUNS_NOTE, tuple(compress(titles, known)), tuple(rows), _RUNS_FOOTNOTE)


def _run_cells(run: ReportedRun) -> Iterator[Cell]:
    options = ", ".join(f"{key}={value}" for key, value in run.options.items())
    yield from map(cells.text, (run.folder.method, run.folder.model, options))
    yield from cells.show_columns(_METRIC_COLUMNS, {"n": len(run.questions), **(run.metrics or {})})


def _progress(run: ReportedRun) -> str:
    """Say how much of a run is done; nothing where all is."""
    folder = run.folder
    return "" if folder.finished else f"unfinished: {folder.done:,} of {folder.planned:,} questions"


def comparison_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Compare runs on the questions that have gold and that both have a record of; nothing where none are."""
    from kgqa.evaluation.scoring.comparison import compare_scored

    rows = []
    for a, b in combinations(runs, 2):
        if len(runs) <= MAX_RUNS_IN_ALL_PAIRS or a.folder.model == b.folder.model:
            found = compare_scored([align_questions(a, b)], run_seed(a))
            if found.n:
                rows.append(TableRow((), (cells.run_name(a), cells.run_name(b), *_comparison_cells(found))))
    footnote = _COMPARISONS_FOOTNOTE.format(len(rows))
    table = Table("Comparisons", _COMPARISONS_NOTE, _COMPARISON_COLUMNS, tuple(rows), footnote)
    return [table] if rows else []


def _comparison_cells(found: "Comparison") -> Iterator[Cell]:
    missing = (("A", found.missing_a), ("B", found.missing_b))
    yield cells.count(found.n, ", ".join(f"{count:,} not in {side}" for side, count in missing if count))
    for metric in COMPARED_METRICS:
        yield cells.difference(found.differences[metric])
    yield from cells.mcnemar(found.mcnemar)


def align_questions(a: ReportedRun, b: ReportedRun) -> tuple[list[ScoredQuestion], list[ScoredQuestion]]:
    """Return what two runs made of the questions of both; of a question that a run was not asked, nothing."""
    left, right = ({scored.question.id: scored for scored in run.scored} for run in (a, b))
    unasked = {
        id: ScoredQuestion(scored.question, None, scored.score and ZERO_SCORE)
        for id, scored in (left | right).items()
    }
    return list((unasked | left).values()), list((unasked | right).values())


def run_seed(run: ReportedRun) -> int:
    """Return what the intervals of a run are drawn by."""
    return int(run.folder.about.get("seed") or 0)
