"""PathQuestion and WorldCup2014: lines of text with the path to the answer.

Zhou et al. (2018), An Interpretable Reasoning Network for Multi-Relation Question
Answering. Entities are written with underscores: as written they are ids, with spaces
names, also in the question. A path is ``entity#relation#entity…#<end>#entity``; WorldCup2014
joins branches with ``*`` and writes ``r_inverse`` for a step against the arrow.
"""

import re
from collections.abc import Iterable
from itertools import islice, takewhile
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.fields import Text, known, named, readings
from kgqa.evaluation.datasets.format import Format
from kgqa.evaluation.question import GoldPath, Named, Question

MOST_BRACKETS = 50
"""Opening brackets in a name at most; with more of them, each tried on the whole line, reading takes long."""


def _branch(text: str) -> GoldPath:
    """Read one path.

    >>> _branch("Mexico#plays_for_country_inverse#NEYMAR#plays_in_club#FC_Barcelona")
    GoldPath(topic='Mexico', relations=('^plays_for_country', 'plays_in_club'))
    """
    topic, *rest = takewhile(lambda part: part != "<end>", text.split("#"))
    if not topic or len(rest) < 2 or len(rest) % 2:
        raise ValueError("should look like entity#relation#entity")
    return GoldPath(topic, tuple(map(_relation, rest[::2])))


def _relation(name: str) -> str:
    forward = name.removesuffix("_inverse")
    return name if forward == name else f"^{forward}"


def _one_path(value: object) -> object:
    return [_branch(value)] if isinstance(value, str) else value


def _branches(value: object) -> object:
    return [_branch(branch) for branch in value.split("*")] if isinstance(value, str) else value


def _after_one(value: object) -> object:
    """Read one answer with all of them behind it; names may have brackets and slashes, too.

    >>> _after_one("female(male/female/)")
    ['male', 'female']
    """
    brackets = re.finditer(r"\(", value) if isinstance(value, str) else ()
    for bracket in islice(brackets, MOST_BRACKETS):
        one, listed = bracket.string[: bracket.start()], bracket.string[bracket.end() :].removesuffix(")")
        before, found, after = f"/{listed}".partition(f"/{one}/")
        if found:
            return [name for name in (*before.split("/"), one, *after.split("/")) if name]
    raise ValueError("should look like name(name/name/)")


def _slashed(value: object) -> object:
    return value.split("/") if isinstance(value, str) else value


class PathRecord(TypedDict):
    """A line of PathQuestion."""

    question: Text
    answers: Annotated[list[str], BeforeValidator(_after_one)]
    path: Annotated[list[GoldPath], BeforeValidator(_one_path)]


class CupRecord(TypedDict):
    """A line of WorldCup2014; the facts around the answer, which follow, are left out."""

    question: Text
    path: Annotated[list[GoldPath], BeforeValidator(_branches)]
    answers: Annotated[list[str], BeforeValidator(_slashed)]


def _question(record: PathRecord | CupRecord) -> Question:
    paths = record["path"]
    topics = _entities(path.topic for path in paths)
    text = record["question"]
    for topic in topics:
        if topic.id and topic.name:
            text = text.replace(topic.id, topic.name)
    return Question(
        id="",
        text=text,
        topics=topics,
        readings=readings(_entities(record["answers"])),
        paths=tuple(paths),
        hops=max(len(path.relations) for path in paths),
    )


def _entities(written: Iterable[str | None]) -> tuple[Named, ...]:
    return known(named(one, one.replace("_", " ")) for one in written if one)


def _knows_path(record: Any) -> bool:
    return isinstance(record, tuple) and len(record) == 3


def _knows_cup(record: Any) -> bool:
    return isinstance(record, tuple) and len(record) > 3


PATH_COLUMNS = ("question", "answers", "path")
CUP_COLUMNS = ("question", "answer", "path", "answers")

PATHQUESTION = Format("pathquestion", _knows_path, TypeAdapter(PathRecord), _question, columns=PATH_COLUMNS)
WORLDCUP = Format("worldcup", _knows_cup, TypeAdapter(CupRecord), _question, columns=CUP_COLUMNS)
