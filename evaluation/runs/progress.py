"""How far a run is and what it has cost, by list prices of models, and how a terminal shows it."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from kgqa.evaluation.runs.asking import OWN
from kgqa.evaluation.runs.records import failure_reason, is_failed
from kgqa.evaluation.scoring.printing import metric_tables
from kgqa.evaluation.scoring.run_metrics import Metrics
from kgqa.files import printable_path
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.runs.evaluate import Evaluation

TokenUsage = Mapping[str, float | None]

FREE_PROVIDERS = frozenset({"offline", "scripted", "simulated"})  # models without a price list
_ONE_CALL: TokenUsage = {"llm_calls": 1, "input_tokens": 1, "output_tokens": 1}


@dataclass(frozen=True, slots=True)
class Price:
    """The list price of a model at a time; `find_price` finds it."""

    model: str
    provider: str | None
    url: str | None
    at: datetime

    def of(self, usage: TokenUsage) -> float | None:
        """Return the cost of a question in USD; None where its tokens are not known.

        Calls from the cache have no tokens and cost nothing. Where a price depends on
        the length of a call, that of the question's mean call counts.
        """
        calls, read, written = (usage.get(key) for key in ("llm_calls", "input_tokens", "output_tokens"))
        if calls is None or read is None or written is None:
            return None
        if not calls:
            return 0.0
        from genai_prices import Usage, calc_price

        number = Decimal(calls)
        mean = Usage(input_tokens=Decimal(read) / number, output_tokens=Decimal(written) / number)
        place = {"provider_api_url": self.url} if self.url else {"provider_id": self.provider}
        return float(
            calc_price(mean, self.model, genai_request_timestamp=self.at, **place).total_price * number
        )


def find_price(spec: str, at: datetime) -> Price | None:
    """Find the list price of the model ``provider:name``; None where no list has it.

    A server that OPENAI_BASE_URL names is looked up by its address, and where no
    provider has that, by the name of the model. Reads the lists (0.3 s) once.
    """
    provider, colon, model = spec.partition(":")
    if provider in FREE_PROVIDERS:
        return None
    if not colon:
        provider, model = "openai", spec
    url = os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL")
    places = [Price(model, None, url, at)] if provider == "openai" and url else []
    for price in (*places, Price(model, provider, None, at)):
        with suppress(LookupError):
            price.of(_ONE_CALL)
            return price
    return None


REFRESHES_PER_SECOND = 4  # times that the bar is drawn in a second


@dataclass
class Tally:
    """How far a run is and what it has cost.

    ``cost`` is in USD, None where the model's price is not known.
    """

    total: int
    price: Price | None = None
    done: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    strange: int = 0  # questions whose topics were given and are not in the graph
    reasons: Counter[str] = field(default_factory=Counter)  # why questions failed

    def __post_init__(self) -> None:
        self.cost = None if self.price is None else 0.0

    @property
    def failed(self) -> int:
        """The number of questions that failed."""
        return self.reasons.total()

    @property
    def stop(self) -> str:
        """After how many questions a run was stopped."""
        return f"stopped after {self.done:,} of {self.total:,} questions"

    @property
    def failures(self) -> str:
        """How many questions failed, and the most frequent reason; nothing where none did."""
        most = self.reasons.most_common(1)
        return "".join(f"{self.failed:,} of {self.total:,} questions failed ({why})" for why, _ in most)

    def count(self, record: Mapping[str, Any]) -> None:
        """Count a record."""
        usage = record["usage"]
        self.done += 1
        self.calls += usage["llm_calls"] or 0
        self.tokens += (usage["input_tokens"] or 0) + (usage["output_tokens"] or 0)
        if self.price and self.cost is not None:
            self.cost += self.price.of(usage) or 0.0
        if is_failed(record):
            self.reasons[failure_reason(record)] += 1
        elif not record.get("topics"):
            self.strange += any("error" in step for step in record.get("trace", [])[:1])


@contextmanager
def progress_bar(console: Console) -> Iterator[Callable[[Tally], None]]:
    """Show a progress bar for the duration of a ``with`` block, and return what is called with each tally.

    Nothing is shown where the console is no terminal. The time left goes by the
    pace of this process, not of what was recorded before it.
    """
    task: TaskID | None = None
    progress = Progress(
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TextColumn("{task.fields[spent]}", style="dim"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=console,
        refresh_per_second=REFRESHES_PER_SECOND,
        transient=True,
        expand=True,
        disable=not console.is_terminal,
    )

    def show(tally: Tally) -> None:
        nonlocal task
        failed = f"[red]{tally.failed} failed[/]" if tally.failed else "none failed"
        cost = "" if tally.cost is None else f" · ${tally.cost:,.2f}"
        spent = f"{tally.calls:,} calls · {tally.tokens:,} tokens{cost}"
        if task is None:
            task = progress.add_task("", total=tally.total, completed=tally.done, failed=failed, spent=spent)
        else:
            progress.update(task, completed=tally.done, failed=failed, spent=spent)

    with progress:
        yield show


def print_summary(ended: "Evaluation", metrics: Metrics, console: Console) -> None:
    """Print the metrics with their intervals, the costs, and where all of it lies."""
    config, dataset, tally = ended.head["config"], ended.head["dataset"], ended.tally
    graph = ", ".join(map(str, config["kg"])) if config["kg"] != [OWN] else "their own graphs"
    about = (
        f"{config['method']}, {config['model']}: {metrics['n']:,} questions of {dataset['name']} on {graph}"
    )
    console.print(Text(one_line(about), style="bold"))
    for table in metric_tables(metrics):
        console.print(table)
    if metrics["unscored"]:
        console.print(Text(f"{metrics['unscored']:,} questions have no gold and are not scored."))
    if metrics["unknown_calls"]:
        number = f"{metrics['unknown_calls']:,} calls did not report their tokens"
        console.print(Text(f"{number}: tokens and dollars are lower bounds."))
    if tally.strange:
        number = f"The topics of {tally.strange:,} of {metrics['n']:,} questions are not in {graph}"
        advice = "" if config["kg"] == [OWN] else "; --kg names another graph"
        console.print(Text(f"{one_line(number)}{advice}.", style="yellow"))
    if tally.failed:
        ((why, _),) = tally.reasons.most_common(1)
        number = f"{tally.failed:,} of {tally.total:,} questions failed and count as wrong"
        line = f"{number} ({one_line(why)}); --retry-failed asks them again."
        console.print(Text(line, style="yellow"))
    console.print(Text(printable_path(str(ended.out))), soft_wrap=True)
