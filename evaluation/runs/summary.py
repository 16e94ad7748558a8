"""Shows what a run came to."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgqa.evaluation.labels import COSTS, shares
from kgqa.evaluation.metrics import Metrics
from kgqa.evaluation.runs.evaluate import Evaluation
from kgqa.evaluation.runs.tally import Tally
from kgqa.kg.files import shown
from kgqa.kg.terms import one_line


def show(ended: Evaluation, metrics: Metrics, console: Console) -> None:
    """Print the metrics with their intervals, the costs, and where all of it lies."""
    config, dataset = ended.head["config"], ended.head["dataset"]
    graph = ", ".join(map(str, config["kg"]))
    about = (
        f"{config['method']}, {config['model']}: {metrics['n']:,} questions of {dataset['name']} on {graph}"
    )
    console.print(Text(one_line(about), style="bold"))
    console.print(_shares(metrics))
    console.print(_costs(metrics))
    if metrics["unscored"]:
        console.print(Text(f"{metrics['unscored']:,} questions have no gold and are not scored."))
    if metrics["unknown_calls"]:
        number = f"{metrics['unknown_calls']:,} calls did not report their tokens"
        console.print(Text(f"{number}: tokens and dollars are lower bounds."))
    if ended.tally.strange:
        number = f"The topics of {ended.tally.strange:,} of {metrics['n']:,} questions are not in {graph}"
        console.print(Text(f"{one_line(number)}; --kg names another graph.", style="yellow"))
    if ended.tally.failed:
        console.print(Text(failures(ended.tally), style="yellow"))
    console.print(Text(shown(str(ended.out))), soft_wrap=True)


def failures(tally: Tally) -> str:
    """Say how many questions failed, the most frequent reason, and what to do."""
    ((why, _),) = tally.reasons.most_common(1)
    number = f"{tally.failed:,} of {tally.total:,} questions failed and count as wrong"
    return f"{number} ({one_line(why)}); --retry-failed asks them again."


def _shares(metrics: Metrics) -> Table:
    table = Table("", "%", "95% interval", box=None, pad_edge=False)
    _numbers(table)
    for label, share in shares(metrics):
        value, low, high = (share[part] for part in ("value", "low", "high"))
        if value is None or low is None or high is None:
            table.add_row(label, "n/a", "")
        else:
            table.add_row(label, f"{100 * value:.1f}", f"{100 * low:.1f} to {100 * high:.1f}")
    return table


def _costs(metrics: Metrics) -> Table:
    table = Table("each question", "mean", "median", "p95", "max", "all", box=None, pad_edge=False)
    _numbers(table)
    for key, label in COSTS.items():
        cost: Any = metrics.get(key)
        if cost:
            shown = (_short(cost[part]) for part in ("mean", "p50", "p95", "max"))
            table.add_row(label, *shown, _short(cost["total"]) if "total" in cost else "")
    return table


def _numbers(table: Table) -> None:
    for column in table.columns[1:]:
        column.justify = "right"


def _short(value: float) -> str:
    """Write a cost with three digits that count, or whole where it is large."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
