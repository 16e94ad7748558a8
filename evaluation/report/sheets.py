"""A further table of the page: a title, a note, and rows that each stand for a run, or one for each seed."""

from dataclasses import dataclass

from kgqa.evaluation.report.cells import Cell
from kgqa.evaluation.report.groups import Entry


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a sheet: the runs it is about, and its cells."""

    entries: tuple[Entry, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table; ``columns`` are the titles of the cells."""

    title: str
    note: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
