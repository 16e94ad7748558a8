"""Loads a question file, whatever its format."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from kgqa.data import SAMPLE_QUESTIONS
from kgqa.evaluation.datasets import (
    cor,
    cwq,
    grailqa,
    kgqa_format,
    metaqa,
    pathquestion,
    qald,
    webqsp,
    webquestions,
)
from kgqa.evaluation.datasets.dataset import Dataset, DatasetError, QuestionFile, Records, read_question_file
from kgqa.evaluation.datasets.format import Format, FormatMismatch
from kgqa.evaluation.question import Question
from kgqa.kg.terms import one_line

ALL_FORMATS: tuple[Format[Any], ...] = (
    webqsp.FORMAT,
    cwq.FORMAT,
    grailqa.FORMAT,
    webquestions.OFFICIAL,
    webquestions.LISTED,
    qald.OFFICIAL,
    qald.LISTED,
    cor.FORMAT,
    metaqa.FORMAT,
    pathquestion.PATHQUESTION,
    pathquestion.WORLDCUP,
    kgqa_format.FORMAT,
)

FORMATS = tuple(dict.fromkeys(format.name for format in ALL_FORMATS))
"""Names of the formats; some are published in two ways."""


def detect_format(record: Any) -> Format[Any] | None:
    """Tell the format by a file's first record; None for no known one."""
    return next((format for format in ALL_FORMATS if format.knows(record)), None)


def format_by_name(name: str, record: Any) -> Format[Any] | None:
    """Return the format of a name, and of two the one that knows the record; None for no such name."""
    given = [format for format in ALL_FORMATS if format.name == name]
    return next((format for format in given if format.knows(record)), given[0] if given else None)


FILE_SUFFIXES = (".gz", ".jsonl", ".ndjson", ".json", ".txt")


def load(source: str | Path, format: str | None = None, *, pipes: bool = True) -> Dataset:
    """Read a question file.

    Args:
        source: ``sample`` for the questions of the sample graph, or a file, gzipped or not.
        format: One of ``FORMATS``; None tells it by the file's first record.
        pipes: Whether it may be a pipe, which is waited for; not where a file of others names it.

    Raises:
        DatasetError: one line that names file, line (or record) and field.
    """
    path = SAMPLE_QUESTIONS if source == "sample" else Path(source)
    file = read_question_file(path, pipes=pipes)
    first = next(file.records, None)
    if first is None:
        raise DatasetError(f"{file.name}: no questions in it")
    layout = _choose_format(file, first[1], format)
    with _paused_collector():
        questions = tuple(_read_questions(file, layout, chain((first,), file.records)))
    return Dataset(
        "sample" if source == "sample" else _file_stem(file.name), questions, file.digest, layout.name
    )


@contextmanager
def _paused_collector() -> Iterator[None]:
    """Pause the collector: questions have no cycles, and looking for some takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _file_stem(name: str) -> str:
    for ending in FILE_SUFFIXES:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    return name


def _choose_format(file: QuestionFile, first: Any, name: str | None) -> Format[Any]:
    found = detect_format(first) if name is None else format_by_name(name, first)
    if found is not None:
        return found
    known = ", ".join(FORMATS)
    if name is not None:
        raise DatasetError(f"no such format: {one_line(name, 40)}; known formats are {known}")
    raise DatasetError(
        f"{file.name}: in no known format; the first record has {_describe_record(first)}; known formats are {known}"
    )


def _describe_record(record: Any) -> str:
    if isinstance(record, dict):
        return one_line(", ".join(map(str, record)) or "no fields", 80)
    return f"{len(record)} columns" if isinstance(record, tuple) else one_line(repr(record), 40)


def _read_questions(file: QuestionFile, layout: Format[Any], records: Records) -> Iterator[Question]:
    ids: dict[str, int] = {}
    for place, (number, record) in enumerate(records, 1):
        try:
            question = layout.read(record)
        except FormatMismatch as misfit:
            raise DatasetError(
                f"{file.place(number)}, {misfit}{_other_format_hint(layout, record)}"
            ) from None
        id = question.id or f"{layout.name}-{place}"
        if id in ids and layout.unique:
            first = f"{file.unit} {ids[id]} has it already"
            raise DatasetError(f"{file.place(number)}, field id: {one_line(id, 80)!r} is not unique, {first}")
        while id in ids:
            id = f"{id}-{place}"
        ids[id] = number
        yield replace(question, id=id, splits=_read_splits(record))


def _other_format_hint(layout: Format[Any], record: Any) -> str:
    other = detect_format(record)
    return f" (it looks like {other.name}, not {layout.name})" if other and other.name != layout.name else ""


def _read_splits(record: Any) -> dict[str, str]:
    """Take every text whose field begins with ``split``."""
    if not isinstance(record, dict):
        return {}
    return {key: value for key, value in record.items() if key.startswith("split") and isinstance(value, str)}
