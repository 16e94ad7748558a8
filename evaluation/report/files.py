"""Reads the JSON files of a run; what ``run.json`` must be, and anything more may stand there."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa.evaluation.records import LARGEST, parse
from kgqa.kg.files import read_file
from kgqa.kg.terms import one_line

Count = Annotated[int, Field(ge=0)]


class Wrong(ValueError):
    """A file that is not what it should be; the message is one line with the file and the field."""


class Fields(BaseModel):
    """An object of which some fields are known."""

    model_config = ConfigDict(strict=True, extra="allow")


class Config(Fields):
    """The configuration of a run, as far as it is more than shown."""

    method: str = "?"
    model: str = "?"
    hash: str | None = None


class Questions(Fields):
    """Which questions a run was given."""

    name: str | None = None
    source: str | None = None
    format: str | None = None
    sha256: str | None = None
    split: str | None = None
    limit: Annotated[int, Field(ge=1)] | None = None
    questions: Count | None = None


class About(Fields):
    """A ``run.json`` that results are scored by."""

    dataset: Questions
    seed: Count | None = None


class Head(About):
    """A ``run.json`` that is shown."""

    config: Config
    kgqa: str | None = None


class Intermediates(Fields):
    """An ``intermediates.json``: entities between topics and answers, by question."""

    __pydantic_extra__: dict[str, Count] = Field(init=False)


def read(file: Path, shape: type[Fields]) -> dict[str, Any]:
    """Read a JSON object that has a shape, and give it as it is.

    Raises:
        Wrong: naming the file, and the field that does not fit.
    """
    shown = one_line(str(file))
    try:
        content: dict[str, Any] = parse(read_file(file, LARGEST))
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
