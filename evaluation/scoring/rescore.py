"""Scores results again: finds the questions they answer, and measures them by any protocol."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from kgqa.evaluation import protocols
from kgqa.evaluation.datasets import Dataset, DatasetError, load
from kgqa.evaluation.paper_analysis.intermediates import INTERMEDIATES_FILE, with_intermediates
from kgqa.evaluation.question import Question
from kgqa.evaluation.report.run_folder import (
    IntermediateCounts,
    ReportError,
    ScoringHeader,
    read_json_object,
)
from kgqa.evaluation.result import Result, ResultsError, pair_results
from kgqa.evaluation.result_files import find_results_file, read_results
from kgqa.evaluation.scoring.comparison import Comparison, compare_results
from kgqa.evaluation.scoring.grounding import check_grounding
from kgqa.evaluation.scoring.own import MetricFunction, load_metrics
from kgqa.evaluation.scoring.tables import TABLES_FILE, AnswerTables, read_tables, with_given, with_gold
from kgqa.kg.terms import one_line


@dataclass(frozen=True, slots=True)
class RescoredResults:
    """What results are worth; ``comparison`` is None where they were not compared."""

    title: str
    metrics: Mapping[str, Any]
    comparison: Comparison | None
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
    metrics: Sequence[str | MetricFunction] = (),
) -> RescoredResults:
    """Score results by a protocol (blocking; no model is asked).

    In a folder of ours, dataset, split, limit and seed are those of its ``run.json``
    where nothing else is given, so that the metrics are those of the run, except for what
    the records do not hold: ``kg_grounded_rate_strict`` needs the graph (``kg``), and
    ``cost`` is None. Results of questions of the dataset that are outside of the split or
    limit do not count.

    Args:
        results: a folder or file, as `read_results` takes it.
        dataset: "sample", or a file of questions.
        protocol: one of `protocols.PROTOCOLS`.
        format: of the dataset.
        split: the part of the dataset that counts.
        limit: the first so many questions of it count.
        kg: the graph on which the answers are looked for; strict only.
        against: other results to compare these with, question by question; strict only.
        metrics: the user's own, as `evaluate` takes them; strict only.
    """
    protocols.check_protocol(protocol)
    for option, value in (("--kg", kg), ("--against", against), ("--metric", metrics)):
        if value and protocol != "strict" and (option, protocol) != ("--kg", "text2sparql"):
            raise ValueError(f"{option} goes with the strict protocol, not with {protocol}; leave one out")
    own = load_metrics(metrics)
    file = find_results_file(results)
    found = read_results(file)
    advice = "mend it, or score a copy of the results elsewhere"
    head = _read_beside(file.with_name("run.json"), ScoringHeader, advice)
    recorded, seed = head.get("dataset", {}), head.get("seed") or 0
    loaded = _load_dataset(dataset, format, recorded)
    limit = recorded.get("limit") if limit is None else limit
    questions = loaded.select(split or recorded.get("split"), limit)
    advice = "remove it, and the breakdown by it is left out"
    counts = _read_beside(file.with_name(INTERMEDIATES_FILE), IntermediateCounts, advice)
    questions = with_intermediates(questions, counts)
    advice = "remove it, and name the graph by --kg"
    tables = cast(AnswerTables, _read_beside(file.with_name(TABLES_FILE), AnswerTables, advice))
    graph = None
    if kg:
        from kgqa.kg.opening import open_graph

        graph = open_graph(kg)
        tables = asyncio.run(read_tables(questions, found, graph))
    if tables:
        questions, found = with_gold(questions, tables["gold"]), with_given(found, questions, tables["given"])
    given, unmatched = _select_results(found, file, loaded, questions)
    left_out = [(unmatched, "")]
    comparison = None
    if against is not None:
        other_file = find_results_file(against)
        other, unmatched = _select_results(read_results(other_file), other_file, loaded, questions)
        left_out.append((unmatched, f" in {one_line(str(against))}"))
        comparison = compare_results(given, other, questions, seed)
    grounded = None
    if graph:
        grounded = asyncio.run(check_grounding(given, graph))
    measured = protocols.measure_by_protocol(
        protocol, given, questions, grounded=grounded, seed=seed, own=own
    )
    name = one_line(loaded.name)
    counted = "do not count" if protocol == "strict" else "count as wrong"
    said = f"are of no question in {name}; they {counted}"
    warnings = (f"{number} results{where} {said}" for number, where in left_out if number)
    return RescoredResults(f"{one_line(str(results))} on {name}", measured, comparison, tuple(warnings))


def _read_beside(file: Path, shape: Any, advice: str) -> dict[str, Any]:
    """Read what a run keeps beside its results; nothing where there is none."""
    try:
        return read_json_object(file, shape) if os.path.isfile(file) else {}
    except ReportError as error:
        raise ResultsError(f"{error}; {advice}") from None


def _load_dataset(given: str | None, format: str | None, recorded: Mapping[str, Any]) -> Dataset:
    """Load the dataset that is given, or that of the run if it is still the same."""
    if given is not None:
        return load(given, format, own=True)
    if not recorded:
        raise ValueError("--dataset is missing: name the file of the questions")
    name = one_line(str(recorded.get("source") or recorded.get("name")))
    try:
        loaded = load(name, format or recorded.get("format"), pipes=False)
    except DatasetError:
        if format:
            raise
        said = f"the questions of this run ({name}) are not here; name them with --dataset"
        raise ValueError(said) from None
    if loaded.digest != recorded.get("sha256"):
        raise ValueError(f"{name} is no longer the file of this run; name its questions with --dataset")
    return loaded


def _select_results(
    found: Sequence[Result], file: Path, loaded: Dataset, questions: Sequence[Question]
) -> tuple[list[Result], int]:
    """Return the results that count, and how many of them have no question in the dataset."""
    paired = pair_results(found, loaded.questions)
    unmatched = len(paired.unmatched)
    if unmatched and unmatched == len(paired.matched):
        raise ResultsError(f"no result in {one_line(str(file))} is of a question in {one_line(loaded.name)}")
    ids = {question.id for question in questions}
    counting = [result for result, question in paired.matched if question is None or question.id in ids]
    return counting, unmatched
