"""The tables on failure-aware refinement and on blueprints (CoG: Tables 7 and 8, Figure 5)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgqa.evaluation.report.cells import Cell, cost, count, percent, words
from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.shares import PLOTTED, interval
from kgqa.evaluation.report.sheets import Line, Sheet

_REFINEMENT = (
    "Triggered: a failure signal made the model look back at its search; the rate is over all questions, the "
    "rest over those where it was triggered. By outcome: how many ended so with a right first answer, of all "
    "that ended so. Re-routed: a diagnosis blamed a step, and the search went on before it; recovered: of "
    "these, grounded and right. Blueprint dropped: a diagnosis found it unreliable."
)

_SIGNALS = "The questions where refinement was triggered, by the signal of their first diagnosis."

_BLUEPRINTS = (
    "Shares of the questions for which a blueprint was looked for: copied from the nearest exemplar, "
    "adapted by the model, the nearest as it is, or none; and Hits@1 of each."
)

_OUTCOMES = {
    "grounded": "From the graph",
    "grounded_inference": "Inferred",
    "parametric": "From memory",
    "none": "No answer",
}

_ACCURACY = ("Triggered", *PLOTTED.values())

_ENDED = (*_OUTCOMES.values(), "Failed")

_COLUMNS = (
    *("Configuration", "Rate", *_ACCURACY),
    *("Diagnoses", "Re-routed", "Recovered", "Blueprint dropped", *_ENDED),
)

Json = Mapping[str, Any]


def refinement_sheets(entries: Sequence[Entry]) -> list[Sheet]:
    """Make the tables on refinement and on blueprints; nothing where no run has either."""
    refined = _having("refinement", entries)
    runs = [Line((entry,), tuple(_refined(entry, found))) for entry, found in refined]
    signals = [
        Line((entry,), (words(signal), *_accuracy(group), *_ended(group)))
        for entry, found in refined
        for signal, group in (found.get("signals") or {}).items()
    ]
    sheets = (
        Sheet("Refinement", _REFINEMENT, _COLUMNS, tuple(runs)),
        Sheet("Failure signals", _SIGNALS, ("Signal", *_ACCURACY, *_ENDED), tuple(signals)),
        _blueprints(_having("blueprints", entries)),
    )
    return [sheet for sheet in sheets if sheet.lines]


def _having(key: str, entries: Sequence[Entry]) -> list[tuple[Entry, Json]]:
    found = ((entry, (entry.metrics or {}).get(key)) for entry in entries)
    return [(entry, value) for entry, value in found if value]


def _refined(entry: Entry, found: Json) -> Iterator[Cell]:
    yield words(entry.name.full)
    yield percent(interval(found.get("rate")))
    yield from _accuracy(found)
    yield cost(found.get("diagnoses"), "{:,.1f}")
    yield count(found.get("rerouted"))
    yield percent(interval(found.get("recovered")))
    yield percent(interval(found.get("dropped")))
    yield from _ended(found)


def _accuracy(found: Json) -> Iterator[Cell]:
    yield count(found.get("triggered"))
    for metric in PLOTTED:
        yield percent(interval(found.get(metric)))


def _ended(found: Json) -> Iterator[Cell]:
    outcomes = dict(found.get("outcomes") or {})
    for outcome in _OUTCOMES:
        yield _fates([outcomes.pop(outcome, {})])
    yield _fates(outcomes.values())


def _fates(parts: Iterable[Json]) -> Cell:
    """Show how many of the scored questions are right, of all."""
    fates = sum(map(Counter, parts), Counter[str]())
    scored, unscored = fates["right"] + fates["wrong"], fates["unscored"]
    return Cell(
        f"{fates['right']:,} / {scored:,}" if scored else "0",
        f"{unscored:,} unscored" if unscored else "",
        str(scored),
    )


def _blueprints(having: Sequence[tuple[Entry, Json]]) -> Sheet:
    from kgqa.evaluation.blueprints import SOURCES

    seen = dict.fromkeys(source for _, found in having for source in found)
    sources = sorted(seen, key=lambda source: [*SOURCES, source].index(source))
    columns = [title for source in map(str.capitalize, sources) for title in (source, f"{source}, Hits@1")]
    lines = (Line((entry,), (words(entry.name.full), *_sources(found, sources))) for entry, found in having)
    return Sheet("Blueprints", _BLUEPRINTS, ("Configuration", *columns), tuple(lines))


def _sources(found: Json, sources: Sequence[str]) -> Iterator[Cell]:
    for source in sources:
        part = found.get(source) or {}
        share, n = percent(interval(part.get("share"))), part.get("questions")
        yield replace(share, detail=f"{share.detail}; n={n:,}") if n else share
        yield percent(interval(part.get("hits_at_1")))
