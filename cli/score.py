"""``kgqa score``: score a file of results again, without a model, and show each metric with its interval."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgqa.cli.output import errors_in_one_line, open_console, print_json
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.scoring.comparison import Comparison
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
            help="strict; pog, cog, cor, vog: what a paper's code counts; cor_paper, exact: what papers say."
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
        )
    for warning in scored.warnings:
        typer.echo(f"kgqa: {warning}", err=True)
    if as_json:
        compared = {"comparison": scored.comparison.as_dict()} if scored.comparison else {}
        print_json({**scored.metrics, **compared})
    else:
        _print_scores(scored)


def _print_scores(scored: "RescoredResults") -> None:
    from kgqa.evaluation.scoring.metrics import COST_LABELS, labelled_shares

    lines, console, metrics = open_console(), Console(highlight=False), scored.metrics
    lines.print(Text(scored.title, style="bold"))
    if metrics.get("legacy"):
        lines.print(Text(f"legacy protocol {metrics['protocol']}: {metrics['note']}", style="yellow"))
    lines.print(", ".join(f"{key} {metrics[key]:,}" for key in COUNTS if key == "n" or metrics.get(key)))
    shares = _number_table("metric", "%", "95% interval")
    for name, share in labelled_shares(metrics):
        shares.add_row(name, _percent(share["value"]), _interval(share))
    costs = _number_table("a question", "mean", "median", "95% below", "max", "all")
    for key, name in COST_LABELS.items():
        if spent := metrics.get(key):
            parts = (part for part in ("mean", "p50", "p95", "max", "total") if part in spent)
            costs.add_row(name, *(f"{spent[part]:,.1f}" for part in parts))
    for table in (shares, costs, _group_table(metrics)):
        if table.row_count or table is shares:
            console.print(table)
    if scored.comparison is not None:
        _print_comparison(console, scored.comparison)


def _group_table(metrics: Mapping[str, Any]) -> Table:
    from kgqa.evaluation.scoring.metrics import SHARE_LABELS

    names = ["hits_at_1"] if metrics.get("legacy") else ["hits_at_1", "f1"]
    table = _number_table("questions by", "", "n", *(SHARE_LABELS[name] for name in names))
    table.columns[1].justify = "left"
    for field, groups in metrics["breakdowns"].items():
        for value, group in groups.items():
            shares = (f"{_percent(group[name]['value'])} {_interval(group[name])}" for name in names)
            table.add_row(field, Text(one_line(value, 40)), f"{group['n']:,}", *shares)
    return table


def _print_comparison(console: Console, found: "Comparison") -> None:
    from kgqa.evaluation.scoring.metrics import SHARE_LABELS

    console.print(
        Text(f"against the other results, on the {found.n:,} scored questions in both", style="bold")
    )
    if found.missing_a or found.missing_b:
        left_out = f"left out: {found.missing_a:,} not in these, {found.missing_b:,} not in the others"
        console.print(Text(left_out, style="yellow"), soft_wrap=True)
    table = _number_table("metric", "difference", "95% interval")
    for key, difference in found.differences.items():
        interval = {"low": difference.low, "high": difference.high}
        table.add_row(SHARE_LABELS[key], _percent(difference.value, sign="+"), _interval(interval, sign="+"))
    console.print(table)
    pair = found.mcnemar
    console.print(
        f"first answer right: both {pair.both:,}, only these {pair.only_a:,}, only the others "
        f"{pair.only_b:,}, neither {pair.neither:,}; McNemar p = {pair.p:.3g}",
        soft_wrap=True,
    )


def _number_table(first: str, *numbers: str) -> Table:
    table = Table(first, box=None)
    for number in numbers:
        table.add_column(number, justify="right")
    return table


def _percent(value: float | None, sign: str = "") -> str:
    return "n/a" if value is None else f"{100 * value:{sign}.2f}"


def _interval(share: Mapping[str, float | None], sign: str = "") -> str:
    low, high = (_percent(share[end], sign) for end in ("low", "high"))
    return "" if share["low"] is None else f"[{low}, {high}]"
