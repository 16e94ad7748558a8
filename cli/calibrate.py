"""``kgqa calibrate``: find the reward from which VoG takes a revised plan up."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from kgqa.cli import options, output
from kgqa.cli.eval import run_evaluation
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.paper_analysis.calibration import Trial
    from kgqa.evaluation.question import Question
    from kgqa.evaluation.runs.evaluate import Evaluation

MAX_ROWS = 12  # thresholds that are shown about, beside the best


def calibrate(
    dataset: Annotated[str, typer.Option(help='"sample", or a file of training questions with answers.')],
    kg: options.Graph = None,
    model: Annotated[
        str | None, typer.Option(help='"provider:name", "offline", or "simulated:accuracy=0.7".')
    ] = None,
    format: options.Format = None,
    split: options.Split = None,
    limit: options.Limit = None,
    concurrency: options.Concurrency = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of a simulated model.")] = 0,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of vog, as key=value; see: kgqa methods vog.")
    ] = None,
) -> None:
    """Find the threshold of VoG's reward that tells right revisions from wrong ones best.

    Training questions are asked with a threshold that no plan reaches early. The one of
    the highest sensitivity + specificity - 1 (Youden's J) is told as the option to pass.
    It holds for this graph, model and encoder.

    Exit status: 0 found, 1 revisions are too few or all alike, 2 usage, 3 knowledge graph unavailable,
    4 model unavailable (2 to 4 also where every question fails by it), 130 stopped.
    """
    from kgqa.builds import scratch_folder
    from kgqa.evaluation.datasets import DatasetError, load
    from kgqa.evaluation.datasets.training import training_split

    arguments = {
        "kg": kg or None,
        "model": model,
        "limit": limit,
        "concurrency": concurrency,
        "seed": seed,
        "method": "vog",
    }
    given = _read_run_options(option, {*arguments, "dataset", "format", "split", "out"})
    with (
        output.errors_in_one_line(DatasetError),
        output.exit_on_termination(),
        scratch_folder(Path(gettempdir())) as folder,
    ):
        loaded = load(dataset, format, own=True)
        part = training_split(loaded) if split is None else split
        run = {"dataset": loaded, "split": part, "out": folder / "run"}
        ended = run_evaluation({**given, **arguments, **run})
        tried = _read_trials(ended, loaded.select(part, limit))
    _print_calibration(ended, tried)


def _read_run_options(pairs: list[str] | None, taken: set[str]) -> dict[str, Any]:
    """Read the options of the runs, with a threshold that no plan reaches; refuse those without revisions."""
    from kgqa.api import make_context
    from kgqa.priors.rewards import UNREACHABLE_REWARD

    with output.errors_in_one_line(ValueError):
        given = options.read_options(pairs)
        if "threshold" in given:
            raise ValueError("the threshold is what is looked for; leave --option threshold out")
        if other := sorted(given.keys() & taken):
            raise ValueError(f"{other[0]} is no option of vog; see: kgqa calibrate --help")
        given["threshold"] = UNREACHABLE_REWARD
        for name in ("conclude", "exact_match"):  # what spares revisions
            given.setdefault(name, False)
        context = make_context("vog", given)
    for name in ("verification", "revisions", "max_revisions"):
        if not (value := getattr(context, name)):
            said = f"{name}={str(value).lower()}"
            output.fail(f"no plan is revised with {said}; leave --option {said} out")
    return given


def _read_trials(ended: "Evaluation", questions: "Sequence[Question]") -> "list[Trial]":
    from kgqa.evaluation.paper_analysis.calibration import read_trials
    from kgqa.evaluation.result_files import read_results
    from kgqa.evaluation.runs.records import failure_reason
    from kgqa.evaluation.scoring.scores import score_results

    if ended.metrics is None:
        output.fail(f"{ended.tally.stop}; nothing was calibrated", output.ExitCode.INTERRUPTED)
    results = read_results(ended.out)
    if ended.tally.failed == ended.tally.total:
        ((why, _),) = ended.tally.reasons.most_common(1)
        said = next(result.record for result in results if failure_reason(result.record) == why)
        output.fail(ended.tally.failures, output.outage_exit_code(said) or output.ExitCode.NO_ANSWER)
    return read_trials(score_results(results, questions))


def _print_calibration(ended: "Evaluation", tried: "list[Trial]") -> None:
    from kgqa.evaluation.paper_analysis.calibration import CalibrationError, calibrate
    from kgqa.priors.encoder import BUNDLED_ENCODER

    try:
        found = calibrate(tried)
    except CalibrationError as error:
        output.fail("; ".join(filter(None, [str(error), ended.tally.failures])), output.ExitCode.NO_ANSWER)
    out, config, best = output.open_console(), ended.head["config"], found.best
    questions = f"{ended.tally.total:,} questions of {ended.head['dataset']['name']}"
    encoder = config["encoder"] or BUNDLED_ENCODER
    out.print(Text(one_line(f"{config['model']}, encoder {encoder}: {questions}")))
    out.print(f"{len(tried):,} revisions, {found.right:,} of them right; AUC {found.auc:.3f}")
    table = output.make_table(
        "threshold", "accepted", "of them right", "right accepted", "wrong kept out", "J"
    )
    every = -(-len(found.cuts) // MAX_ROWS)
    for place, cut in enumerate(found.cuts):
        if place % every == 0 or cut == best:
            accepted = cut.right + cut.wrong
            shares = (cut.right / accepted, cut.sensitivity, cut.specificity)
            texts = (f"{cut.threshold:.3f}", f"{accepted:,}", *(f"{share:.1%}" for share in shares))
            table.add_row(*texts, f"{cut.youden:.3f}", style="bold green" if cut == best else "")
    out.print(table)
    if failed := ended.tally.failures:
        out.print(Text(one_line(failed), style="yellow"))
    out.print(f"best of all: J {best.youden:.3f}; pass it with")
    out.print(Text(f"--option threshold={best.threshold:g}", style="bold green"))
