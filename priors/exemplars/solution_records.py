"""Solutions as JSON lines."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from kgqa.priors.blueprints.slots import Slot
from kgqa.priors.exemplars.solution import Solution

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class _Line(TypedDict):
    template: str
    branches: list[list[str]]
    plain: str
    question: str
    questions: int


def write(solutions: Iterable[Solution]) -> bytes:
    """Write solutions as JSON, one a line."""
    import orjson

    return b"".join(orjson.dumps(_line(each)) + b"\n" for each in solutions)


def read(lines: bytes) -> tuple[Solution, ...]:
    """Read what `write` wrote.

    Raises:
        ValueError: if it is anything else.
    """
    return tuple(_solution(_schema().validate_json(line)) for line in lines.splitlines())


@cache
def _schema() -> "TypeAdapter[_Line]":
    from pydantic import TypeAdapter

    return TypeAdapter(_Line)


def _line(each: Solution) -> _Line:
    return {
        "template": each.template,
        "branches": [[*map(str, branch)] for branch in each.branches],
        "plain": each.plain,
        "question": each.question,
        "questions": each.questions,
    }


def _solution(line: _Line) -> Solution:
    branches = tuple(tuple(map(Slot.parse, branch)) for branch in line["branches"])
    return Solution(line["template"], branches, line["plain"], line["question"], line["questions"])
