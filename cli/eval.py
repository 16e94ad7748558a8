"""``kgqa eval``: ask the questions of a dataset and measure the answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.options import read_options
from kgqa.cli.output import ExitCode, fail

if TYPE_CHECKING:
    from kgqa.evaluation.runs.evaluate import Evaluation


def evaluate(
    dataset: Annotated[str, typer.Option(help='"sample", or a file of questions, plain or gzipped.')],
    out: Annotated[Path, typer.Option(help="The folder of the run; one that was not finished goes on.")],
    kg: Annotated[
        list[str] | None,
        typer.Option(
            help='"sample" (default), an RDF file (several for one graph), a folder made by kgqa kg load, '
            "or the address of a SPARQL endpoint."
        ),
    ] = None,
    method: Annotated[str, typer.Option(help="How to answer; see: kgqa methods.")] = "cor",
    model: Annotated[
        str | None, typer.Option(help='"provider:name", "offline", or "simulated:accuracy=0.9".')
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Of the file; told from it if not given. A wrong name lists them all.")
    ] = None,
    split: Annotated[
        str,
        typer.Option(help='"all", or the part to ask: "test", or, of another split, "split_group=test".'),
    ] = "all",
    limit: Annotated[int | None, typer.Option(min=1, help="Questions to ask at most.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions asked at a time.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of a simulated model and of the intervals.")] = 0,
    ray: Annotated[
        str | None,
        typer.Option(help='HOST:PORT of a Ray cluster that is to ask, or "auto".'),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the method, as key=value; see: kgqa methods.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Ask again what failed.")] = False,
) -> None:
    """Ask the questions of a dataset and measure the answers; the same command goes on where it ended.

    Ctrl-C lets the running questions end and stops; a second one stops at once.

    Exit status: 0 complete, 1 complete but questions failed, 2 usage, 3 knowledge graph unavailable,
    4 model unavailable, 130 stopped.
    """
    try:
        options = read_options(option or [])
    except ValueError as error:
        fail(str(error), ExitCode.USAGE)
    arguments = {
        "dataset": dataset,
        "out": out,
        "kg": kg or None,
        "method": method.lower(),
        "model": model,
        "format": format,
        "split": split,
        "limit": limit,
        "concurrency": concurrency,
        "seed": seed,
        "ray": ray,
        "retry_failed": retry_failed,
    }
    if taken := sorted(options.keys() & arguments.keys()):
        fail(f"{taken[0]} is no option of the method; give --{taken[0].replace('_', '-')}", ExitCode.USAGE)
    _print_result(run_evaluation({**arguments, **options}))


def run_evaluation(arguments: dict[str, Any]) -> "Evaluation":
    """Run an evaluation under a progress bar and turn whatever ends it early into one line."""
    from asyncio import CancelledError

    from kgqa.evaluation.datasets import DatasetError
    from kgqa.evaluation.runs.event_loop import run_on_one_core
    from kgqa.evaluation.runs.jsonl import RunError
    from kgqa.kg.errors import KGError
    from kgqa.models.errors import ModelError
    from kgqa.priors.errors import EncoderError, PriorError

    try:
        return run_on_one_core(_evaluate_with_bar(arguments))
    except (DatasetError, RunError, PriorError, EncoderError) as error:
        fail(str(error), ExitCode.USAGE)
    except KGError as error:
        fail(str(error), ExitCode.KG_UNAVAILABLE)
    except ModelError as error:
        fail(str(error), ExitCode.MODEL_UNAVAILABLE)
    except CancelledError:
        fail("stopped at once; what is recorded stays, and the same command goes on", ExitCode.INTERRUPTED)


async def _evaluate_with_bar(arguments: dict[str, Any]) -> "Evaluation":
    from rich.console import Console

    from kgqa.evaluation.runs.evaluate import evaluate
    from kgqa.evaluation.runs.event_loop import stop_on_signals
    from kgqa.evaluation.runs.terminal import ProgressBar
    from kgqa.runtime.context import Budget

    console = Console(stderr=True, highlight=False)

    def say() -> None:
        most = f"each may take up to the seconds of its budget, {Budget().seconds:g} by default"
        line = f"kgqa: the running questions end first ({most}); Ctrl-C again stops at once"
        console.print(line, soft_wrap=True)

    with ProgressBar(console) as bar, stop_on_signals(say) as stop:
        return await evaluate(**arguments, stop=stop, watch=bar)


def _print_result(ended: "Evaluation") -> None:
    from rich.console import Console

    from kgqa.evaluation.runs.terminal import print_summary

    if ended.metrics is None:
        done = f"stopped after {ended.tally.done:,} of {ended.tally.total:,} questions"
        fail(f"{done}; the same command goes on", ExitCode.INTERRUPTED)
    print_summary(ended, ended.metrics, Console(highlight=False))
    raise SystemExit(int(ExitCode.NO_ANSWER if ended.tally.failed else ExitCode.ANSWERED))
