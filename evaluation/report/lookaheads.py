"""The tables on smart lookahead and on pruning (EGP §5.3 and §5.4, Figure 6)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kgqa.evaluation.report.cells import Cell, cost, count, percent, words
from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.shares import interval
from kgqa.evaluation.report.sheets import Line, Sheet

_LOOKAHEAD = (
    "Fired: a relation of the solved questions leaves a topic entity. Realised: a chain of theirs leads to "
    "something with a name. Ended: the model took what it led to. Ended rightly: with a right first answer, "
    "of all scored questions, and of those where it fired."
)

_PRUNING = (
    "Relations that survive one pruning: what the model chose, and that with what solved questions added. "
    "None, one, two, three, more: of all prunings, those that so many survived."
)

_SHARES = {
    "fired": "Fired",
    "realised": "Realised",
    "ended": "Ended",
    "right": "Ended rightly",
    "right_of_fired": "Ended rightly, of those fired",
}

_MOST = 3

Json = Mapping[str, Any]


def lookahead_sheets(entries: Sequence[Entry]) -> list[Sheet]:
    """Make the tables on lookahead and on pruning; of the latter nothing where no run was guided."""
    looked = [(entry, found) for entry in entries if (found := (entry.metrics or {}).get("lookahead"))]
    pruned = [(entry, found) for entry in entries if (found := (entry.metrics or {}).get("pruning"))]
    looks = [Line((entry,), tuple(_looked(entry, found))) for entry, found in looked]
    kept = [Line((entry,), tuple(_pruned(entry, found))) for entry, found in pruned if looked]
    columns = ("Configuration", "Prunings", "Chosen", "Kept", "None", "One", "Two", "Three", "More")
    sheets = (
        Sheet("Smart lookahead", _LOOKAHEAD, ("Configuration", "Questions", *_SHARES.values()), tuple(looks)),
        Sheet("Relations after pruning", _PRUNING, columns, tuple(kept)),
    )
    return [sheet for sheet in sheets if sheet.lines]


def _looked(entry: Entry, found: Json) -> Iterator[Cell]:
    yield words(entry.name.full)
    yield count(found.get("questions"))
    for key in _SHARES:
        yield percent(interval(found.get(key)))


def _pruned(entry: Entry, found: Json) -> Iterator[Cell]:
    counts = {
        int(number): times for number, times in (found.get("counts") or {}).items() if number.isdecimal()
    }
    yield words(entry.name.full)
    yield count(found.get("prunings"))
    yield cost(found.get("chosen"), "{:,.2f}")
    yield cost(found.get("kept"), "{:,.2f}")
    for number in range(_MOST + 1):
        yield count(counts.get(number, 0))
    yield count(sum(times for number, times in counts.items() if number > _MOST))
