"""The tables on what only some methods do: refinement, blueprints (CoG), revision (VoG), lookahead (EGP)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kgqa.evaluation.paper_analysis.refinement import BLUEPRINT_SOURCES
from kgqa.evaluation.paper_analysis.trace import STAGE_NODES
from kgqa.evaluation.report import cells
from kgqa.evaluation.report.cells import Cell, Column, Table, TableRow
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots.bars import PLAN_TITLES, SIGNAL_TITLES

_REFINEMENT_NOTE = (
    "Triggered: a failure signal made the model look back at its search; the rate is over all questions, the "
    "rest over those where it was triggered. By outcome: how many ended so with a right first answer, of all "
    "that ended so. Re-routed: a diagnosis blamed a step, and the search went on before it; recovered: of "
    "these, grounded and right. Blueprint dropped: a diagnosis found it unreliable."
)

_SIGNALS_NOTE = "The questions where refinement was triggered, by the signal of their first diagnosis."

_BLUEPRINTS_NOTE = (
    "Shares of the questions for which a blueprint was looked for: copied from the nearest exemplar, "
    "adapted by the model, the nearest as it is, or none; and Hits@1 of each."
)

_REVISION_NOTE = (
    "To be revised: of the questions in which a step was verified, those in which the plan was to be revised "
    "at any step. Model only, NLI only, both: by who gave a signal at any step, heeded or not: the model, or "
    "the NLI verifier (or the rules that stand in for it). "
    "Searches: of the plan in force at the end. Entropy: of the answers of a question’s plans, the mean over "
    "all revisions. Best by task reward, by confidence: of the questions with a revision, those whose "
    "revision of the highest such reward is right, accepted or not."
)

_STEPS_NOTE = "Verified steps by their number in the plan, and by who gave a signal to revise."

_STRATEGIES_NOTE = (
    "Chosen: revisions of a question with a plan. Success: of the revisions of a plan whose answer was "
    "wrong, those whose answer is right; its interval is over revisions. Kept to the end: questions that "
    "ended with its plan, and Hits@1 of these. Right answers: its share of all right answers."
)

_TOKENS_NOTE = (
    "Tokens of a question with a plan, input and output together, and the share of each stage. Retrieval: "
    "choosing relations and entities. Other: judging yes/no questions, answering from memory."
)

_LOOKAHEAD_NOTE = (
    "Fired: a relation of the solved questions leaves a topic entity. Realised: a chain of theirs leads to "
    "something with a name. Ended: the model took what it led to. Ended rightly: with a right first answer, "
    "of all scored questions, and of those where it fired."
)

_PRUNING_NOTE = (
    "Relations that survive one pruning: what the model chose, and that with what solved questions added. "
    "None, one, two, three, more: of all prunings, those that so many survived."
)

_OUTCOME_TITLES = {
    "grounded": "From the graph",
    "grounded_inference": "Inferred",
    "parametric": "From memory",
    "none": "No answer",
}

Metrics = Mapping[str, Any]

_Item = tuple[ReportedRun, Cell, Metrics]
"""What a row is about: a run, the cell that names the row, and the metrics that it shows."""


def refinement_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Make the tables on refinement and on blueprints; nothing where no run has either."""
    refined, guided = _runs_with("refinement", runs), _runs_with("blueprints", runs)
    signals = [
        (run, cells.text(signal), group)
        for run, _, found in refined
        for signal, group in (found.get("signals") or {}).items()
    ]
    seen = dict.fromkeys(source for _, _, found in guided for source in found)
    sources = sorted(seen, key=lambda source: [*BLUEPRINT_SOURCES, source].index(source))
    by_source = [
        column
        for source in sources
        for column in (
            Column(source.capitalize(), _source_cell, source),
            Column(f"{source.capitalize()}, Hits@1", cells.percent, f"{source}.hits_at_1"),
        )
    ]
    return _tables(
        ("Refinement", _REFINEMENT_NOTE, "Configuration", _REFINEMENT_COLUMNS, refined),
        ("Failure signals", _SIGNALS_NOTE, "Signal", (*_TRIGGERED_COLUMNS, *_OUTCOME_COLUMNS), signals),
        ("Blueprints", _BLUEPRINTS_NOTE, "Configuration", by_source, guided),
    )


