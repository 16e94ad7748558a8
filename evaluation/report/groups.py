"""Puts together the runs on one dataset, and finds its questions and gold."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.evaluation.intermediates import told
from kgqa.evaluation.judging import Judged, judge
from kgqa.evaluation.pairing import paired
from kgqa.evaluation.question import Question
from kgqa.evaluation.report.naming import Name, differing, names
from kgqa.evaluation.report.runs import Json, ReportError, Run
from kgqa.evaluation.result import Result
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.datasets import Dataset


@dataclass(frozen=True, slots=True)
class Entry:
    """A run as the page shows it.

    ``number`` is its place in the whole report, from 1. ``results`` has one result of
    each question that has any, by the question's id. ``questions`` is the part of the
    dataset it ran on; where there is no gold, what its own results tell of it.
    ``metrics`` are those of ``metrics.json``, or measured here; None without gold.
    ``judged`` has the score of each of the questions; nothing without gold.
    """

    number: int
    name: Name
    options: Json
    run: Run
    questions: tuple[Question, ...]
    results: dict[str, Result]
    metrics: Json | None
    judged: tuple[Judged, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """The runs on one dataset, told by the digest of its file."""

    name: str
    digest: str
    entries: tuple[Entry, ...]
    no_gold: str | None
    """Why the questions are shown without their gold; None where they have it."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of all runs, each once, in the order of the dataset."""
        longest = sorted(self.entries, key=lambda entry: -len(entry.questions))
        return tuple({q.id: q for entry in longest for q in entry.questions}.values())


def grouped(runs: Sequence[Run], moved: Sequence[Path] = ()) -> list[Group]:
    """Group runs by dataset, in the order in which the datasets come up first.

    Args:
        runs: in the order in which they are to be shown.
        moved: where datasets are now, if not where the runs have found them.

    Raises:
        ReportError: if one of these is no dataset, or not that of any of the runs.
    """
    by_digest: dict[str, list[Run]] = {}
    for run in runs:
        by_digest.setdefault(_digest(run), []).append(run)
    given = {dataset.digest: dataset for dataset in (_moved(file, by_digest) for file in moved)}
    groups: list[Group] = []
    for digest, together in by_digest.items():
        first = 1 + sum(len(group.entries) for group in groups)
        groups.append(_group(digest, together, given.get(digest), first))
    return groups


def _moved(file: Path, digests: Collection[str]) -> "Dataset":
    dataset = _load(file)
    if dataset.digest not in digests:
        raise ReportError(
            f"{one_line(str(file))} is not the dataset of any of these runs: its sha256 differs"
        )
    return dataset


def _group(digest: str, runs: list[Run], given: "Dataset | None", first: int) -> Group:
    dataset, no_gold = (given, None) if given else _recorded(runs, digest)
    name = one_line(str(runs[0].dataset.get("name") or "dataset"))
    between = {id: n for run in reversed(runs) for id, n in run.intermediates.items()}
    part = _parts(dataset, between) if dataset else None
    named = zip(runs, names(runs), differing(runs), strict=True)
    entries = (
        _entry(number, run, called, options, part)
        for number, (run, called, options) in enumerate(named, start=first)
    )
    return Group(name, digest, tuple(entries), no_gold)


def _recorded(runs: list[Run], digest: str) -> "tuple[Dataset | None, str | None]":
    """Load the dataset from where a run has found it, unless it has changed since."""
    problem = "run.json does not name the dataset"
    for source, format in dict.fromkeys(_source(run) for run in runs):
        try:
            dataset = _load(source, format, pipes=False)
        except ReportError as error:
            problem = str(error)
            continue
        if dataset.digest == digest:
            return dataset, None
        problem = f"{one_line(source)} has changed since the runs"
    return None, problem


def _source(run: Run) -> tuple[str, str | None]:
    """Give the file that a run had its questions from, and their format."""
    format = run.dataset.get("format")
    source = str(run.dataset.get("source") or run.dataset.get("name") or "")
    return source, format if isinstance(format, str) else None


def _load(source: Path | str, format: str | None = None, *, pipes: bool = True) -> "Dataset":
    from kgqa.evaluation.datasets import DatasetError, load

    try:
        return load(source, format, pipes=pipes)
    except DatasetError as error:
        raise ReportError(str(error)) from None


def _parts(dataset: "Dataset", between: Json) -> Callable[[str | None, int | None], tuple[Question, ...]]:
    from kgqa.evaluation.datasets import DatasetError

    def part(split: str | None, limit: int | None) -> tuple[Question, ...]:
        try:
            return told(dataset.part(split, limit), between)
        except DatasetError as error:
            raise ReportError(str(error)) from None

    return cache(part)


def _entry(
    number: int,
    run: Run,
    called: Name,
    options: Json,
    part: Callable[[str | None, int | None], tuple[Question, ...]] | None,
) -> Entry:
    if part is None:
        told = {r.id or r.question: Question(r.id or r.question, r.question) for r in run.results}
        questions = tuple(told.values())
    else:
        questions = part(run.dataset.get("split"), run.dataset.get("limit"))
    joined = paired(run.results, questions).pairs
    results = {question.id: result for question, result in joined if result}
    metrics = run.metrics or (_measured(run, questions) if part else None)
    judged = judge(run.results, questions) if part else ()
    return Entry(number, called, options, run, questions, results, metrics, tuple(judged))


def _measured(run: Run, questions: Sequence[Question]) -> Json:
    """Measure a run that has no metrics.json yet: every question counts, also one without a result."""
    from kgqa.evaluation.metrics import measure

    return measure(run.results, questions, grounded=None, seed=int(run.about.get("seed") or 0))


def _digest(run: Run) -> str:
    return str(run.dataset.get("sha256") or f"unknown, of {run.folder}")
