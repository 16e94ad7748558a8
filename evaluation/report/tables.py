"""The tables of runs, of comparisons, and of what only some methods do (CoG, VoG, PoG-EGP)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from kgqa.evaluation.paper_analysis.refinement import BLUEPRINT_SOURCES
from kgqa.evaluation.paper_analysis.revision import REWARD_PARTS
from kgqa.evaluation.paper_analysis.trace import STAGE_NODES, in_order
from kgqa.evaluation.report import cells
from kgqa.evaluation.report.cells import Cell, Column, Table, TableRow
from kgqa.evaluation.report.groups import MAX_LABEL_CHARS, ReportedRun, align_questions
from kgqa.evaluation.scoring.comparison import Comparison, compare_scored
from kgqa.kg.terms import one_line

SIGNAL_TITLES = {"none": "no signal", "model": "model only", "nli": "NLI only", "both": "both"}
"""Who gave a signal to revise, and how the page says it."""

PLAN_TITLES = {"first": "first plan"} | {arm: arm for arm in ("local", "lookahead", "global", "mixed")}
"""Where a plan is from, and how the page says it."""

MAX_RUNS_IN_ALL_PAIRS = 6
"""Runs up to which every pair is compared; of more runs, those pairs that have the same model."""

COMPARED_METRICS = ("hits_at_1", "f1", "hit_any", "precision", "recall")
"""The metrics whose differences are shown."""

_COMPARISON_COLUMNS = (
    *("A", "B", "Questions", *map(cells.METRIC_TITLES.__getitem__, COMPARED_METRICS)),
    *("Only A / only B", "McNemar p"),
)


def _calls_cell(metrics: Any) -> Cell:
    cell, cached = cells.rough_cost(metrics.get("llm_calls")), metrics.get("cached_calls")
    return replace(cell, detail=f"{cell.detail}; {cached:,} more from the cache") if cached else cell


def _tokens_cell(metrics: Any) -> Cell:
    """Show the mean tokens of a question, and all; lower bounds where a server did not report all."""
    read, written = cells.sum_means(metrics, "input_tokens"), cells.sum_means(metrics, "output_tokens")
    if read is None or written is None:
        return cells.UNKNOWN
    bound = "≥ " if metrics.get("unknown_calls") else ""
    parts, total = f"in {read:,.0f}, out {written:,.0f}", cells.look_up(metrics, "total_tokens", "total")
    detail = parts if total is None else f"{parts}; all questions {bound}{total:,.0f}"
    return Cell(f"{bound}{read + written:,.0f}", detail, repr(read + written))


_METRIC_COLUMNS = (
    Column("Questions", cells.count, "n"),
    Column("Failed", cells.count, "errors"),
    Column("Missing", cells.count, "missing"),
    Column("Unscored", cells.count, "unscored"),
    *(Column(title, cells.percent, key) for key, title in cells.METRIC_TITLES.items()),
    Column("Declined, without gold", cells.percent, "declined"),
    Column("Calibration error", cells.percent, ("reliability", "expected_calibration_error")),
    Column("LLM calls", _calls_cell),
    Column("Tokens", _tokens_cell),
    Column("KG queries", cells.rough_cost, "kg_queries"),
    Column("Seconds", cells.cost, "seconds"),
    Column("Cost, USD", lambda cost: cells.cost(cost, "{:,.4f}"), "cost"),
)


def run_table(runs: Sequence[ReportedRun]) -> Table:
    """Make the table of runs: options are those that differ, columns those of which something is known."""
    titles = ("Method", "Model", "Options", *(column.title for column in _METRIC_COLUMNS))
    columns, shown = cells.drop_unknown(titles, [tuple(_run_cells(run)) for run in runs])
    rows = (TableRow((run,), row, _progress(run)) for run, row in zip(runs, shown, strict=True))
    return Table("runs", "Runs", columns, tuple(rows))


def own_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Make the table of the metrics of the user's own; none where no run has any."""
    measured = _runs_with("own", runs)
    names = dict.fromkeys(name for _, _, found in measured for name in found)
    columns = [Column(one_line(name, MAX_LABEL_CHARS), cells.own, name) for name in names]
    titles = ("Configuration", *(column.title for column in columns))
    return [Table("own", "Own metrics", titles, tuple(_rows(columns, measured)))] if measured else []


def _run_cells(run: ReportedRun) -> Iterator[Cell]:
    options = ", ".join(f"{key}={value}" for key, value in run.options.items())
    yield from map(cells.text, (run.folder.method, run.folder.model, options))
    yield from cells.show_columns(_METRIC_COLUMNS, {"n": len(run.questions), **(run.metrics or {})})


