"""Reads the folder of a run, finished or not; a file that does not fit is named with the field that is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa.evaluation.record_files import MAX_RECORDS_FILE_BYTES, parse_json
from kgqa.evaluation.paper_analysis.intermediates import INTERMEDIATES_FILE
from kgqa.evaluation.result import Result, ResultsError
from kgqa.evaluation.result_files import read_results
from kgqa.files import read_file
from kgqa.kg.terms import one_line

Count = Annotated[int, Field(ge=0)]


class InvalidRunFile(ValueError):
    """A file that is not what it should be; the message is one line with the file and the field."""


class JsonObject(BaseModel):
    """An object of which some fields are known."""

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


def read_json_object(file: Path, shape: type[JsonObject]) -> dict[str, Any]:
    """Read a JSON object that has a shape, and give it as it is.

    Raises:
        Wrong: naming the file, and the field that does not fit.
    """
    shown = one_line(str(file))
    try:
        content: dict[str, Any] = parse_json(read_file(file, MAX_RECORDS_FILE_BYTES))
        shape.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        where = f"field {one_line(field, 80)}: " if field else "a JSON object was expected: "
        raise InvalidRunFile(f"{shown}, {where}{one_line(first['msg'])}") from None
    except OSError as error:
        raise InvalidRunFile(f"cannot read {shown}: {one_line(str(error.strerror or error))}") from None
    except ValueError as error:
        raise InvalidRunFile(f"cannot read {shown}: it is no JSON: {one_line(str(error))}") from None
    return content


Fraction = Annotated[float, Field(ge=0, le=1)]
CostValue = Annotated[float, Field(ge=0, le=1e15)]


class ShareFields(JsonObject):
    """A share with its interval."""

    value: Fraction | None = None
    low: Fraction | None = None
    high: Fraction | None = None


class CostFields(JsonObject):
    """What a question costs."""

    mean: CostValue | None = None
    p50: CostValue | None = None
    p95: CostValue | None = None


class AccuracyFields(JsonObject):
    """The metrics over some questions."""

    n: Count | None = None
    hits_at_1: ShareFields | None = None
    hit_any: ShareFields | None = None
    precision: ShareFields | None = None
    recall: ShareFields | None = None
    f1: ShareFields | None = None


class TriggeredFields(AccuracyFields):
    """Questions with a triggered refinement."""

    triggered: Count | None = None
    outcomes: dict[str, dict[str, Count]] | None = None


class RefinementFields(TriggeredFields):
    """How often refinement was triggered in a run, and how it ended."""

    rate: ShareFields | None = None
    diagnoses: CostFields | None = None
    dropped: ShareFields | None = None
    rerouted: Count | None = None
    recovered: ShareFields | None = None
    signals: dict[str, TriggeredFields] | None = None


class SourceFields(AccuracyFields):
    """Questions whose blueprint is from one source."""

    questions: Count | None = None
    share: ShareFields | None = None


class StageFields(CostFields):
    """Tokens of one stage."""

    share: Fraction | None = None


class StrategyFields(JsonObject):
    """What one arm of a revision did."""

    chosen: CostFields | None = None
    revisions: Count | None = None
    accepted: Count | None = None
    reward: Fraction | None = None
    wrong_before: Count | None = None
    success: ShareFields | None = None


class FinalPlanFields(AccuracyFields):
    """Questions that ended with a plan of one origin."""

    questions: Count | None = None
    attributed: ShareFields | None = None


class RevisionFields(JsonObject):
    """How a run verified and revised its plans."""

    planned: Count | None = None
    verified: Count | None = None
    rate: ShareFields | None = None
    sources: dict[str, ShareFields] | None = None
    steps: dict[str, dict[str, Count]] | None = None
    revisions: CostFields | None = None
    plan_steps: CostFields | None = None
    tokens: dict[str, StageFields] | None = None
    strategies: dict[str, StrategyFields] | None = None
    plans: dict[str, FinalPlanFields] | None = None
    entropy: Fraction | None = None
    best_task: ShareFields | None = None
    best_confidence: ShareFields | None = None


class LookaheadFields(JsonObject):
    """How smart lookahead went in a run."""

    questions: Count | None = None
    fired: ShareFields | None = None
    realised: ShareFields | None = None
    ended: ShareFields | None = None
    right: ShareFields | None = None
    right_of_fired: ShareFields | None = None


class PruningFields(JsonObject):
    """How many relations survived prunings."""

    prunings: Count | None = None
    chosen: CostFields | None = None
    kept: CostFields | None = None
    counts: dict[str, Count] | None = None


class MetricsFile(AccuracyFields):
    """A ``metrics.json``."""

    errors: Count | None = None
    missing: Count | None = None
    unscored: Count | None = None
    unknown_calls: Count | None = None
    cached_calls: Count | None = None
    kg_grounded_rate: ShareFields | None = None
    kg_grounded_rate_strict: ShareFields | None = None
    llm_calls: CostFields | None = None
    input_tokens: CostFields | None = None
    output_tokens: CostFields | None = None
    kg_queries: CostFields | None = None
    seconds: CostFields | None = None
    cost: CostFields | None = None
    breakdowns: dict[str, dict[str, AccuracyFields] | None] | None = None
    refinement: RefinementFields | None = None
    blueprints: dict[str, SourceFields] | None = None
    revision: RevisionFields | None = None
    lookahead: LookaheadFields | None = None
    pruning: PruningFields | None = None


Json = Mapping[str, Any]


class ReportError(ValueError):
    """A report that cannot be made; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class RunFolder:
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
        return _as_object(self.about.get("config"))

    @property
    def dataset(self) -> Json:
        """Name, file, digest, split, limit and number of questions."""
        return _as_object(self.about.get("dataset"))

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


def read_run(folder: Path) -> RunFolder:
    """Read a run folder.

    Raises:
        ReportError: if it is none, or a file of it cannot be read.
    """
    if not _is_file(folder / "run.json"):
        raise ReportError(
            f"{_shown_path(folder)} is no run: it has no run.json; give folders that kgqa eval wrote"
        )
    measured, counted = folder / "metrics.json", folder / INTERMEDIATES_FILE
    try:
        about = read_json_object(folder / "run.json", RunHeader)
        metrics = read_json_object(measured, MetricsFile) if measured.is_file() else None
        between = read_json_object(counted, IntermediateCounts) if counted.is_file() else {}
    except InvalidRunFile as error:
        raise ReportError(str(error)) from None
    return RunFolder(folder, about, _read_run_results(folder), metrics, between)


def _read_run_results(folder: Path) -> tuple[Result, ...]:
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


def _as_object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _shown_path(path: Path) -> str:
    return one_line(str(path))
