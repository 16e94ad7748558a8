"""``kgqa eval``: ask the questions of a dataset and measure the answers."""

from asyncio import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from kgqa.cli import options, output

if TYPE_CHECKING:
    from kgqa.evaluation.runs.evaluate import Evaluation


def evaluate(
    dataset: Annotated[
        str,
        typer.Option(
            help='"sample", "conditions", "unanswerable", a benchmark by name (kgqa data list), a file of '
            "questions, plain or gzipped, or a reader of your own, as module:name or file.py:name."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the run; one that was not finished goes on.")],
    kg: options.Graph = None,
    method: options.MethodName = "compose",
    model: Annotated[
        str | None, typer.Option(help='"provider:name", "offline", or "simulated:accuracy=0.9".')
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Of the file; told from it if not given. A wrong name lists them all.")
    ] = None,
    split: Annotated[
        str, typer.Option(help='"all", or the part to ask: "test", or, of another split, "split_group=test".')
    ] = "all",
    prompts: options.Wordings = None,
    limit: options.Limit = None,
    concurrency: options.Concurrency = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of a simulated model and of the intervals.")] = 0,
    ray: Annotated[
        str | None, typer.Option(help='HOST:PORT of a Ray cluster that is to ask, or "auto".')
    ] = None,
    metric: options.Metrics = None,
    option: options.MethodOptions = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Ask again what failed.")] = False,
) -> None:
    """Ask the questions of a dataset and measure the answers; the same command goes on where it ended.

    Ctrl-C lets the running questions end and stops; a second one stops at once.

    Exit status: 0 complete, 1 complete but questions failed, 2 usage, 3 knowledge graph unavailable,
    4 model unavailable, 130 stopped.
    """
    arguments = {
        "dataset": dataset,
        "out": out,
        "kg": kg or None,
        "method": options.read_method(method),
        "model": model,
        "format": format,
        "split": split,
        "limit": limit,
        "concurrency": concurrency,
        "seed": seed,
        "ray": ray,
        "metrics": metric or (),
        "retry_failed": retry_failed,
    }
    with output.errors_in_one_line(ValueError):
        given = ({"prompts": prompts} if prompts else {}) | options.read_options(option)
    if taken := sorted(given.keys() & arguments.keys()):
        output.fail(f"{taken[0]} is no option of the method; give --{taken[0].replace('_', '-')}")
    from kgqa.evaluation.runs.progress import print_summary

    ended = run_evaluation({**arguments, **given})
    if ended.metrics is None:
        output.fail(f"{ended.tally.stop}; the same command goes on", output.ExitCode.INTERRUPTED)
    print_summary(ended, ended.metrics, Console(highlight=False))
    raise SystemExit(int(output.ExitCode.NO_ANSWER if ended.tally.failed else output.ExitCode.ANSWERED))


def run_evaluation(arguments: dict[str, Any]) -> "Evaluation":
    """Run an evaluation under a progress bar and turn whatever ends it early into one line."""
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.evaluation.runs.event_loop import run_on_one_core
    from kgqa.evaluation.runs.records import RunError
    from kgqa.plugins import PluginError

    try:
        with output.errors_in_one_line(DatasetError, RunError, PluginError):
            ended = run_on_one_core(_evaluate_with_bar(arguments))
    except CancelledError:
        output.fail(
            "stopped at once; what is recorded stays, and the same command goes on",
            output.ExitCode.INTERRUPTED,
        )
    return ended


async def _evaluate_with_bar(arguments: dict[str, Any]) -> "Evaluation":
    from kgqa.evaluation.runs.evaluate import evaluate
    from kgqa.evaluation.runs.event_loop import stop_on_signals
    from kgqa.evaluation.runs.progress import progress_bar
    from kgqa.runtime.budget import Budget

    console = Console(stderr=True, highlight=False)

    def announce() -> None:
        most = f"each may take up to the seconds of its budget, {Budget().seconds:g} by default"
        line = f"kgqa: the running questions end first ({most}); Ctrl-C again stops at once"
        console.print(line, soft_wrap=True)

    with progress_bar(console) as bar, stop_on_signals(announce) as stop:
        return await evaluate(**arguments, stop=stop, watch=bar)
