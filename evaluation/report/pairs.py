"""The table of comparisons: runs on the same questions, two at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from kgqa.evaluation.judging import Judged
from kgqa.evaluation.report.cells import Cell, points, tested
from kgqa.evaluation.report.groups import Entry, Group
from kgqa.evaluation.report.shares import METRICS
from kgqa.evaluation.scores import NOTHING

if TYPE_CHECKING:
    from kgqa.evaluation.comparison import Comparison

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
    from kgqa.evaluation.comparison import compare_judged

    compared = []
    for a, b in _worth_comparing(group.entries):
        found = compare_judged([side_by_side(a, b)], seed_of(a))
        if found.n:
            compared.append(Pair(a, b, tuple(_cells(found))))
    return compared


def side_by_side(a: Entry, b: Entry) -> tuple[list[Judged], list[Judged]]:
    """Give what two runs made of the questions of both; what a run was not asked it has no record of."""
    left, right = ({mark.question.id: mark for mark in entry.judged} for entry in (a, b))
    unasked = {id: Judged(mark.question, None, mark.score and NOTHING) for id, mark in (left | right).items()}
    return list((unasked | left).values()), list((unasked | right).values())


def seed_of(entry: Entry) -> int:
    """Give what the intervals of a run are drawn by."""
    return int(entry.run.about.get("seed") or 0)


def _worth_comparing(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    for a, b in combinations(entries, 2):
        if len(entries) <= ALL_PAIRS or a.run.model == b.run.model:
            yield a, b


def _cells(found: "Comparison") -> Iterator[Cell]:
    missing = (("A", found.missing_a), ("B", found.missing_b))
    lacking = ", ".join(f"{count:,} not in {side}" for side, count in missing if count)
    yield Cell(f"{found.n:,}", lacking, key=str(found.n))
    for metric in COMPARED:
        yield points(found.differences[metric])
    yield from tested(found.mcnemar)
