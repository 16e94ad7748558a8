"""The table of runs: what each has reached, with intervals, and what it has cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

from kgqa.evaluation.report.cells import UNKNOWN, Cell, cost, count, percent, words
from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.shares import METRICS, interval, mean_of


@dataclass(frozen=True, slots=True)
class Row:
    """A run of the table."""

    entry: Entry
    unfinished: str
    """How much of the run is done; empty where all is."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The columns' titles, and the rows."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


_COLUMNS = (
    *("Run", "Method", "Model", "Options", "Questions", "Failed", "Missing", "Unscored"),
    *METRICS.values(),
    *("LLM calls", "Tokens", "KG queries", "Seconds", "Cost, USD"),
)


def table(entries: Sequence[Entry]) -> Table:
    """Make the table: options are those that differ, columns those of which something is known."""
    cells = [_cells(entry) for entry in entries]
    known = [any(column[at].key for column in cells) for at in range(len(_COLUMNS) - 1)]
    rows = (
        Row(entry, _unfinished(entry), tuple(compress(row, known)))
        for entry, row in zip(entries, cells, strict=True)
    )
    return Table((_COLUMNS[0], *compress(_COLUMNS[1:], known)), tuple(rows))


def _unfinished(entry: Entry) -> str:
    run = entry.run
    return "" if run.finished else f"unfinished: {run.done:,} of {run.planned:,} questions"


def _cells(entry: Entry) -> tuple[Cell, ...]:
    metrics = entry.metrics or {}
    options = ", ".join(f"{key}={value}" for key, value in entry.options.items())
    return (
        *map(words, (entry.run.method, entry.run.model, options)),
        count(metrics.get("n", len(entry.questions))),
        *(count(metrics.get(key)) for key in ("errors", "missing", "unscored")),
        *(percent(interval(metrics.get(key))) for key in METRICS),
        _calls(metrics),
        _tokens(metrics),
        cost(metrics.get("kg_queries"), "{:,.1f}"),
        cost(metrics.get("seconds"), "{:,.2f}"),
        cost(metrics.get("cost"), "{:,.4f}"),
    )


def _calls(metrics: Any) -> Cell:
    cell, cached = cost(metrics.get("llm_calls"), "{:,.1f}"), metrics.get("cached_calls")
    return replace(cell, detail=f"{cell.detail}; {cached:,} more from the cache") if cached else cell


def _tokens(metrics: Any) -> Cell:
    """Show the mean tokens of a question; a lower bound where a server did not report all."""
    read, written = mean_of(metrics, "input_tokens"), mean_of(metrics, "output_tokens")
    if read is None or written is None:
        return Cell(UNKNOWN)
    bound = "≥ " if metrics.get("unknown_calls") else ""
    return Cell(f"{bound}{read + written:,.0f}", f"in {read:,.0f}, out {written:,.0f}", repr(read + written))
