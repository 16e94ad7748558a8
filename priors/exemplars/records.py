"""Exemplars as JSON lines."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from kgqa.kg.asked import Asked
from kgqa.priors.blueprints.slots import Slot
from kgqa.priors.exemplars.exemplar import Exemplar

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class _Line(TypedDict):
    question: str
    chain: list[str]
    asked: Asked
    weight: int


def write(exemplars: Iterable[Exemplar]) -> bytes:
    """Write exemplars, one a line."""
    import orjson

    return b"".join(orjson.dumps(_line(each)) + b"\n" for each in exemplars)


def read(lines: bytes) -> tuple[Exemplar, ...]:
    """Read what `write` wrote.

    Raises:
        ValueError: if it is anything else.
    """
    return tuple(_exemplar(_schema().validate_json(line)) for line in lines.splitlines())


@cache
def _schema() -> "TypeAdapter[_Line]":
    from pydantic import TypeAdapter

    return TypeAdapter(_Line)


def _line(exemplar: Exemplar) -> _Line:
    chain = [*map(str, exemplar.chain)]
    return {
        "question": exemplar.question,
        "chain": chain,
        "asked": exemplar.asked,
        "weight": exemplar.weight,
    }


def _exemplar(line: _Line) -> Exemplar:
    return Exemplar(line["question"], tuple(map(Slot.parse, line["chain"])), line["asked"], line["weight"])
