"""The header of exemplars on disk: what they were learned from, and with which encoder."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.priors.blueprints.header import Source
from kgqa.priors.exemplars.errors import ExemplarError
from kgqa.priors.folders import Kind

if TYPE_CHECKING:
    from pydantic import TypeAdapter

VERSION = 2
HEADER = "exemplars.json"

KIND = Kind(
    "folder of exemplars", "kgqa exemplars build --dataset FILE --out", HEADER, VERSION, ExemplarError
)


@dataclass(frozen=True, slots=True)
class Header:
    """What a folder of exemplars is.

    Attributes:
        version: Of the layout of the folder.
        encoder: The name of the encoder that its vectors are from.
        dimensions: The length of a vector.
        sources: The files it was learned from.
        questions: How many questions were read.
        without: How many of them gave no exemplar, by reason.
        exemplars: How many exemplars there are.
        templates: How many solutions there are.
        records: The SHA-256 of the file of exemplars.
        model: The SHA-256 of the file of the model.
        solutions: The SHA-256 of the file of solutions.
        index: The SHA-256 of the file of their vectors.
    """

    version: int
    encoder: str
    dimensions: int
    sources: tuple[Source, ...]
    questions: int
    without: Mapping[str, int]
    exemplars: int
    templates: int
    records: str
    model: str
    solutions: str
    index: str

    def __str__(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def read_header(folder: Path) -> Header:
    """Read what a folder of exemplars is.

    Raises:
        ExemplarError: if there is none, or it is damaged or of another version.
    """
    return KIND.read_header(folder, _schema())


@cache
def _schema() -> "TypeAdapter[Header]":
    from pydantic import TypeAdapter

    return TypeAdapter(Header)
