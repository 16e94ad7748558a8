"""Records of a library: one template, its blueprint and its anchors; as JSON lines on disk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import TypedDict

from kgqa.priors.blueprints.slots import Blueprint

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Anchor(NamedTuple):
    """A masked question that is looked up, and how many questions of its template it stands for."""

    text: str
    questions: int


@dataclass(frozen=True, slots=True)
class Record:
    """A template of the library.

    Attributes:
        question: The first anchor's question as it was asked.
        anchors: The masked questions that stand for the template: one, or all there are.
        trees: The blueprints with this template and how many questions have each, the
            most frequent first, of equally frequent ones the first in the files.
    """

    question: str
    anchors: tuple[Anchor, ...]
    trees: tuple[tuple[Blueprint, int], ...]

    @property
    def blueprint(self) -> Blueprint:
        """The most frequent tree."""
        return self.trees[0][0]

    @property
    def questions(self) -> int:
        """How many questions have this template."""
        return sum(questions for _, questions in self.trees)


class _Tree(TypedDict):
    branches: list[list[str]]
    questions: int


class _Line(TypedDict):
    anchor: str
    question: str
    template: str
    branches: list[list[str]]
    questions: int
    other_anchors: dict[str, int]
    other_trees: list[_Tree]


def write(records: Iterable[Record]) -> bytes:
    """Write records as JSON lines; their questions are in all, those of the others beside them."""
    import orjson

    return b"".join(orjson.dumps(_line(record)) + b"\n" for record in records)


def read(lines: bytes) -> tuple[Record, ...]:
    """Read what `write` wrote.

    Raises:
        ValueError: if it is anything else.
    """
    return tuple(_record(_schema().validate_json(line)) for line in lines.splitlines())


def anchored(records: Iterable[Record]) -> list[tuple[Record, Anchor]]:
    """Give every anchor with its record, in the order of their vectors."""
    return [(record, anchor) for record in records for anchor in record.anchors]


def plain(blueprint: Blueprint) -> list[list[str]]:
    """Write the branches as `Blueprint.parse` reads them."""
    return [[str(slot) for slot in branch] for branch in blueprint]


def histogram(records: Sequence[Record]) -> dict[int, int]:
    """Count the templates by their number of slots."""
    lengths = [len(record.blueprint.slots) for record in records]
    return {length: lengths.count(length) for length in sorted(set(lengths))}


@cache
def _schema() -> "TypeAdapter[_Line]":
    from pydantic import TypeAdapter

    return TypeAdapter(_Line)


def _line(record: Record) -> _Line:
    anchor, *anchors = record.anchors
    _, *trees = record.trees
    return {
        "anchor": anchor.text,
        "question": record.question,
        "template": record.blueprint.template,
        "branches": plain(record.blueprint),
        "questions": record.questions,
        "other_anchors": dict(anchors),
        "other_trees": [{"branches": plain(tree), "questions": questions} for tree, questions in trees],
    }


def _record(line: _Line) -> Record:
    trees = [(Blueprint.parse(tree["branches"]), tree["questions"]) for tree in line["other_trees"]]
    anchors = [Anchor(*other) for other in line["other_anchors"].items()]
    first = line["questions"] - sum(questions for _, questions in trees)
    stands_for = line["questions"] - sum(anchor.questions for anchor in anchors)
    return Record(
        line["question"],
        (Anchor(line["anchor"], stands_for), *anchors),
        ((Blueprint.parse(line["branches"]), first), *trees),
    )
