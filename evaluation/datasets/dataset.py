"""Reads a question file, whatever its format, into a dataset."""

import gc
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from kgqa.data import CONDITION_QUESTIONS, QUESTIONS_WITHOUT_TOPIC, SAMPLE_QUESTIONS, UNANSWERABLE_QUESTIONS
from kgqa.evaluation.datasets import freebase, kgqa_format, qald, text2sparql, text_files
from kgqa.evaluation.datasets.format import DatasetError as DatasetError, Format, FormatMismatch
from kgqa.evaluation.datasets.published import locate
from kgqa.evaluation.datasets.sources import find_part
from kgqa.evaluation.question import Question
from kgqa.evaluation.record_files import NumberedRecords, QuestionFile, UnreadableFile, read_question_file
from kgqa.kg.terms import one_line
from kgqa.plugins import PluginError, load_plugin, names_plugin
from kgqa.runtime.state import question_id

ALL_FORMATS: tuple[Format[Any], ...] = (
    *freebase.FORMATS,
    *qald.FORMATS,
    freebase.COR_FORMAT,
    *text_files.FORMATS,
    text2sparql.FORMAT,
    kgqa_format.FORMAT,
    kgqa_format.LIST_FORMAT,
)
"""All formats, in the order in which a file is tried on them."""

FORMATS = tuple(dict.fromkeys(format.name for format in ALL_FORMATS))  # some are published in two ways

OWN_FORMAT = "own"  # what the format of questions is called that a reader of the user's own gives

BUNDLED = {
    "sample": SAMPLE_QUESTIONS,
    "conditions": CONDITION_QUESTIONS,
    "unanswerable": UNANSWERABLE_QUESTIONS,
    "without_topic": QUESTIONS_WITHOUT_TOPIC,
}
"""The question files that come with kgqa, by name."""

FILE_SUFFIXES = re.compile(r"(\.(jsonl|ndjson|json|ya?ml|txt|csv|tsv))?(\.gz)?\Z", re.IGNORECASE)
"""What is left out of the name of a file where it names a dataset."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The questions of a file, in its order.

    ``digest`` is the SHA-256 of the file's bytes in hexadecimal, ``format`` the name of
    the format it was read as. ``graph`` is what it is published with: a file of triples, or of a graph for
    each question (`subgraphs`); None where that is nothing.
    """

    name: str
    questions: tuple[Question, ...]
    digest: str
    format: str
    graph: Path | None = None

    def select(self, split: str | None = None, limit: int | None = None) -> tuple[Question, ...]:
        """Take the questions of one split, or all of them.

        Args:
            split: ``all`` or None for every question; ``test`` for those whose ``split`` is
                "test"; ``split_group=test`` for those whose ``split_group`` is.
            limit: Take the first so many of them.
        """
        if limit is not None and limit < 1:
            raise DatasetError(f"a limit is at least 1, not {limit}")
        if split is None or split == "all":
            return self.questions[:limit]
        key, value = split.split("=", 1) if "=" in split else ("split", split)
        chosen = tuple(question for question in self.questions if question.splits.get(key) == value)
        if not chosen:
            splits = sorted({pair for question in self.questions for pair in question.splits.items()})
            known = ", ".join(["all", *(name if key == "split" else f"{key}={name}" for key, name in splits)])
            raise DatasetError(f"{self.name} has no questions in the split {split!r}; it has {known}")
        return chosen[:limit]


def load(source: str | Path, format: str | None = None, *, pipes: bool = True, own: bool = False) -> Dataset:
    """Read a question file.

    Args:
        source: a name of `BUNDLED` for questions of the sample graph; one of `sources.SOURCES`, that was
            fetched before, or of a part of it (``webqsp:train``); a file, gzipped or not; or a reader.
        format: One of ``FORMATS``; None tells it by the file's first record.
        pipes: Whether a named pipe may be read, which blocks; off for paths that a run folder names.
        own: Whether ``source`` may name a function of the user's, which is then run; off by default.

    Raises:
        DatasetError: one line that names file, line (or record) and field.
    """
    if isinstance(source, str) and (named := find_part(source)):
        here = locate(*named)
        read = load(here.questions, here.format)
        return replace(read, name=source.lower(), digest=here.digest, graph=here.graph)
    if own and isinstance(source, str) and names_plugin("datasets", source) and not os.path.exists(source):
        return _load_own(source)
    return _load_file(source, format, pipes=pipes)


