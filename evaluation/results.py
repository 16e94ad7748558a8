"""Results: read from a run of ours or from a published file, and joined with their questions."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kgqa.evaluation.pairing import Paired, paired
from kgqa.evaluation.records import Unreadable, read_records
from kgqa.evaluation.result import Result, ResultsError, Usage
from kgqa.evaluation.shapes import Mistake, to_result, to_usage
from kgqa.kg.terms import one_line

__all__ = ["Paired", "Result", "ResultsError", "Usage", "paired", "read_results", "results_file"]

RESULT_FILES = ("results.jsonl", "results.jsonl.gz", "predict.jsonl")
"""What a folder is looked through for: a run of ours, or one of CoR's."""


def read_results(path: str | Path) -> list[Result]:
    """Read a file of results, or a folder with one; the format is told from each record.

    Formats: our ``results.jsonl`` (times are joined from ``timings.jsonl`` beside it),
    the outputs of PoG, CoG, VoG and ToG, and CoR's ``predict.jsonl``; JSON lines or a
    JSON list, plain or gzipped. In a run that goes on or was killed, a last line that
    was not written to its end is left out.

    Raises:
        ResultsError: naming file, line and field.
    """
    file = results_file(path)
    try:
        results = [_result(file, place, record) for place, record in read_records(file)]
        times = _timings(file)
    except Unreadable as error:
        raise ResultsError(str(error)) from None
    if not results and not os.path.exists(file.with_name("run.json")):
        raise ResultsError(f"{one_line(str(file))} holds no results")
    return [_timed(result, times) for result in results] if times else results


def results_file(path: str | Path) -> Path:
    """Give the results file that a path means: itself, or the one in the folder.

    Raises:
        ResultsError: for a folder without one.
    """
    if not os.path.isdir(path):
        return Path(path)
    for name in RESULT_FILES:
        if (Path(path) / name).is_file():
            return Path(path) / name
    raise ResultsError(f"the folder {one_line(str(path))} holds no results.jsonl and no predict.jsonl")


def _result(file: Path, place: str, record: Mapping[str, object]) -> Result:
    try:
        return to_result(record)
    except Mistake as mistake:
        raise ResultsError(f"{one_line(str(file))}, {place}: {mistake}") from None


def _timings(file: Path) -> dict[str, Usage]:
    """Read the times beside a results file of ours, by question id; the last of an id counts."""
    beside = file.with_name("timings.jsonl")
    if file.name not in RESULT_FILES[:2] or not os.path.isfile(beside):
        return {}
    return dict(_times(beside, place, record) for place, record in read_records(beside))


def _times(file: Path, place: str, record: Mapping[str, object]) -> tuple[str, Usage]:
    try:
        seconds = to_usage({key: value for key, value in record.items() if key != "id"})
    except Mistake as mistake:
        raise ResultsError(f"{one_line(str(file))}, {place}: {mistake}") from None
    return str(record.get("id")), seconds


def _timed(result: Result, times: Mapping[str, Usage]) -> Result:
    if result.id is None or result.id not in times:
        return result
    return replace(result, usage={**result.usage, **times[result.id]})
