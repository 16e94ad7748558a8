"""Metrics as a terminal shows them."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from kgqa.evaluation.scoring.comparison import Comparison
from kgqa.evaluation.scoring.run_metrics import COST_LABELS, SHARE_LABELS, labelled_shares
from kgqa.kg.terms import one_line

COST_PARTS = {"mean": "mean", "p50": "median", "p95": "p95", "max": "max", "total": "all"}
"""What may be known of a cost, and the titles of it."""


def metric_tables(metrics: Mapping[str, Any]) -> Iterator[Table]:
    """Make the table of shares with their intervals, and that of costs."""
    shares = _number_table("", "%", "95% interval")
    for label, share in labelled_shares(metrics):
        shares.add_row(label, _percent(share["value"]), _interval(share["low"], share["high"]))
    yield shares
    costs = _number_table("each question", *COST_PARTS.values())
    for key, label in COST_LABELS.items():
        if spent := metrics.get(key):
            costs.add_row(label, *(_cost(spent[part]) for part in COST_PARTS if part in spent))
    yield costs
    own = _number_table("own metric", "mean", "95% interval", "n")
    for name, mean in (metrics.get("own") or {}).items():
        numbers = [format_own(mean[part]) for part in ("value", "low", "high")]
        own.add_row(Text(one_line(name, 40)), numbers[0], " to ".join(numbers[1:]), f"{mean['n']:,}")
    if own.row_count:
        yield own


def format_own(number: float | None) -> str:
    """Write a number of a metric of the user's own, whatever its unit."""
    return "n/a" if number is None else f"{number:,.3f}" if abs(number) < 10 else f"{number:,.1f}"


def group_table(metrics: Mapping[str, Any]) -> Table:
    """Make the table of accuracy by what is known of questions."""
    names = ["hits_at_1"] if metrics.get("legacy") else ["hits_at_1", "f1"]
    table = _number_table("questions by", "", "n", *(SHARE_LABELS[name] for name in names))
    table.columns[1].justify = "left"
    for field, groups in metrics["breakdowns"].items():
        for value, group in groups.items():
            shares = [group[name] for name in names]
            shown = (f"{_percent(one['value'])} ({_interval(one['low'], one['high'])})" for one in shares)
            table.add_row(field, Text(one_line(value, 40)), f"{group['n']:,}", *shown)
    return table


def difference_table(found: Comparison) -> Table:
    """Make the table of the differences of two runs."""
    table = _number_table("metric", "difference", "95% interval")
    for key, one in found.differences.items():
        table.add_row(SHARE_LABELS[key], _percent(one.value, "+"), _interval(one.low, one.high, "+"))
    return table


def _number_table(first: str, *numbers: str) -> Table:
    table = Table(first, box=None, pad_edge=False)
    for number in numbers:
        table.add_column(number, justify="right")
    return table


def _percent(value: float | None, sign: str = "") -> str:
    return "n/a" if value is None else f"{100 * value:{sign}.1f}"


def _interval(low: float | None, high: float | None, sign: str = "") -> str:
    return "" if low is None else f"{_percent(low, sign)} to {_percent(high, sign)}"


def _cost(value: float) -> str:
    """Write a cost with three digits that count, or whole where it is large."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
