"""The tables on verification and revision (VoG: Figures 5 and 6, Tables 6, 9 and 11)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgqa.evaluation.planned import STAGES
from kgqa.evaluation.report.cells import UNKNOWN, Cell, cost, count, percent, words
from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.plots.revision import ORIGINS, SIGNALS
from kgqa.evaluation.report.shares import interval
from kgqa.evaluation.report.sheets import Line, Sheet

_REVISION = (
    "To be revised: of the questions in which a step was verified, those in which the plan was to be revised "
    "at any step. Model only, NLI only, both: by who gave a signal at any step, heeded or not: the model, or "
    "the NLI verifier (or the rules that stand in for it). "
    "Searches: of the plan in force at the end. Entropy: of the answers of a question’s plans, the mean over "
    "all revisions. Best by task reward, by confidence: of the questions with a revision, those whose "
    "revision of the highest such reward is right, accepted or not."
)

_STEPS = "Verified steps by their number in the plan, and by who gave a signal to revise."

_STRATEGIES = (
    "Chosen: revisions of a question with a plan. Success: of the revisions of a plan whose answer was "
    "wrong, those whose answer is right; its interval is over revisions. Kept to the end: questions that "
    "ended with its plan, and Hits@1 of these. Right answers: its share of all right answers."
)

_TOKENS = (
    "Tokens of a question with a plan, input and output together, and the share of each stage. Retrieval: "
    "choosing relations and entities. Other: judging yes/no questions, answering from memory."
)

_COLUMNS = (
    *("Configuration", "Questions", "Verified", "To be revised"),
    *("Model only", "NLI only", "Both"),
    *("Revisions", "Searches", "Entropy", "Best by task reward", "Best by confidence"),
)

_STEP_COLUMNS = ("Step", "No signal", "Model only", "NLI only", "Both")

_ARM_COLUMNS = (
    *("Plan", "Chosen", "With a reward", "Accepted", "Mean reward", "Of a wrong plan", "Success"),
    *("Kept to the end", "Hits@1", "Right answers"),
)

Json = Mapping[str, Any]


def revision_sheets(entries: Sequence[Entry]) -> list[Sheet]:
    """Make the tables on verification, on arms and on tokens; nothing where no run has plans in steps."""
    told = [(entry, found) for entry in entries if (found := (entry.metrics or {}).get("revision"))]
    steps = [
        Line((entry,), tuple(_step(number, counts)))
        for entry, found in told
        for number, counts in (found.get("steps") or {}).items()
    ]
    arms = [
        Line((entry,), tuple(_arm(found, key, label)))
        for entry, found in told
        for key, label in ORIGINS.items()
        if key in (found.get("strategies") or {}) or key in (found.get("plans") or {})
    ]
    tokens = [Line((entry,), tuple(_tokens(entry, found.get("tokens") or {}))) for entry, found in told]
    runs = [Line((entry,), tuple(_run(entry, found))) for entry, found in told]
    sheets = (
        Sheet("Revision", _REVISION, _COLUMNS, tuple(runs)),
        Sheet("Revision by step", _STEPS, _STEP_COLUMNS, tuple(steps)),
        Sheet("Revision by strategy", _STRATEGIES, _ARM_COLUMNS, tuple(arms)),
        Sheet("Tokens by stage", _TOKENS, ("Configuration", *map(str.capitalize, STAGES)), tuple(tokens)),
    )
    return [sheet for sheet in sheets if sheet.lines]


def _run(entry: Entry, found: Json) -> Iterator[Cell]:
    sources = found.get("sources") or {}
    yield words(entry.name.full)
    yield count(found.get("planned"))
    yield count(found.get("verified"))
    yield percent(interval(found.get("rate")))
    for signal in list(SIGNALS)[1:]:
        yield percent(interval(sources.get(signal)))
    yield cost(found.get("revisions"), "{:,.2f}")
    yield cost(found.get("plan_steps"), "{:,.2f}")
    yield _number(found.get("entropy"))
    yield percent(interval(found.get("best_task")))
    yield percent(interval(found.get("best_confidence")))


def _step(number: str, counts: Json) -> Iterator[Cell]:
    yield Cell(number, key=number)
    for signal in SIGNALS:
        yield count(counts.get(signal))


def _arm(found: Json, key: str, label: str) -> Iterator[Cell]:
    arm = (found.get("strategies") or {}).get(key) or {}
    plan = (found.get("plans") or {}).get(key) or {}
    yield words(label)
    yield cost(arm.get("chosen"), "{:,.2f}")
    yield count(arm.get("revisions"))
    yield count(arm.get("accepted"))
    yield _number(arm.get("reward"))
    yield count(arm.get("wrong_before"))
    yield percent(interval(arm.get("success")))
    yield count(plan.get("questions"))
    yield percent(interval(plan.get("hits_at_1")))
    yield percent(interval(plan.get("attributed")))


def _tokens(entry: Entry, stages: Json) -> Iterator[Cell]:
    yield words(entry.name.full)
    for stage in STAGES:
        spent = stages.get(stage) or {}
        cell, share = cost(spent, "{:,.0f}"), spent.get("share")
        yield cell if share is None else replace(cell, detail=f"{share:.1%}; {cell.detail}")


def _number(value: Any) -> Cell:
    return Cell(UNKNOWN) if value is None else Cell(f"{value:.2f}", key=repr(value))