def revision_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Make the tables on verification, on arms and on tokens; nothing where no run has plans in steps."""
    revised = _runs_with("revision", runs)
    steps = [
        (run, Cell(number, key=number), counts)
        for run, _, found in revised
        for number, counts in (found.get("steps") or {}).items()
    ]
    arms = [
        (run, cells.text(title), {"arm": strategies.get(key), "plan": plans.get(key)})
        for run, _, found in revised
        for strategies, plans in [(found.get("strategies") or {}, found.get("plans") or {})]
        for key, title in PLAN_TITLES.items()
        if key in strategies or key in plans
    ]
    return _tables(
        ("Revision", _REVISION_NOTE, "Configuration", _REVISION_COLUMNS, revised),
        ("Revision by step", _STEPS_NOTE, "Step", _STEP_COLUMNS, steps),
        ("Revision by strategy", _STRATEGIES_NOTE, "Plan", _STRATEGY_COLUMNS, arms),
        ("Tokens by stage", _TOKENS_NOTE, "Configuration", _STAGE_COLUMNS, revised),
    )


def lookahead_tables(runs: Sequence[ReportedRun]) -> list[Table]:
    """Make the tables on lookahead and on pruning; of the latter nothing where no run was guided."""
    looked = _runs_with("lookahead", runs)
    pruned = _runs_with("pruning", runs) if looked else []
    return _tables(
        ("Smart lookahead", _LOOKAHEAD_NOTE, "Configuration", _LOOKAHEAD_COLUMNS, looked),
        ("Relations after pruning", _PRUNING_NOTE, "Configuration", _PRUNING_COLUMNS, pruned),
    )


def _runs_with(key: str, runs: Sequence[ReportedRun]) -> list[_Item]:
    found = ((run, (run.metrics or {}).get(key)) for run in runs)
    return [(run, cells.text(run.name.full), metrics) for run, metrics in found if metrics]


def _tables(*tables: tuple[str, str, str, Sequence[Column], Sequence[_Item]]) -> list[Table]:
    """Make tables of title, note, title of the first column, further columns and rows; none without rows."""
    return [
        Table(
            title,
            note,
            (first, *(column.title for column in columns)),
            tuple(
                TableRow((run,), (name, *cells.show_columns(columns, metrics)))
                for run, name, metrics in items
            ),
        )
        for title, note, first, columns, items in tables
        if items
    ]


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


def _stage_cell(spent: Metrics | None) -> Cell:
    cell, share = cells.cost(spent, "{:,.0f}"), (spent or {}).get("share")
    return cell if share is None else replace(cell, detail=f"{share:.1%}; {cell.detail}")


def _prunings_cell(number: int, counts: Metrics | None) -> Cell:
    return cells.count((counts or {}).get(str(number), 0))


def _further_prunings_cell(counts: Metrics | None) -> Cell:
    known = {int(number): times for number, times in (counts or {}).items() if number.isdecimal()}
    return cells.count(sum(times for number, times in known.items() if number > _MAX_RELATIONS))


_MAX_RELATIONS = 3

_TRIGGERED_COLUMNS = (
    Column("Triggered", cells.count, "triggered"),
    *(Column(title, cells.percent, key) for key, title in cells.PLOTTED_METRICS.items()),
)

_OUTCOME_COLUMNS = (
    *(Column(title, _fates_cell, f"outcomes.{key}") for key, title in _OUTCOME_TITLES.items()),
    Column("Failed", _failed_cell, "outcomes"),
)

_REFINEMENT_COLUMNS = (
    Column("Rate", cells.percent, "rate"),
    *_TRIGGERED_COLUMNS,
    Column("Diagnoses", cells.rough_cost, "diagnoses"),
    Column("Re-routed", cells.count, "rerouted"),
    Column("Recovered", cells.percent, "recovered"),
    Column("Blueprint dropped", cells.percent, "dropped"),
    *_OUTCOME_COLUMNS,
)

_REVISION_COLUMNS = (
    Column("Questions", cells.count, "planned"),
    Column("Verified", cells.count, "verified"),
    Column("To be revised", cells.percent, "rate"),
    Column("Model only", cells.percent, "sources.model"),
    Column("NLI only", cells.percent, "sources.nli"),
    Column("Both", cells.percent, "sources.both"),
    Column("Revisions", cells.cost, "revisions"),
    Column("Searches", cells.cost, "plan_steps"),
    Column("Entropy", cells.decimal, "entropy"),
    Column("Best by task reward", cells.percent, "best_task"),
    Column("Best by confidence", cells.percent, "best_confidence"),
)

_STEP_COLUMNS = tuple(
    Column(title[0].upper() + title[1:], cells.count, key) for key, title in SIGNAL_TITLES.items()
)

_STRATEGY_COLUMNS = (
    Column("Chosen", cells.cost, "arm.chosen"),
    Column("With a reward", cells.count, "arm.revisions"),
    Column("Accepted", cells.count, "arm.accepted"),
    Column("Mean reward", cells.decimal, "arm.reward"),
    Column("Of a wrong plan", cells.count, "arm.wrong_before"),
    Column("Success", cells.percent, "arm.success"),
    Column("Kept to the end", cells.count, "plan.questions"),
    Column("Hits@1", cells.percent, "plan.hits_at_1"),
    Column("Right answers", cells.percent, "plan.attributed"),
)

_STAGE_COLUMNS = tuple(Column(stage.capitalize(), _stage_cell, f"tokens.{stage}") for stage in STAGE_NODES)

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
    *(
        Column(title, partial(_prunings_cell, number), "counts")
        for number, title in enumerate(("None", "One", "Two", "Three"))
    ),
    Column("More", _further_prunings_cell, "counts"),
)
