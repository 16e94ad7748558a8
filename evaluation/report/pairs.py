"""The table of comparisons: runs on the same questions, two at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from kgqa.evaluation.report.groups import Entry, Group
from kgqa.evaluation.report.shares import METRICS
from kgqa.evaluation.report.table import UNKNOWN, Cell

if TYPE_CHECKING:
    from kgqa.evaluation.comparison import Comparison, Difference, McNemar

ALL_PAIRS = 6
"""Runs up to which every pair is compared; of more runs, those pairs that have the same model."""

COMPARED = ("hits_at_1", "f1", "hit_any", "precision", "recall")
"""The metrics whose differences are shown."""

COLUMNS = ("A", "B", "Questions", *map(METRICS.__getitem__, COMPARED), "Only A / only B", "McNemar p")


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of runs and the cells that compare them."""

    a: Entry
    b: Entry
    cells: tuple[Cell, ...]


def pairs(group: Group) -> list[Pair]:
    """Compare the runs of a group on the questions that have gold and that both have a record of."""
    from kgqa.evaluation.comparison import compare

    compared = []
    for a, b in _worth_comparing(group.entries):
        if group.no_gold is None:
            questions = list({question.id: question for question in (*a.questions, *b.questions)}.values())
            found = compare(a.run.results, b.run.results, questions, seed=int(a.run.about.get("seed") or 0))
            if found.n:
                compared.append(Pair(a, b, tuple(_cells(found))))
    return compared


def _worth_comparing(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    for a, b in combinations(entries, 2):
        if len(entries) <= ALL_PAIRS or a.run.model == b.run.model:
            yield a, b


def _cells(found: "Comparison") -> Iterator[Cell]:
    missing = (("A", found.missing_a), ("B", found.missing_b))
    lacking = ", ".join(f"{count:,} not in {side}" for side, count in missing if count)
    yield Cell(f"{found.n:,}", lacking, key=str(found.n))
    for metric in COMPARED:
        yield _points(found.differences[metric])
    yield from _mcnemar(found.mcnemar)


def _points(difference: "Difference") -> Cell:
    """Show a difference in percentage points over its interval."""
    if difference.value is None or difference.low is None or difference.high is None:
        return Cell(UNKNOWN)
    value, low, high = (100 * share for share in (difference.value, difference.low, difference.high))
    return Cell(_signed(value), f"{_signed(low)} to {_signed(high)}", repr(value), sure=low > 0 or high < 0)


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def _mcnemar(found: "McNemar") -> Iterator[Cell]:
    yield Cell(f"{found.only_a:,} / {found.only_b:,}", key=str(found.only_a - found.only_b))
    shown = "< 0.001" if found.p < 0.001 else f"{found.p:.3f}"
    yield Cell(shown, key=repr(found.p), sure=found.p < 0.05)
