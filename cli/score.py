"""``kgqa score``: score a file of results again, without a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.output import ExitCode, fail, print_json

if TYPE_CHECKING:
    from kgqa.evaluation.scoring.rescore import RescoredResults


def score(
    results: Annotated[
        Path,
        typer.Argument(help="A folder of kgqa eval, or a file of results: ours, PoG's, CoG's, CoR's, ToG's."),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(help='The questions: "sample" or a file; in a folder of ours, what run.json names.'),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="strict; or pog, cog, cor, vog: a paper's own arithmetic, to compare with its numbers."
        ),
    ] = "strict",
    format: Annotated[str | None, typer.Option(help="The dataset's format; told from the file.")] = None,
    split: Annotated[
        str | None, typer.Option(help="The part of the dataset that counts; that of the run, else all.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first so many questions count.")] = None,
    kg: Annotated[
        list[str] | None,
        typer.Option(help="The graph, as in kgqa ask: each answer is looked for at the end of its paths."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="Other results on the same questions, to be compared one by one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what metrics.json holds as JSON.")] = False,
) -> None:
    """Score the answers of any run, ours or a published one, without a model.

    What was found on the graph again is scored with --kg only, and what the run cost is not told.
    """
    from kgqa.evaluation.scoring.rescore import rescore
    from kgqa.kg.errors import KGError

    try:
        scored = rescore(
            results,
            dataset=dataset,
            protocol=protocol,
            format=format,
            split=split,
            limit=limit,
            kg=kg or (),
            against=against,
        )
    except KGError as error:
        fail(str(error), ExitCode.KG_UNAVAILABLE)
    except ValueError as error:
        fail(str(error), ExitCode.USAGE)
    for warning in scored.warnings:
        typer.echo(f"kgqa: {warning}", err=True)
    if as_json:
        print_json(_metrics_as_json(scored))
    else:
        from kgqa.cli.score_table import show_scores

        show_scores(scored)


def _metrics_as_json(scored: "RescoredResults") -> dict[str, Any]:
    """Return the metrics as they are, and the comparison beside them where there is one."""
    compared = scored.comparison
    return {**scored.metrics, **({} if compared is None else {"comparison": compared.as_dict()})}