def _load_file(source: str | Path, format: str | None, *, pipes: bool) -> Dataset:
    collecting = gc.isenabled()
    try:
        bundled = BUNDLED.get(source) if isinstance(source, str) else None
        file = read_question_file(bundled or Path(source), pipes=pipes)
        first = next(file.records, None)
        if first is None:
            raise DatasetError(f"{file.name}: no questions in it")
        chosen = _choose_format(file, first[1], format)
        gc.disable()  # questions have no cycles, and looking for some takes a third of the time
        questions = tuple(_read_questions(file, chosen, chain((first,), file.records)))
    except UnreadableFile as error:
        raise DatasetError(str(error)) from error
    finally:
        if collecting:
            gc.enable()
    name = str(source) if bundled else FILE_SUFFIXES.sub("", file.name)
    return Dataset(name, questions, file.digest, chosen.name)


def _load_own(named: str) -> Dataset:
    """Load what a reader of the user's own gives: questions, or records as our own files have them."""
    try:
        given = list(load_plugin("datasets", named).thing())
    except PluginError as error:
        raise DatasetError(str(error)) from None
    except Exception as error:  # whatever the user's own code raises
        raise DatasetError(f"{named} fails: {one_line(f'{type(error).__name__}: {error}', 200)}") from None
    questions: dict[str, Question] = {}
    for number, one in enumerate(given, 1):
        try:
            question = one if isinstance(one, Question) else kgqa_format.FORMAT.read(one)
        except FormatMismatch as mismatch:
            raise DatasetError(f"{named}, record {number}, {mismatch}") from None
        if question.id in questions:
            raise DatasetError(
                f"{named}, record {number}: the id {one_line(question.id, 80)!r} is there twice"
            )
        id = question.id or question_id(question.text)
        while id in questions:
            id = f"{id}-{number}"
        splits = question.splits if question is one else _read_splits(one)
        questions[id] = replace(question, id=id, splits=splits)
    if not questions:
        raise DatasetError(f"{named}: no questions in it")
    content = TypeAdapter(tuple[Question, ...]).dump_json(tuple(questions.values()))
    return Dataset(named, tuple(questions.values()), hashlib.sha256(content).hexdigest(), OWN_FORMAT)


def _choose_format(file: QuestionFile, first: Any, name: str | None) -> Format[Any]:
    """Return the format of a name, or that of the first record; of two of one name the one that fits it."""
    given = [format for format in ALL_FORMATS if name in (None, format.name)]
    fitting = [format for format in given if format.recognises(first)]
    if found := fitting or (given if name is not None else []):
        return found[0]
    known = f"known formats are {', '.join(FORMATS)}"
    if name is not None:
        raise DatasetError(f"no such format: {one_line(name, 40)}; {known}")
    if isinstance(first, dict):
        shown = one_line(", ".join(map(str, first)) or "no fields", 80)
    else:
        shown = f"{len(first)} columns" if isinstance(first, tuple) else one_line(repr(first), 40)
    raise DatasetError(f"{file.name}: in no known format; the first record has {shown}; {known}")


def _read_questions(file: QuestionFile, chosen: Format[Any], records: NumberedRecords) -> Iterator[Question]:
    ids: dict[str, int] = {}
    for place, (number, record) in enumerate(records, 1):
        try:
            question = chosen.read(record)
        except FormatMismatch as mismatch:
            other = next((each.name for each in ALL_FORMATS if each.recognises(record)), chosen.name)
            hint = f" (it looks like {other}, not {chosen.name})" if other != chosen.name else ""
            raise DatasetError(f"{file.place(number)}, {mismatch}{hint}") from None
        made = chosen.make_id(question.text) if chosen.make_id else f"{chosen.name}-{place}"
        id = question.id or made
        if id in ids and question.id and chosen.unique:
            first = f"{file.unit} {ids[id]} has it already"
            raise DatasetError(f"{file.place(number)}, field id: {one_line(id, 80)!r} is not unique, {first}")
        while id in ids:
            id = f"{id}-{place}"
        ids[id] = number
        yield replace(question, id=id, splits=_read_splits(record))


def _read_splits(record: Any) -> dict[str, str]:
    """Take every text whose field begins with ``split``."""
    fields = record.items() if isinstance(record, dict) else ()
    return {key: value for key, value in fields if key.startswith("split") and isinstance(value, str)}
