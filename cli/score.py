"""``kgqa score``: score a file of results again, without a model, and show each metric with its interval."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from kgqa.cli.options import Metrics
from kgqa.cli.output import errors_in_one_line, open_console, print_json

if TYPE_CHECKING:
    from kgqa.evaluation.scoring.rescore import RescoredResults

COUNTS = ("n", "correct", "errors", "missing", "unscored", "unmatched", "excluded", "predicted", "cut")
"""Counts in the order in which they are shown; zeros are left out."""


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
            help="strict; pog, cog, cor, vog, rog, text2sparql: published code; cor_paper, exact: papers."
        ),
    ] = "strict",
    format: Annotated[str | None, typer.Option(help="The dataset's format; told from the file.")] = None,
    split: Annotated[
        str | None, typer.Option(help="The part of the dataset that counts; that of the run, else all.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first so many questions count.")] = None,
    kg: Annotated[
        list[str] | None,
        typer.Option(help="The graph, as in kgqa ask: the queries of records and questions are run on it."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="Other results on the same questions, to be compared one by one.")
    ] = None,
    metric: Metrics = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what metrics.json holds as JSON.")] = False,
) -> None:
    """Score the answers of any run, ours or a published one, without a model.

    Scores that need the graph need --kg; costs of the run are not shown.
    """
    from kgqa.evaluation.scoring.rescore import rescore

    with errors_in_one_line(ValueError):
        scored = rescore(
            results,
            dataset=dataset,
            protocol=protocol,
            format=format,
            split=split,
            limit=limit,
            kg=kg or (),
            against=against,
            metrics=metric or (),
        )
    for warning in scored.warnings:
        typer.echo(f"kgqa: {warning}", err=True)
    if as_json:
        compared = {"comparison": asdict(scored.comparison)} if scored.comparison else {}
        print_json({**scored.metrics, **compared})
    else:
        _print_scores(scored)


def _print_scores(scored: "RescoredResults") -> None:
    from kgqa.evaluation.scoring.printing import difference_table, group_table, metric_tables

    lines, console, metrics = open_console(), Console(highlight=False), scored.metrics
    lines.print(Text(scored.title, style="bold"))
    if metrics.get("legacy"):
        lines.print(Text(f"legacy protocol {metrics['protocol']}: {metrics['note']}", style="yellow"))
    lines.print(", ".join(f"{key} {metrics[key]:,}" for key in COUNTS if key == "n" or metrics.get(key)))
    for table in (*metric_tables(metrics), group_table(metrics)):
        if table.row_count:
            console.print(table)
    if (found := scored.comparison) is None:
        return
    both = f"against the other results, on the {found.n:,} scored questions in both"
    console.print(Text(both, style="bold"))
    if found.missing_a or found.missing_b:
        left_out = f"left out: {found.missing_a:,} not in these, {found.missing_b:,} not in the others"
        console.print(Text(left_out, style="yellow"), soft_wrap=True)
    console.print(difference_table(found))
    pair = found.mcnemar
    console.print(
        f"first answer right: both {pair.both:,}, only these {pair.only_a:,}, only the others "
        f"{pair.only_b:,}, neither {pair.neither:,}; McNemar p = {pair.p:.3g}",
        soft_wrap=True,
    )
