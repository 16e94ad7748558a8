"""Shows on a terminal how far a run is."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from kgqa.evaluation.runs.tally import Tally

PER_SECOND = 4
"""Times that the bar is drawn in a second."""

COLUMNS = (
    BarColumn(bar_width=None),
    MofNCompleteColumn(),
    TextColumn("{task.fields[failed]}"),
    TextColumn("{task.fields[spent]}", style="dim"),
    TimeRemainingColumn(compact=True),
    TextColumn("left"),
)


class Bar:
    """A progress bar for the duration of a ``with`` block; call it with each tally.

    Nothing is shown where the console is no terminal. The time left goes by the
    pace of this process, not of what was recorded before it.
    """

    def __init__(self, console: Console) -> None:
        shown = console.is_terminal
        self._progress = Progress(
            *COLUMNS,
            console=console,
            refresh_per_second=PER_SECOND,
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
                "", total=tally.total, completed=tally.done, failed=failed, spent=_spent(tally)
            )
        else:
            self._progress.update(self._task, completed=tally.done, failed=failed, spent=_spent(tally))


def _spent(tally: Tally) -> str:
    cost = "" if tally.cost is None else f" · ${tally.cost:,.2f}"
    return f"{tally.calls:,} calls · {tally.tokens:,} tokens{cost}"
