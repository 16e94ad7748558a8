"""Exemplars: what one masked question taught about one of its topics; as JSON lines under a header on disk."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from typing_extensions import TypedDict

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.priors.artifact_store import ArtifactStore
from kgqa.priors.blueprints.store import SourceFile
from kgqa.priors.errors import ExemplarError
from kgqa.priors.slots import Slot

if TYPE_CHECKING:
    from pydantic import TypeAdapter

HopScores: TypeAlias = tuple[Mapping[Slot | None, float], ...]
"""For each position of a chain from 0, the natural log-probability of each slot that training
has there; None is the end of the chain."""


ALL_ENDS = QuestionIntent()


@dataclass(frozen=True, slots=True, order=True)
class Exemplar:
    """A masked question, and the chain from one of its topics to its answer.

    Attributes:
        question: Masked for that topic: ``[ENT]`` it, ``[OTHER]`` the others.
        chain: From that topic to the answer.
        asked: What is asked of the ends.
        weight: How many training questions it stands for.
    """

    question: str
    chain: tuple[Slot, ...]
    asked: QuestionIntent = ALL_ENDS
    weight: int = 1


class NearExemplar(NamedTuple):
    """An exemplar near to a question, and how near it is, at most 1."""

    exemplar: Exemplar
    similarity: float


class _ExemplarLine(TypedDict):
    question: str
    chain: list[str]
    asked: QuestionIntent
    weight: int


def write_exemplars(exemplars: Iterable[Exemplar]) -> bytes:
    """Write exemplars, one a line."""
    import orjson

    return b"".join(orjson.dumps(_to_line(each)) + b"\n" for each in exemplars)


def read_exemplars(lines: bytes) -> tuple[Exemplar, ...]:
    """Read what `write` wrote.

    Raises:
        ValueError: if it is anything else.
    """
    return tuple(_from_line(_line_schema().validate_json(line)) for line in lines.splitlines())


@cache
def _line_schema() -> "TypeAdapter[_ExemplarLine]":
    from pydantic import TypeAdapter

    return TypeAdapter(_ExemplarLine)


def _to_line(exemplar: Exemplar) -> _ExemplarLine:
    chain = [*map(str, exemplar.chain)]
    return {
        "question": exemplar.question,
        "chain": chain,
        "asked": exemplar.asked,
        "weight": exemplar.weight,
    }


def _from_line(line: _ExemplarLine) -> Exemplar:
    return Exemplar(line["question"], tuple(map(Slot.parse, line["chain"])), line["asked"], line["weight"])


EXEMPLARS_VERSION = 2
HEADER_FILE = "exemplars.json"

EXEMPLAR_STORE = ArtifactStore(
    "folder of exemplars",
    "kgqa exemplars build --dataset FILE --out",
    HEADER_FILE,
    EXEMPLARS_VERSION,
    ExemplarError,
)


@dataclass(frozen=True, slots=True)
class ExemplarHeader:
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
    sources: tuple[SourceFile, ...]
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


def read_exemplar_header(folder: Path) -> ExemplarHeader:
    """Read what a folder of exemplars is.

    Raises:
        ExemplarError: if there is none, or it is damaged or of another version.
    """
    return EXEMPLAR_STORE.read_header(folder, _header_schema())


@cache
def _header_schema() -> "TypeAdapter[ExemplarHeader]":
    from pydantic import TypeAdapter

    return TypeAdapter(ExemplarHeader)
