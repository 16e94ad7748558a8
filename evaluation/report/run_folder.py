"""Reads the folder of a run, finished or not; an error names the file and the field that is wrong."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from typing_extensions import is_typeddict

from kgqa.evaluation.paper_analysis.intermediates import INTERMEDIATES_FILE
from kgqa.evaluation.question import Rows
from kgqa.evaluation.record_files import MAX_RECORDS_FILE_BYTES, parse_json
from kgqa.evaluation.result import Result
from kgqa.evaluation.result_files import read_results
from kgqa.evaluation.scoring.tables import TABLES_FILE
from kgqa.files import read_file
from kgqa.kg.terms import one_line

Count = Annotated[int, Field(ge=0)]

_Fraction = Annotated[float, Field(ge=0, le=1)]
_Cost = Annotated[float, Field(ge=0, le=1e15)]

_FRACTIONS = frozenset({"value", "low", "high", "share", "reward", "entropy"})
"""The numbers of ``metrics.json`` that are at most 1."""

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


class IntermediateCounts(JsonObject):
    """An ``intermediates.json``: entities between topics and answers, by question."""

    __pydantic_extra__: dict[str, Count] = Field(init=False)


class StoredTables(JsonObject):
    """A ``tables.json``: what gold queries and those of records give, by question."""

    gold: dict[str, Rows]
    given: dict[str, Rows]


@cache
def metrics_shape() -> type[JsonObject]:
    """Return what ``metrics.json`` must be: `Metrics` with bounds for numbers, any field optional."""
    from kgqa.evaluation.scoring.metrics import Metrics

    shape: type[JsonObject] = _bounded(Metrics)
    return shape


def _bounded(shape: Any, name: str = "") -> Any:
    """Return the type of a field, with bounds for its numbers; what is neither number nor object is any."""
    if is_typeddict(shape):
        hints = get_type_hints(shape, include_extras=True).items()
        fields: dict[str, Any] = {key: (_bounded(hint, key) | None, None) for key, hint in hints}
        return create_model(shape.__name__, __base__=JsonObject, **fields)
    if get_origin(shape) is dict:
        value: Any = _bounded(get_args(shape)[1], name)
        return dict[str, value | None]
    if get_origin(shape) in (Union, UnionType):
        (shape,) = set(get_args(shape)) - {type(None)}
        return _bounded(shape, name)
    if get_origin(shape) is Annotated:
        return shape
    if shape is float:
        return _Fraction if name in _FRACTIONS else _Cost
    return Count if shape is int else Any


def read_json_object(file: Path, shape: type[JsonObject]) -> dict[str, Any]:
    """Read a JSON object that has a shape, and return it as it is.

    Raises:
        ReportError: naming the file, and the field that does not fit.
    """
    shown = one_line(str(file))
    try:
        content: dict[str, Any] = parse_json(read_file(file, MAX_RECORDS_FILE_BYTES))
        shape.model_validate(content)
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
    metrics = read_json_object(measured, metrics_shape()) if measured.is_file() else None
    intermediates = read_json_object(counted, IntermediateCounts) if counted.is_file() else {}
    gold = read_json_object(tabled, StoredTables)["gold"] if tabled.is_file() else {}
    results = tuple(read_results(recorded)) if recorded.is_file() else ()
    return RunFolder(folder, about, results, metrics, intermediates, gold)