def _progress(run: ReportedRun) -> str:
    """Say how much of a run is done; nothing where all is."""
    folder = run.folder
    return "" if folder.finished else f"unfinished: {folder.done:,} of {folder.planned:,} questions"


def comparison_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Compare runs on the questions that have gold and that both have a record of; nothing where none are."""
    rows = []
    for a, b in combinations(runs, 2):
        if len(runs) <= MAX_RUNS_IN_ALL_PAIRS or a.folder.model == b.folder.model:
            found = compare_scored([align_questions(a, b)], a.folder.seed)
            if found.n:
                rows.append(TableRow((), (cells.run_name(a), cells.run_name(b), *_comparison_cells(found))))
    return [Table("comparisons", "Comparisons", _COMPARISON_COLUMNS, tuple(rows))] if rows else []


def _comparison_cells(found: Comparison) -> Iterator[Cell]:
    missing = (("A", found.missing_a), ("B", found.missing_b))
    yield cells.count(found.n, ", ".join(f"{count:,} not in {side}" for side, count in missing if count))
    for metric in COMPARED_METRICS:
        yield cells.difference(found.differences[metric])
    yield from cells.mcnemar(found.mcnemar)


_OUTCOME_TITLES = {
    "grounded": "From the graph",
    "grounded_inference": "Inferred",
    "grounded_unverified": "Unverified",
    "parametric": "From memory",
    "none": "No answer",
}

Metrics = Mapping[str, Any]

_Item = tuple[ReportedRun, Cell, Metrics]
"""What a row is about: a run, the cell that names the row, and the metrics that it shows."""


def method_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Make the tables of refinement, revision, lookahead and pruning; none of what no run has."""
    keys = ("refinement", "blueprints", "revision", "lookahead", "pruning")
    refined, guided, revised, looked, pruned = (_runs_with(key, runs) for key in keys)
    arms = [
        (run, cells.text(title), {"arm": strategies.get(key), "plan": plans.get(key)})
        for run, _, found in revised
        for strategies, plans in [(found.get("strategies") or {}, found.get("plans") or {})]
        for key, title in PLAN_TITLES.items()
        if key in strategies or key in plans
    ]
    tables: list[tuple[str, str, str, Sequence[Column], Sequence[_Item]]] = [
        ("refinement", "Refinement", "Configuration", _REFINEMENT_COLUMNS, refined),
        ("signals", "Failure signals", "Signal", _SIGNAL_COLUMNS, _split(refined, "signals")),
        ("blueprints", "Blueprints", "Configuration", _source_columns(guided), guided),
        ("revision", "Revision", "Configuration", _REVISION_COLUMNS, revised),
        ("steps", "Revision by step", "Step", _STEP_COLUMNS, _split(revised, "steps")),
        ("strategies", "Revision by strategy", "Plan", _STRATEGY_COLUMNS, arms),
        ("tokens", "Tokens by stage", "Configuration", _STAGE_COLUMNS, revised),
        ("lookahead", "Smart lookahead", "Configuration", _LOOKAHEAD_COLUMNS, looked),
        ("pruning", "Relations after pruning", "Configuration", _PRUNING_COLUMNS, pruned),
    ]
    return [
        Table(about, title, (first, *(column.title for column in columns)), tuple(_rows(columns, items)))
        for about, title, first, columns, items in tables
        if items
    ]


def _rows(columns: Sequence[Column], items: Sequence[_Item]) -> Iterator[TableRow]:
    for run, name, metrics in items:
        yield TableRow((run,), (name, *cells.show_columns(columns, metrics)))


def _runs_with(key: str, runs: Sequence[ReportedRun]) -> list[_Item]:
    found = ((run, cells.look_up(run.metrics, key)) for run in runs)
    return [(run, cells.text(run.name.full), metrics) for run, metrics in found if metrics]


def _split(items: Sequence[_Item], key: str) -> list[_Item]:
    """Return an item for each part that the metrics have under a key."""
    return [
        (run, Cell(name, key=name, is_number=name.isdecimal()), part)
        for run, _, metrics in items
        for name, part in (metrics.get(key) or {}).items()
    ]


def _source_columns(guided: Sequence[_Item]) -> list[Column]:
    """Return two columns for each source of blueprints that a run names, and one for relations left out."""
    seen = (source for _, _, found in guided for source in found)
    columns = [
        column
        for source in in_order(seen, BLUEPRINT_SOURCES)
        for column in (
            Column(source.capitalize(), _source_cell, source),
            Column(f"{source.capitalize()}, Hits@1", cells.percent, (source, "hits_at_1")),
        )
    ]
    return [*columns, Column("Relations not in the graph", _dropped_cell)]


