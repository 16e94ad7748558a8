"""Reads the folder of a run, finished or not; an error names the file and the field that is wrong."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kgqa.evaluation.paper_analysis.intermediates import INTERMEDIATES_FILE
from kgqa.evaluation.question import Rows
from kgqa.evaluation.record_files import MAX_RECORDS_FILE_BYTES, parse_json
from kgqa.evaluation.result import Result
from kgqa.evaluation.result_files import read_results
from kgqa.evaluation.scoring.run_metrics import Metrics
from kgqa.evaluation.scoring.statistics import Count
from kgqa.evaluation.scoring.tables import TABLES_FILE, AnswerTables
from kgqa.files import read_file
from kgqa.kg.terms import one_line

Json = Mapping[str, Any]


class ReportError(ValueError):
    """A report that cannot be made; the message is one line that says what to do."""


class JsonObject(BaseModel):
    """An object of which some fields are known; anything more may stand there."""

    model_config = ConfigDict(strict=True, extra="allow")


class RunConfig(JsonObject):
    """The configuration of a run, as far as it is more than shown."""

    method: str = "?"
    model: str = "?"
    hash: str | None = None


class RunDataset(JsonObject):
    """Which questions a run was given."""

    name: str | None = None
    source: str | None = None
    format: str | None = None
    sha256: str | None = None
    split: str | None = None
    limit: Annotated[int, Field(ge=1)] | None = None
    questions: Count | None = None


class ScoringHeader(JsonObject):
    """A ``run.json`` that results are scored by."""

    dataset: RunDataset
    seed: Count | None = None


class RunHeader(ScoringHeader):
    """A ``run.json`` that is shown."""

    config: RunConfig
    kgqa: str | None = None


IntermediateCounts = dict[str, Count]
"""An ``intermediates.json``: entities between topics and answers, by question."""

_adapter = cache(TypeAdapter[Any])


def read_json_object(file: Path, shape: Any) -> dict[str, Any]:
    """Read a JSON object that has a shape, and return it as it is.

    Raises:
        ReportError: naming the file, and the field that does not fit.
    """
    shown = one_line(str(file))
    try:
        content: dict[str, Any] = parse_json(read_file(file, MAX_RECORDS_FILE_BYTES))
        _adapter(shape).validate_python(content, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        name = ".".join(map(str, first["loc"]))
        where = f"field {one_line(name, 80)}: " if name else "a JSON object was expected: "
        raise ReportError(f"{shown}, {where}{one_line(first['msg'])}") from None
    except OSError as error:
        raise ReportError(f"cannot read {shown}: {one_line(str(error.strerror or error))}") from None
    except ValueError as error:
        raise ReportError(f"cannot read {shown}: it is no JSON: {one_line(str(error))}") from None
    return content


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run folder: what ``run.json`` says, the results, and ``metrics.json`` where it is written yet."""

    path: Path
    about: Json
    results: tuple[Result, ...]
    metrics: Json | None
    intermediates: Json = field(default_factory=dict)
    """What ``intermediates.json`` says, by question; nothing where it is not written yet."""
    gold: Mapping[str, Rows] = field(default_factory=dict)
    """The gold tables in ``tables.json``, by question."""

    @property
    def config(self) -> Json:
        """The configuration of the method, with its hash."""
        return self.about.get("config") or {}

    @property
    def dataset(self) -> Json:
        """Name, file, digest, split, limit and number of questions."""
        return self.about.get("dataset") or {}

    @property
    def method(self) -> str:
        """The name of the method."""
        return str(self.config.get("method", "?"))

    @property
    def model(self) -> str:
        """The spec of the model."""
        return str(self.config.get("model", "?"))

    @property
    def preset(self) -> str:
        """The name of the preset; empty where there is none."""
        return str(self.config.get("preset") or "")

    @property
    def seed(self) -> int:
        """What the run and its intervals were drawn by."""
        return int(self.about.get("seed") or 0)

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


def read_run(folder: Path) -> RunFolder:
    """Read a run folder.

    Raises:
        ReportError, ResultsError: if it is none, or a file of it cannot be read.
    """
    if not os.path.isfile(folder / "run.json"):
        raise ReportError(
            f"{one_line(str(folder))} is no run: it has no run.json; give folders that kgqa eval wrote"
        )
    names = ("metrics.json", INTERMEDIATES_FILE, TABLES_FILE, "results.jsonl")
    measured, counted, tabled, recorded = (folder / name for name in names)
    about = read_json_object(folder / "run.json", RunHeader)
    metrics = read_json_object(measured, Metrics) if measured.is_file() else None
    intermediates = read_json_object(counted, IntermediateCounts) if counted.is_file() else {}
    gold = read_json_object(tabled, AnswerTables)["gold"] if tabled.is_file() else {}
    results = tuple(read_results(recorded)) if recorded.is_file() else ()
    return RunFolder(folder, about, results, metrics, intermediates, gold)
