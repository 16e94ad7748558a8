"""Shows scores to people: each metric with its interval, in percent."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgqa.evaluation.scoring.metrics import COST_LABELS, SHARE_LABELS, labelled_shares
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.scoring.comparison import Comparison
    from kgqa.evaluation.scoring.rescore import RescoredResults

COUNTS = ("n", "correct", "errors", "missing", "unscored", "unmatched", "excluded", "predicted", "cut")
"""Counts in the order in which they are shown; zeros are left out."""


def show_scores(scored: "RescoredResults") -> None:
    """Print the metrics, the counts, the costs, the groups of questions, and the comparison."""
    console = Console(highlight=False)
    metrics = scored.metrics
    console.print(Text(scored.title, style="bold"), soft_wrap=True)
    if metrics.get("legacy"):
        label = Text(f"legacy protocol {metrics['protocol']}: {metrics['note']}", style="yellow")
        console.print(label, soft_wrap=True)
    console.print(Text(_counts(metrics)), soft_wrap=True)
    console.print(_shares(metrics))
    for table in (_costs(metrics), _groups(metrics)):
        if table.row_count:
            console.print(table)
    if scored.comparison is not None:
        _show_comparison(console, scored.comparison)


def _counts(metrics: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {metrics[key]:,}" for key in COUNTS if key == "n" or metrics.get(key))


def _shares(metrics: Mapping[str, Any]) -> Table:
    table = _table("metric", "%", "95% interval")
    for name, share in labelled_shares(metrics):
        table.add_row(name, _percent(share["value"]), _range(share))
    return table


def _costs(metrics: Mapping[str, Any]) -> Table:
    table = _table("a question", "mean", "median", "95% below", "max")
    for key, name in COST_LABELS.items():
        if spent := metrics.get(key):
            table.add_row(name, *(f"{spent[part]:,.1f}" for part in ("mean", "p50", "p95", "max")))
    return table


def _groups(metrics: Mapping[str, Any]) -> Table:
    names = ["hits_at_1"] if metrics.get("legacy") else ["hits_at_1", "f1"]
    table = _table("questions by", "", "n", *(SHARE_LABELS[name] for name in names))
    table.columns[1].justify = "left"
    for field, groups in metrics["breakdowns"].items():
        for value, group in groups.items():
            shares = (f"{_percent(group[name]['value'])} {_range(group[name])}" for name in names)
            table.add_row(field, Text(one_line(value, 40)), f"{group['n']:,}", *shares)
    return table


def _show_comparison(console: Console, found: "Comparison") -> None:
    console.print(
        Text(f"against the other results, on the {found.n:,} scored questions in both", style="bold")
    )
    if found.missing_a or found.missing_b:
        left_out = f"left out: {found.missing_a:,} not in these, {found.missing_b:,} not in the others"
        console.print(Text(left_out, style="yellow"), soft_wrap=True)
    table = _table("metric", "difference", "95% interval")
    for key, difference in found.differences.items():
        interval = {"low": difference.low, "high": difference.high}
        table.add_row(SHARE_LABELS[key], _percent(difference.value, sign="+"), _range(interval, sign="+"))
    console.print(table)
    pair = found.mcnemar
    console.print(
        Text(
            f"first answer right: both {pair.both:,}, only these {pair.only_a:,}, only the others "
            f"{pair.only_b:,}, neither {pair.neither:,}; McNemar p = {pair.p:.3g}"
        ),
        soft_wrap=True,
    )


def _table(first: str, *numbers: str) -> Table:
    table = Table(first, box=None)
    for number in numbers:
        table.add_column(number, justify="right")
    return table


def _percent(value: float | None, sign: str = "") -> str:
    return "n/a" if value is None else f"{100 * value:{sign}.2f}"


def _range(share: Mapping[str, float | None], sign: str = "") -> str:
    low, high = (_percent(share[end], sign) for end in ("low", "high"))
    return "" if share["low"] is None else f"[{low}, {high}]"
