"""The runs by kind of question, and by how much each differs from the first one there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.pairs import seed_of, side_by_side
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.comparison import Comparison

MOST = 20
"""Kinds that are shown at most, the most frequent ones."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """The runs by one thing that is known of questions (``by``, a key of the breakdowns)."""

    by: str
    entries: Sequence[Entry]

    def of(self, entry: Entry, kind: str) -> Mapping[str, Any]:
        """Give the metrics of a run over the questions of a kind; nothing where it has none."""
        return self._all(entry).get(kind) or {}

    @property
    def names(self) -> list[str]:
        """The kinds of any run: numbers in their order, the rest as metrics.json has them."""
        found = list(dict.fromkeys(kind for entry in self.entries for kind in self._all(entry)))
        often = sorted(found, key=lambda kind: -max(self._count(entry, kind) for entry in self.entries))[
            :MOST
        ]
        kept = [kind for kind in found if kind in often]
        return sorted(kept, key=int) if all(kind.isdecimal() for kind in kept) else kept

    def named(self, kind: str) -> str:
        """Give the name of a kind with the number of its questions."""
        counts = sorted({self._count(entry, kind) for entry in self.entries} - {0}) or [0]
        n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        unit = {"hops": " hop", "answers": " answer"}.get(self.by, "")
        return f"{one_line(kind, 18)}{unit}{'s' if unit and kind != '1' else ''} (n={n})"

    def compared(self) -> dict[tuple[int, str], "Comparison"]:
        """Compare each run with the first one on the questions of each kind, by run number and kind."""
        return dict(self._compared())

    def _compared(self) -> Iterator[tuple[tuple[int, str], "Comparison"]]:
        from kgqa.evaluation.accuracy import by_kind
        from kgqa.evaluation.comparison import compare_judged

        for entry in self.entries[1:]:
            sides = side_by_side(entry, self.entries[0])
            ours, theirs = (by_kind([mark for mark in side if mark.score], self.by) for side in sides)
            for kind, marks in ours.items():
                found = compare_judged([(marks, theirs[kind])], seed_of(self.entries[0]))
                if found.n:
                    yield (entry.number, kind), found

    def _all(self, entry: Entry) -> Mapping[str, Any]:
        return ((entry.metrics or {}).get("breakdowns") or {}).get(self.by) or {}

    def _count(self, entry: Entry, kind: str) -> int:
        return int(self.of(entry, kind).get("n") or 0)
