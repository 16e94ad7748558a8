"""Shows a run on a terminal: a progress bar, and the metrics at its end."""

from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from kgqa.evaluation.runs.evaluate import Evaluation
from kgqa.evaluation.runs.progress import Tally
from kgqa.evaluation.scoring.metrics import COST_LABELS, Metrics, labelled_shares
from kgqa.files import printable_path
from kgqa.kg.terms import one_line

REFRESHES_PER_SECOND = 4
"""Times that the bar is drawn in a second."""

COLUMNS = (
    BarColumn(bar_width=None),
    MofNCompleteColumn(),
    TextColumn("{task.fields[failed]}"),
    TextColumn("{task.fields[spent]}", style="dim"),
    TimeRemainingColumn(compact=True),
    TextColumn("left"),
)


class ProgressBar:
    """A progress bar for the duration of a ``with`` block; call it with each tally.

    Nothing is shown where the console is no terminal. The time left goes by the
    pace of this process, not of what was recorded before it.
    """

    def __init__(self, console: Console) -> None:
        shown = console.is_terminal
        self._progress = Progress(
            *COLUMNS,
            console=console,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            expand=True,
            disable=not shown,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        """Start drawing."""
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Wipe the bar."""
        self._progress.stop()

    def __call__(self, tally: Tally) -> None:
        """Show this."""
        failed = f"[red]{tally.failed} failed[/]" if tally.failed else "none failed"
        if self._task is None:
            self._task = self._progress.add_task(
                "", total=tally.total, completed=tally.done, failed=failed, spent=_format_spent(tally)
            )
        else:
            self._progress.update(self._task, completed=tally.done, failed=failed, spent=_format_spent(tally))


def _format_spent(tally: Tally) -> str:
    cost = "" if tally.cost is None else f" · ${tally.cost:,.2f}"
    return f"{tally.calls:,} calls · {tally.tokens:,} tokens{cost}"


def print_summary(ended: Evaluation, metrics: Metrics, console: Console) -> None:
    """Print the metrics with their intervals, the costs, and where all of it lies."""
    config, dataset = ended.head["config"], ended.head["dataset"]
    graph = ", ".join(map(str, config["kg"]))
    about = (
        f"{config['method']}, {config['model']}: {metrics['n']:,} questions of {dataset['name']} on {graph}"
    )
    console.print(Text(one_line(about), style="bold"))
    console.print(_share_table(metrics))
    console.print(_cost_table(metrics))
    if metrics["unscored"]:
        console.print(Text(f"{metrics['unscored']:,} questions have no gold and are not scored."))
    if metrics["unknown_calls"]:
        number = f"{metrics['unknown_calls']:,} calls did not report their tokens"
        console.print(Text(f"{number}: tokens and dollars are lower bounds."))
    if ended.tally.strange:
        number = f"The topics of {ended.tally.strange:,} of {metrics['n']:,} questions are not in {graph}"
        console.print(Text(f"{one_line(number)}; --kg names another graph.", style="yellow"))
    if ended.tally.failed:
        console.print(Text(describe_failures(ended.tally), style="yellow"))
    console.print(Text(printable_path(str(ended.out))), soft_wrap=True)


def describe_failures(tally: Tally) -> str:
    """Say how many questions failed, the most frequent reason, and what to do."""
    ((why, _),) = tally.reasons.most_common(1)
    number = f"{tally.failed:,} of {tally.total:,} questions failed and count as wrong"
    return f"{number} ({one_line(why)}); --retry-failed asks them again."


def _share_table(metrics: Metrics) -> Table:
    table = Table("", "%", "95% interval", box=None, pad_edge=False)
    _justify_numbers(table)
    for label, share in labelled_shares(metrics):
        value, low, high = (share[part] for part in ("value", "low", "high"))
        if value is None or low is None or high is None:
            table.add_row(label, "n/a", "")
        else:
            table.add_row(label, f"{100 * value:.1f}", f"{100 * low:.1f} to {100 * high:.1f}")
    return table


def _cost_table(metrics: Metrics) -> Table:
    table = Table("each question", "mean", "median", "p95", "max", "all", box=None, pad_edge=False)
    _justify_numbers(table)
    for key, label in COST_LABELS.items():
        cost: Any = metrics.get(key)
        if cost:
            shown = (_format_cost(cost[part]) for part in ("mean", "p50", "p95", "max"))
            table.add_row(label, *shown, _format_cost(cost["total"]) if "total" in cost else "")
    return table


def _justify_numbers(table: Table) -> None:
    for column in table.columns[1:]:
        column.justify = "right"


def _format_cost(value: float) -> str:
    """Write a cost with three digits that count, or whole where it is large."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