def _fates_cell(*parts: Metrics | None) -> Cell:
    """Show how many of the scored questions are right, of all."""
    fates = sum((Counter(part or {}) for part in parts), Counter[str]())
    scored, unscored = fates["right"] + fates["wrong"], fates["unscored"]
    return Cell(
        f"{fates['right']:,} / {scored:,}" if scored else "0",
        f"{unscored:,} unscored" if unscored else "",
        str(scored),
    )


def _failed_cell(outcomes: Metrics | None) -> Cell:
    return _fates_cell(*(part for key, part in (outcomes or {}).items() if key not in _OUTCOME_TITLES))


def _source_cell(source: Metrics | None) -> Cell:
    share, n = cells.percent((source or {}).get("share")), (source or {}).get("questions")
    return replace(share, detail=f"{share.detail}; n={n:,}") if n else share


def _dropped_cell(sources: Metrics) -> Cell:
    return cells.count(sum(source["dropped"] for source in sources.values()))


def _stage_cell(spent: Metrics | None) -> Cell:
    cell, share = cells.cost(spent, "{:,.0f}"), (spent or {}).get("share")
    return cell if share is None else replace(cell, detail=f"{share:.1%}; {cell.detail}")


_TRIGGERED_COLUMNS = (
    Column("Triggered", cells.count, "triggered"),
    *(Column(title, cells.percent, key) for key, title in cells.PLOTTED_METRICS.items()),
)

_SIGNAL_COLUMNS = (
    *_TRIGGERED_COLUMNS,
    *(Column(title, _fates_cell, ("outcomes", key)) for key, title in _OUTCOME_TITLES.items()),
    Column("Failed", _failed_cell, "outcomes"),
)

_REFINEMENT_COLUMNS = (
    Column("Rate", cells.percent, "rate"),
    *_TRIGGERED_COLUMNS,
    Column("Diagnoses", cells.rough_cost, "diagnoses"),
    Column("Re-routed", cells.count, "rerouted"),
    Column("Recovered", cells.percent, "recovered"),
    Column("Blueprint dropped", cells.percent, "dropped"),
    *_SIGNAL_COLUMNS[len(_TRIGGERED_COLUMNS) :],
)

_REVISION_COLUMNS = (
    Column("Questions", cells.count, "planned"),
    Column("Verified", cells.count, "verified"),
    Column("To be revised", cells.percent, "rate"),
    Column("Model only", cells.percent, ("sources", "model")),
    Column("NLI only", cells.percent, ("sources", "nli")),
    Column("Both", cells.percent, ("sources", "both")),
    Column("Revisions", cells.cost, "revisions"),
    Column("Searches", cells.cost, "plan_steps"),
    Column("Entropy", cells.decimal, "entropy"),
    Column("Best by task reward", cells.percent, "best_task"),
    Column("Best by confidence", cells.percent, "best_confidence"),
    *(Column(f"Best without {part}", cells.percent, ("best_without", part)) for part in REWARD_PARTS),
)

_STEP_COLUMNS = tuple(
    Column(title[0].upper() + title[1:], cells.count, key) for key, title in SIGNAL_TITLES.items()
)

_STRATEGY_COLUMNS = (
    Column("Chosen", cells.cost, ("arm", "chosen")),
    Column("With a reward", cells.count, ("arm", "revisions")),
    Column("Accepted", cells.count, ("arm", "accepted")),
    Column("Mean reward", cells.decimal, ("arm", "reward")),
    Column("Of a wrong plan", cells.count, ("arm", "wrong_before")),
    Column("Success", cells.percent, ("arm", "success")),
    Column("Kept to the end", cells.count, ("plan", "questions")),
    Column("Hits@1", cells.percent, ("plan", "hits_at_1")),
    Column("Right answers", cells.percent, ("plan", "attributed")),
)

_STAGE_COLUMNS = tuple(Column(stage.capitalize(), _stage_cell, ("tokens", stage)) for stage in STAGE_NODES)

_LOOKAHEAD_COLUMNS = (
    Column("Questions", cells.count, "questions"),
    Column("Fired", cells.percent, "fired"),
    Column("Realised", cells.percent, "realised"),
    Column("Ended", cells.percent, "ended"),
    Column("Ended rightly", cells.percent, "right"),
    Column("Ended rightly, of those fired", cells.percent, "right_of_fired"),
)

_PRUNING_COLUMNS = (
    Column("Prunings", cells.count, "prunings"),
    Column("Chosen", cells.cost, "chosen"),
    Column("Kept", cells.cost, "kept"),
)
