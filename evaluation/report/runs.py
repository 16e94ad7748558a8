"""Reads run folders, finished or not, as the report shows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgqa.evaluation.intermediates import FILE
from kgqa.evaluation.report.files import Head, Intermediates, Wrong, read
from kgqa.evaluation.report.measures import Metrics
from kgqa.evaluation.result import Result, ResultsError
from kgqa.evaluation.results import read_results
from kgqa.kg.terms import one_line

Json = Mapping[str, Any]


class ReportError(ValueError):
    """A report that cannot be made; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder: what ``run.json`` says, the results, and ``metrics.json`` where it is written yet."""

    folder: Path
    about: Json
    results: tuple[Result, ...]
    metrics: Json | None
    intermediates: Json = field(default_factory=dict)
    """What ``intermediates.json`` says, by question; nothing where it is not written yet."""

    @property
    def config(self) -> Json:
        """The configuration of the method, with its hash."""
        return _object(self.about.get("config"))

    @property
    def dataset(self) -> Json:
        """Name, file, digest, split, limit and number of questions."""
        return _object(self.about.get("dataset"))

    @property
    def method(self) -> str:
        """The name of the method."""
        return str(self.config.get("method", "?"))

    @property
    def model(self) -> str:
        """The spec of the model."""
        return str(self.config.get("model", "?"))

    @property
    def planned(self) -> int:
        """The number of questions that the run was started with."""
        planned = self.dataset.get("questions")
        return planned if isinstance(planned, int) else len(self.results)

    @property
    def done(self) -> int:
        """The number of questions that have a result."""
        return len({result.id or result.question for result in self.results})

    @property
    def finished(self) -> bool:
        """Whether every question has a result."""
        return self.done >= self.planned


def read_run(folder: Path) -> Run:
    """Read a run folder.

    Raises:
        ReportError: if it is none, or a file of it cannot be read.
    """
    if not _is_file(folder / "run.json"):
        raise ReportError(
            f"{_shown(folder)} is no run: it has no run.json; give folders that kgqa eval wrote"
        )
    measured, counted = folder / "metrics.json", folder / FILE
    try:
        about = read(folder / "run.json", Head)
        metrics = read(measured, Metrics) if measured.is_file() else None
        between = read(counted, Intermediates) if counted.is_file() else {}
    except Wrong as error:
        raise ReportError(str(error)) from None
    return Run(folder, about, _results(folder), metrics, between)


def _results(folder: Path) -> tuple[Result, ...]:
    if not (folder / "results.jsonl").is_file():
        return ()
    try:
        return tuple(read_results(folder / "results.jsonl"))
    except ResultsError as error:
        raise ReportError(str(error)) from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no name that a file can have
        return False


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _shown(path: Path) -> str:
    return one_line(str(path))
