"""The tables on what only some methods do: refinement and blueprints (CoG), revision (VoG), lookahead (EGP)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgqa.evaluation.paper_analysis.trace import STAGE_NODES
from kgqa.evaluation.report.cells import (
    PLOTTED_METRICS,
    UNKNOWN_TEXT,
    Cell,
    Table,
    TableRow,
    cost_cell,
    count_cell,
    percent_cell,
    read_interval,
    text_cell,
)
from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.report.plots.stacked_bars import PLAN_TITLES, SIGNAL_TITLES

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

_OUTCOME_TITLES = {
    "grounded": "From the graph",
    "grounded_inference": "Inferred",
    "parametric": "From memory",
    "none": "No answer",
}

_TRIGGERED_COLUMNS = ("Triggered", *PLOTTED_METRICS.values())

_OUTCOME_COLUMNS = (*_OUTCOME_TITLES.values(), "Failed")

_REFINEMENT_COLUMNS = (
    *("Configuration", "Rate", *_TRIGGERED_COLUMNS),
    *("Diagnoses", "Re-routed", "Recovered", "Blueprint dropped", *_OUTCOME_COLUMNS),
)

Json = Mapping[str, Any]


def refinement_tables(entries: Sequence[ReportedRun]) -> list[Table]:
    """Make the tables on refinement and on blueprints; nothing where no run has either."""
    refined = _runs_with("refinement", entries)
    runs = [TableRow((entry,), tuple(_refinement_cells(entry, found))) for entry, found in refined]
    signals = [
        TableRow((entry,), (text_cell(signal), *_triggered_cells(group), *_outcome_cells(group)))
        for entry, found in refined
        for signal, group in (found.get("signals") or {}).items()
    ]
    sheets = (
        Table("Refinement", _REFINEMENT_NOTE, _REFINEMENT_COLUMNS, tuple(runs)),
        Table(
            "Failure signals",
            _SIGNALS_NOTE,
            ("Signal", *_TRIGGERED_COLUMNS, *_OUTCOME_COLUMNS),
            tuple(signals),
        ),
        _blueprint_table(_runs_with("blueprints", entries)),
    )
    return [sheet for sheet in sheets if sheet.lines]


def _runs_with(key: str, entries: Sequence[ReportedRun]) -> list[tuple[ReportedRun, Json]]:
    found = ((entry, (entry.metrics or {}).get(key)) for entry in entries)
    return [(entry, value) for entry, value in found if value]


def _refinement_cells(entry: ReportedRun, found: Json) -> Iterator[Cell]:
    yield text_cell(entry.name.full)
    yield percent_cell(read_interval(found.get("rate")))
    yield from _triggered_cells(found)
    yield cost_cell(found.get("diagnoses"), "{:,.1f}")
    yield count_cell(found.get("rerouted"))
    yield percent_cell(read_interval(found.get("recovered")))
    yield percent_cell(read_interval(found.get("dropped")))
    yield from _outcome_cells(found)


def _triggered_cells(found: Json) -> Iterator[Cell]:
    yield count_cell(found.get("triggered"))
    for metric in PLOTTED_METRICS:
        yield percent_cell(read_interval(found.get(metric)))


def _outcome_cells(found: Json) -> Iterator[Cell]:
    outcomes = dict(found.get("outcomes") or {})
    for outcome in _OUTCOME_TITLES:
        yield _fates_cell([outcomes.pop(outcome, {})])
    yield _fates_cell(outcomes.values())


def _fates_cell(parts: Iterable[Json]) -> Cell:
    """Show how many of the scored questions are right, of all."""
    fates = sum(map(Counter, parts), Counter[str]())
    scored, unscored = fates["right"] + fates["wrong"], fates["unscored"]
    return Cell(
        f"{fates['right']:,} / {scored:,}" if scored else "0",
        f"{unscored:,} unscored" if unscored else "",
        str(scored),
    )


def _blueprint_table(having: Sequence[tuple[ReportedRun, Json]]) -> Table:
    from kgqa.evaluation.paper_analysis.refinement import BLUEPRINT_SOURCES

    seen = dict.fromkeys(source for _, found in having for source in found)
    sources = sorted(seen, key=lambda source: [*BLUEPRINT_SOURCES, source].index(source))
    columns = [title for source in map(str.capitalize, sources) for title in (source, f"{source}, Hits@1")]
    lines = (
        TableRow((entry,), (text_cell(entry.name.full), *_source_cells(found, sources)))
        for entry, found in having
    )
    return Table("Blueprints", _BLUEPRINTS_NOTE, ("Configuration", *columns), tuple(lines))


def _source_cells(found: Json, sources: Sequence[str]) -> Iterator[Cell]:
    for source in sources:
        part = found.get(source) or {}
        share, n = percent_cell(read_interval(part.get("share"))), part.get("questions")
        yield replace(share, detail=f"{share.detail}; n={n:,}") if n else share
        yield percent_cell(read_interval(part.get("hits_at_1")))


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

_REVISION_COLUMNS = (
    *("Configuration", "Questions", "Verified", "To be revised"),
    *("Model only", "NLI only", "Both"),
    *("Revisions", "Searches", "Entropy", "Best by task reward", "Best by confidence"),
)

_STEP_COLUMNS = ("Step", "No signal", "Model only", "NLI only", "Both")

_STRATEGY_COLUMNS = (
    *("Plan", "Chosen", "With a reward", "Accepted", "Mean reward", "Of a wrong plan", "Success"),
    *("Kept to the end", "Hits@1", "Right answers"),
)

RevisionMetrics = Mapping[str, Any]


def revision_tables(entries: Sequence[ReportedRun]) -> list[Table]:
    """Make the tables on verification, on arms and on tokens; nothing where no run has plans in steps."""
    told = [(entry, found) for entry in entries if (found := (entry.metrics or {}).get("revision"))]
    steps = [
        TableRow((entry,), tuple(_step_cells(number, counts)))
        for entry, found in told
        for number, counts in (found.get("steps") or {}).items()
    ]
    arms = [
        TableRow((entry,), tuple(_strategy_cells(found, key, label)))
        for entry, found in told
        for key, label in PLAN_TITLES.items()
        if key in (found.get("strategies") or {}) or key in (found.get("plans") or {})
    ]
    tokens = [
        TableRow((entry,), tuple(_stage_cells(entry, found.get("tokens") or {}))) for entry, found in told
    ]
    runs = [TableRow((entry,), tuple(_revision_cells(entry, found))) for entry, found in told]
    sheets = (
        Table("Revision", _REVISION_NOTE, _REVISION_COLUMNS, tuple(runs)),
        Table("Revision by step", _STEPS_NOTE, _STEP_COLUMNS, tuple(steps)),
        Table("Revision by strategy", _STRATEGIES_NOTE, _STRATEGY_COLUMNS, tuple(arms)),
        Table(
            "Tokens by stage",
            _TOKENS_NOTE,
            ("Configuration", *map(str.capitalize, STAGE_NODES)),
            tuple(tokens),
        ),
    )
    return [sheet for sheet in sheets if sheet.lines]


def _revision_cells(entry: ReportedRun, found: RevisionMetrics) -> Iterator[Cell]:
    sources = found.get("sources") or {}
    yield text_cell(entry.name.full)
    yield count_cell(found.get("planned"))
    yield count_cell(found.get("verified"))
    yield percent_cell(read_interval(found.get("rate")))
    for signal in list(SIGNAL_TITLES)[1:]:
        yield percent_cell(read_interval(sources.get(signal)))
    yield cost_cell(found.get("revisions"), "{:,.2f}")
    yield cost_cell(found.get("plan_steps"), "{:,.2f}")
    yield _decimal_cell(found.get("entropy"))
    yield percent_cell(read_interval(found.get("best_task")))
    yield percent_cell(read_interval(found.get("best_confidence")))


def _step_cells(number: str, counts: RevisionMetrics) -> Iterator[Cell]:
    yield Cell(number, key=number)
    for signal in SIGNAL_TITLES:
        yield count_cell(counts.get(signal))


def _strategy_cells(found: RevisionMetrics, key: str, label: str) -> Iterator[Cell]:
    arm = (found.get("strategies") or {}).get(key) or {}
    plan = (found.get("plans") or {}).get(key) or {}
    yield text_cell(label)
    yield cost_cell(arm.get("chosen"), "{:,.2f}")
    yield count_cell(arm.get("revisions"))
    yield count_cell(arm.get("accepted"))
    yield _decimal_cell(arm.get("reward"))
    yield count_cell(arm.get("wrong_before"))
    yield percent_cell(read_interval(arm.get("success")))
    yield count_cell(plan.get("questions"))
    yield percent_cell(read_interval(plan.get("hits_at_1")))
    yield percent_cell(read_interval(plan.get("attributed")))


def _stage_cells(entry: ReportedRun, stages: RevisionMetrics) -> Iterator[Cell]:
    yield text_cell(entry.name.full)
    for stage in STAGE_NODES:
        spent = stages.get(stage) or {}
        cell, share = cost_cell(spent, "{:,.0f}"), spent.get("share")
        yield cell if share is None else replace(cell, detail=f"{share:.1%}; {cell.detail}")


def _decimal_cell(value: Any) -> Cell:
    return Cell(UNKNOWN_TEXT) if value is None else Cell(f"{value:.2f}", key=repr(value))


_LOOKAHEAD_NOTE = (
    "Fired: a relation of the solved questions leaves a topic entity. Realised: a chain of theirs leads to "
    "something with a name. Ended: the model took what it led to. Ended rightly: with a right first answer, "
    "of all scored questions, and of those where it fired."
)

_PRUNING_NOTE = (
    "Relations that survive one pruning: what the model chose, and that with what solved questions added. "
    "None, one, two, three, more: of all prunings, those that so many survived."
)

_LOOKAHEAD_SHARES = {
    "fired": "Fired",
    "realised": "Realised",
    "ended": "Ended",
    "right": "Ended rightly",
    "right_of_fired": "Ended rightly, of those fired",
}

_MAX_RELATIONS = 3

LookaheadMetrics = Mapping[str, Any]


def lookahead_tables(entries: Sequence[ReportedRun]) -> list[Table]:
    """Make the tables on lookahead and on pruning; of the latter nothing where no run was guided."""
    looked = [(entry, found) for entry in entries if (found := (entry.metrics or {}).get("lookahead"))]
    pruned = [(entry, found) for entry in entries if (found := (entry.metrics or {}).get("pruning"))]
    looks = [TableRow((entry,), tuple(_lookahead_cells(entry, found))) for entry, found in looked]
    kept = [TableRow((entry,), tuple(_pruning_cells(entry, found))) for entry, found in pruned if looked]
    columns = ("Configuration", "Prunings", "Chosen", "Kept", "None", "One", "Two", "Three", "More")
    sheets = (
        Table(
            "Smart lookahead",
            _LOOKAHEAD_NOTE,
            ("Configuration", "Questions", *_LOOKAHEAD_SHARES.values()),
            tuple(looks),
        ),
        Table("Relations after pruning", _PRUNING_NOTE, columns, tuple(kept)),
    )
    return [sheet for sheet in sheets if sheet.lines]


def _lookahead_cells(entry: ReportedRun, found: LookaheadMetrics) -> Iterator[Cell]:
    yield text_cell(entry.name.full)
    yield count_cell(found.get("questions"))
    for key in _LOOKAHEAD_SHARES:
        yield percent_cell(read_interval(found.get(key)))


def _pruning_cells(entry: ReportedRun, found: LookaheadMetrics) -> Iterator[Cell]:
    counts = {
        int(number): times for number, times in (found.get("counts") or {}).items() if number.isdecimal()
    }
    yield text_cell(entry.name.full)
    yield count_cell(found.get("prunings"))
    yield cost_cell(found.get("chosen"), "{:,.2f}")
    yield cost_cell(found.get("kept"), "{:,.2f}")
    for number in range(_MAX_RELATIONS + 1):
        yield count_cell(counts.get(number, 0))
    yield count_cell(sum(times for number, times in counts.items() if number > _MAX_RELATIONS))
