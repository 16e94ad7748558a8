"""What ``run.json`` and ``metrics.json`` must be for what is made of them; anything more may stand there."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa.evaluation.records import parse
from kgqa.kg.terms import one_line

Count = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Cost = Annotated[float, Field(ge=0, le=1e15)]


class Wrong(ValueError):
    """A file that is not what it should be; the message is one line with the file and the field."""


class _Fields(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class Config(_Fields):
    """The configuration of a run, as far as it is more than shown."""

    method: str = "?"
    model: str = "?"
    hash: str | None = None


class Questions(_Fields):
    """Which questions a run was given."""

    name: str | None = None
    source: str | None = None
    format: str | None = None
    sha256: str | None = None
    split: str | None = None
    limit: Annotated[int, Field(ge=1)] | None = None
    questions: Count | None = None


class About(_Fields):
    """A ``run.json`` that results are scored by."""

    dataset: Questions
    seed: Count | None = None


class Head(About):
    """A ``run.json`` that is shown."""

    config: Config


class Share(_Fields):
    """A share with its interval."""

    value: Fraction | None = None
    low: Fraction | None = None
    high: Fraction | None = None


class Spread(_Fields):
    """What a question costs."""

    mean: Cost | None = None
    p50: Cost | None = None
    p95: Cost | None = None


class Group(_Fields):
    """The metrics over some questions."""

    n: Count | None = None
    hits_at_1: Share | None = None
    hit_any: Share | None = None
    precision: Share | None = None
    recall: Share | None = None
    f1: Share | None = None


class Triggered(Group):
    """Questions with a triggered refinement."""

    triggered: Count | None = None
    outcomes: dict[str, dict[str, Count]] | None = None


class Refinement(Triggered):
    """How often refinement was triggered in a run, and how it ended."""

    rate: Share | None = None
    diagnoses: Spread | None = None
    dropped: Share | None = None
    rerouted: Count | None = None
    recovered: Share | None = None
    signals: dict[str, Triggered] | None = None


class Source(Group):
    """Questions whose blueprint is from one source."""

    questions: Count | None = None
    share: Share | None = None


class Metrics(Group):
    """A ``metrics.json``."""

    errors: Count | None = None
    missing: Count | None = None
    unscored: Count | None = None
    unknown_calls: Count | None = None
    cached_calls: Count | None = None
    kg_grounded_rate: Share | None = None
    kg_grounded_rate_strict: Share | None = None
    llm_calls: Spread | None = None
    input_tokens: Spread | None = None
    output_tokens: Spread | None = None
    kg_queries: Spread | None = None
    seconds: Spread | None = None
    cost: Spread | None = None
    breakdowns: dict[str, dict[str, Group] | None] | None = None
    refinement: Refinement | None = None
    blueprints: dict[str, Source] | None = None


def read(file: Path, shape: type[_Fields]) -> dict[str, Any]:
    """Read a JSON object that has a shape, and give it as it is.

    Raises:
        Wrong: naming the file, and the field that does not fit.
    """
    shown = one_line(str(file))
    try:
        content: dict[str, Any] = parse(file.read_bytes())
        shape.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        where = f"field {one_line(field, 80)}: " if field else "a JSON object was expected: "
        raise Wrong(f"{shown}, {where}{one_line(first['msg'])}") from None
    except OSError as error:
        raise Wrong(f"cannot read {shown}: {one_line(str(error.strerror or error))}") from None
    except ValueError as error:
        raise Wrong(f"cannot read {shown}: it is no JSON: {one_line(str(error))}") from None
    return content
