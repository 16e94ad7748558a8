"""Scores results again: finds the questions they answer, and measures them by any protocol."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa.evaluation import protocols
from kgqa.evaluation.datasets import Dataset, DatasetError, load
from kgqa.evaluation.intermediates import FILE, told
from kgqa.evaluation.question import Question
from kgqa.evaluation.results import Result, ResultsError, paired, read_results, results_file
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.comparison import Comparison


@dataclass(frozen=True, slots=True)
class Scored:
    """What results are worth; ``comparison`` is None where they were not compared."""

    title: str
    metrics: Mapping[str, Any]
    comparison: "Comparison | None"
    warnings: tuple[str, ...]


def rescore(
    results: str | Path,
    *,
    dataset: str | None = None,
    protocol: str = "strict",
    format: str | None = None,
    split: str | None = None,
    limit: int | None = None,
    kg: Sequence[str] = (),
    against: str | Path | None = None,
) -> Scored:
    """Score results by a protocol (blocking; no model is asked).

    In a folder of ours, dataset, split, limit and seed are those of its ``run.json``
    where nothing else is given, so that the metrics are those of the run, except for what
    the records do not hold: ``kg_grounded_rate_strict`` needs the graph (``kg``), and
    ``cost`` is None. Results of
    questions of the dataset that are outside of the split or limit do not count.

    Args:
        results: a folder or file, as `read_results` takes it.
        dataset: "sample", or a file of questions.
        protocol: one of `protocols.PROTOCOLS`.
        format: of the dataset.
        split: the part of the dataset that counts.
        limit: the first so many questions of it count.
        kg: the graph on which the answers are looked for; strict only.
        against: other results to compare these with, question by question; strict only.

    Raises:
        ValueError: in one line, for what cannot be read or does not fit together.
        KGError: if the graph cannot be opened or fails.
    """
    _check(protocol, kg, against)
    file = results_file(results)
    found = read_results(file)
    head = _head(file)
    recorded, seed = head.get("dataset", {}), head.get("seed") or 0
    loaded = _dataset(dataset, format, recorded, file)
    limit = recorded.get("limit") if limit is None else limit
    questions = told(loaded.part(split or recorded.get("split"), limit), _between(file))
    given, strangers = _of(found, file, loaded, questions)
    warnings = _warnings(strangers, "", protocol, loaded)
    other = None
    if against is not None:
        beside = results_file(against)
        other, others = _of(read_results(beside), beside, loaded, questions)
        warnings += _warnings(others, f" in {one_line(str(against))}", protocol, loaded)
    return Scored(
        title=f"{one_line(str(results))} on {one_line(loaded.name)}",
        metrics=protocols.measure(protocol, given, questions, grounded=_grounded(given, kg), seed=seed),
        comparison=None if other is None else _compared(given, other, questions, seed),
        warnings=warnings,
    )


def _check(protocol: str, kg: Sequence[str], against: object) -> None:
    protocols.check(protocol)
    for option, value in (("--kg", kg), ("--against", against)):
        if value and protocol != "strict":
            raise ValueError(f"{option} goes with the strict protocol, not with {protocol}; leave one out")


def _head(file: Path) -> dict[str, Any]:
    """Read ``run.json`` beside a results file; nothing where there is none.

    Raises:
        ResultsError: if it is not the head of a run.
    """
    from kgqa.evaluation.report.files import About, Wrong, read

    beside = file.with_name("run.json")
    if not os.path.isfile(beside):
        return {}
    try:
        return read(beside, About)
    except Wrong as error:
        raise ResultsError(f"{error}; mend it, or score a copy of the results elsewhere") from None


def _between(file: Path) -> dict[str, int]:
    """Read what a run has counted beside its results; nothing where it has not.

    Raises:
        ResultsError: if it cannot be read.
    """
    from kgqa.evaluation.report.files import Intermediates, Wrong, read

    beside = file.with_name(FILE)
    try:
        return read(beside, Intermediates) if os.path.isfile(beside) else {}
    except Wrong as error:
        raise ResultsError(f"{error}; remove it, and the breakdown by it is left out") from None


def _dataset(given: str | None, format: str | None, recorded: Mapping[str, Any], file: Path) -> Dataset:
    """Load the dataset that is given, or that of the run if it is still the same."""
    if given is not None:
        return load(given, format)
    if not recorded:
        raise ValueError("--dataset is missing: name the file of the questions")
    name = one_line(str(recorded.get("source") or recorded.get("name")))
    try:
        loaded = load(name, format or recorded.get("format"), pipes=False)
    except DatasetError:
        if format:
            raise
        raise ValueError(
            f"the questions of this run ({name}) are not here; name them with --dataset"
        ) from None
    if loaded.digest != recorded.get("sha256"):
        raise ValueError(f"{name} is no longer the file of this run; name its questions with --dataset")
    return loaded


def _of(
    found: Sequence[Result], file: Path, loaded: Dataset, questions: Sequence[Question]
) -> tuple[list[Result], int]:
    """Give the results that count, and how many of them have no question in the dataset.

    Raises:
        ResultsError: if that is none of them.
    """
    matched = paired(found, loaded.questions).matched
    strangers = sum(question is None for _, question in matched)
    if matched and strangers == len(matched):
        raise ResultsError(f"no result in {one_line(str(file))} is of a question in {one_line(loaded.name)}")
    counting = {question.id for question in questions}
    return [result for result, question in matched if question is None or question.id in counting], strangers


def _grounded(results: Sequence[Result], kg: Sequence[str]) -> dict[str, bool | None] | None:
    if not kg:
        return None
    from kgqa.evaluation.grounding import check
    from kgqa.kg.opening import open_graph
    from kgqa.session.resources import graph_sources

    graph = open_graph(graph_sources(kg))
    return asyncio.run(check(results, graph))


def _compared(
    a: Sequence[Result], b: Sequence[Result], questions: Sequence[Question], seed: int
) -> "Comparison":
    from kgqa.evaluation.comparison import compare

    return compare(a, b, questions, seed)


def _warnings(strangers: int, where: str, protocol: str, loaded: Dataset) -> tuple[str, ...]:
    if not strangers:
        return ()
    counted = "do not count" if protocol == "strict" else "count as wrong"
    return (f"{strangers} results{where} are of no question in {one_line(loaded.name)}; they {counted}",)
