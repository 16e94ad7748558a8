"""``kgqa calibrate``: find the reward from which VoG takes a revised plan up."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.eval import run_evaluation
from kgqa.cli.options import FormatOption, SplitOption, errors_in_one_line, read_options
from kgqa.cli.output import ExitCode, fail, outage_exit_code

if TYPE_CHECKING:
    from rich.table import Table

    from kgqa.evaluation.paper_analysis.calibration import Calibration, Trial
    from kgqa.evaluation.question import Question
    from kgqa.evaluation.runs.evaluate import Evaluation

MAX_ROWS = 12
"""Thresholds that are shown about, beside the best."""


def calibrate(
    dataset: Annotated[str, typer.Option(help='"sample", or a file of training questions with answers.')],
    kg: Annotated[
        list[str] | None,
        typer.Option(
            help='"sample" (default), an RDF file (several for one graph), a folder made by kgqa kg load, '
            "or the address of a SPARQL endpoint."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help='"provider:name", "offline", or "simulated:accuracy=0.7".')
    ] = None,
    format: FormatOption = None,
    split: SplitOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Questions to ask at most.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions asked at a time.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of a simulated model.")] = 0,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of vog, as key=value; see: kgqa methods.")
    ] = None,
) -> None:
    """Find the threshold of VoG's reward that tells right revisions from wrong ones best.

    Training questions are asked with a threshold that no plan reaches early. The one of
    the highest sensitivity + specificity - 1 (Youden's J) is told as the option to pass.
    It holds for this graph, model and encoder.

    Exit status: 0 found, 1 revisions are too few or all alike, 2 usage, 3 knowledge graph unavailable,
    4 model unavailable (2 to 4 also where every question fails by it), 130 stopped.
    """
    arguments = {
        "kg": kg or None,
        "model": model,
        "limit": limit,
        "concurrency": concurrency,
        "seed": seed,
        "method": "vog",
    }
    options = _read_run_options(option or [], {*arguments, "dataset", "format", "split", "out"})
    with errors_in_one_line(), TemporaryDirectory() as folder:
        from kgqa.evaluation.datasets import load
        from kgqa.evaluation.datasets.training import training_split

        loaded = load(dataset, format)
        part = training_split(loaded) if split is None else split
        run = {"dataset": loaded, "split": part, "out": Path(folder) / "run"}
        ended = run_evaluation({**options, **arguments, **run})
        tried = _read_trials(ended, loaded.part(part, limit))
    _print_calibration(ended, tried)


def _read_run_options(given: list[str], taken: set[str]) -> dict[str, Any]:
    """Read the options of the runs, with a threshold that no plan reaches.

    An option by which no plan would be revised is refused.
    """
    from kgqa.api import make_context
    from kgqa.priors.rewards import UNREACHABLE_REWARD

    try:
        options = read_options(given)
        if "threshold" in options:
            raise ValueError("the threshold is what is looked for; leave --option threshold out")
        if other := sorted(options.keys() & taken):
            raise ValueError(f"{other[0]} is no option of vog; see: kgqa calibrate --help")
        options["threshold"] = UNREACHABLE_REWARD
        context = make_context("vog", options)
    except ValueError as error:
        fail(str(error), ExitCode.USAGE)
    for name in ("verification", "revisions", "max_revisions"):
        if not (value := getattr(context, name)):
            said = f"{name}={str(value).lower()}"
            fail(f"no plan is revised with {said}; leave --option {said} out", ExitCode.USAGE)
    return options


def _read_trials(ended: "Evaluation", questions: "Sequence[Question]") -> "list[Trial]":
    from kgqa.evaluation.paper_analysis.calibration import read_trials
    from kgqa.evaluation.result_files import read_results
    from kgqa.evaluation.runs.records import failure_reason
    from kgqa.evaluation.scoring.scores import score_results

    if ended.metrics is None:
        done = f"stopped after {ended.tally.done:,} of {ended.tally.total:,} questions"
        fail(f"{done}; nothing was calibrated", ExitCode.INTERRUPTED)
    results = read_results(ended.out)
    if ended.tally.failed == ended.tally.total:
        ((why, _),) = ended.tally.reasons.most_common(1)
        said = next(result.record for result in results if failure_reason(result.record) == why)
        fail(_describe_failures(ended), outage_exit_code(said) or ExitCode.NO_ANSWER)
    return read_trials(score_results(results, questions))


def _describe_failures(ended: "Evaluation") -> str:
    """Say how many questions failed, and the most frequent reason; nothing where none did."""
    return "".join(
        f"{ended.tally.failed:,} of {ended.tally.total:,} questions failed ({why})"
        for why, _ in ended.tally.reasons.most_common(1)
    )


def _print_calibration(ended: "Evaluation", tried: "list[Trial]") -> None:
    from rich.text import Text

    from kgqa.cli.tables import open_console
    from kgqa.evaluation.paper_analysis.calibration import CalibrationError, calibrate
    from kgqa.kg.terms import one_line
    from kgqa.priors.encoder import BUNDLED_ENCODER

    try:
        found = calibrate(tried)
    except CalibrationError as error:
        fail("; ".join(filter(None, [str(error), _describe_failures(ended)])), ExitCode.NO_ANSWER)
    out, config, best = open_console(), ended.head["config"], found.best
    questions = f"{ended.tally.total:,} questions of {ended.head['dataset']['name']}"
    encoder = config["encoder"] or BUNDLED_ENCODER
    out.print(Text(one_line(f"{config['model']}, encoder {encoder}: {questions}")))
    out.print(f"{len(tried):,} revisions, {found.right:,} of them right; AUC {found.auc:.3f}")
    out.print(_threshold_table(found))
    if failed := _describe_failures(ended):
        out.print(Text(one_line(failed), style="yellow"))
    out.print(f"best of all: J {best.youden:.3f}; pass it with")
    out.print(Text(f"--option threshold={best.threshold:g}", style="bold green"))


def _threshold_table(found: "Calibration") -> "Table":
    from kgqa.cli.tables import make_table

    shown = make_table("threshold", "accepted", "of them right", "right accepted", "wrong kept out", "J")
    every = -(-len(found.cuts) // MAX_ROWS)
    for place, cut in enumerate(found.cuts):
        if place % every and cut != found.best:
            continue
        accepted = cut.right + cut.wrong
        shares = (cut.right / accepted, cut.sensitivity, cut.specificity)
        texts = (f"{cut.threshold:.3f}", f"{accepted:,}", *(f"{share:.1%}" for share in shares))
        shown.add_row(*texts, f"{cut.youden:.3f}", style="bold green" if cut == found.best else "")
    return shown
