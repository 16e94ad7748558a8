"""The question sets that are lines of text: MetaQA, PathQuestion and WorldCup2014.

* MetaQA: Zhang et al. (2018), Variational Reasoning for Question Answering with Knowledge Graph.
  ``what films did [Name] act in``, a tab, ``answer|answer``. Entities are names; the brackets
  mark the topic and go.
* PathQuestion and WorldCup2014: Zhou et al. (2018), An Interpretable Reasoning Network for
  Multi-Relation Question Answering. Entities are written with underscores: as written they are
  ids, with spaces names, also in the question. A path is ``entity#relation#entity…#<end>#entity``;
  WorldCup2014 joins branches with ``*`` and writes ``r_inverse`` for a step against the arrow.
"""

import re
from collections.abc import Callable, Iterable
from itertools import islice, takewhile
from math import inf
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import Format, Text, entity_ref, gold_readings, unique_refs
from kgqa.evaluation.question import EntityRef, GoldPath, Question

PATH_COLUMNS = ("question", "answers", "path")
CUP_COLUMNS = ("question", "answer", "path", "answers")

MAX_BRACKETS = 50  # opening brackets in a name at most: each is tried on the whole line


def _split_at(separator: str, read: Callable[[str], object] = str) -> BeforeValidator:
    """Return what makes a list of a text, each part as it is read."""
    return BeforeValidator(
        lambda value: [*map(read, value.split(separator))] if isinstance(value, str) else value
    )


def _has_columns(least: int, most: float) -> Callable[[Any], bool]:
    """Return what recognises lines of text by their number of columns."""
    return lambda record: isinstance(record, tuple) and least <= len(record) <= most


def _split_at_brackets(text: str) -> tuple[str, str, str]:
    """Return what is before, within and after the outermost brackets: a film is called ``[REC]``.

    >>> _split_at_brackets("who is in [[REC]]?")
    ('who is in ', '[REC]', '?')
    """
    start, end = text.find("["), text.rfind("]")
    return (text[:start], text[start + 1 : end], text[end + 1 :]) if 0 <= start < end - 1 else (text, "", "")


class _MetaQARecord(TypedDict):
    question: Text
    answers: Annotated[list[str], _split_at("|")]


def _read_metaqa(record: _MetaQARecord) -> Question:
    parts = _split_at_brackets(record["question"])
    return Question(
        id="",
        text="".join(parts),
        topics=unique_refs([entity_ref(None, parts[1] or None)]),
        readings=gold_readings(entity_ref(None, name) for name in record["answers"]),
    )


def _parse_path(text: str) -> GoldPath:
    """Read one path.

    >>> _parse_path("Mexico#plays_for_country_inverse#NEYMAR#plays_in_club#FC_Barcelona")
    GoldPath(topic='Mexico', relations=('^plays_for_country', 'plays_in_club'))
    """
    topic, *rest = takewhile(lambda part: part != "<end>", text.split("#"))
    if not topic or len(rest) < 2 or len(rest) % 2:
        raise ValueError("should look like entity#relation#entity")
    against = ((name.removesuffix("_inverse"), name.endswith("_inverse")) for name in rest[::2])
    return GoldPath(topic, tuple(f"^{name}" if inverse else name for name, inverse in against))


def _parse_one_path(value: object) -> object:
    return [_parse_path(value)] if isinstance(value, str) else value


def _parse_bracketed_answers(value: object) -> object:
    """Read one answer with all of them behind it; names may have brackets and slashes, too.

    >>> _parse_bracketed_answers("female(male/female/)")
    ['male', 'female']
    """
    brackets = re.finditer(r"\(", value) if isinstance(value, str) else ()
    for bracket in islice(brackets, MAX_BRACKETS):
        one, listed = bracket.string[: bracket.start()], bracket.string[bracket.end() :].removesuffix(")")
        before, found, after = f"/{listed}".partition(f"/{one}/")
        if found:
            return [name for name in (*before.split("/"), one, *after.split("/")) if name]
    raise ValueError("should look like name(name/name/)")


class _PathRecord(TypedDict):
    question: Text
    answers: Annotated[list[str], BeforeValidator(_parse_bracketed_answers)]
    path: Annotated[list[GoldPath], BeforeValidator(_parse_one_path)]


class _CupRecord(TypedDict):
    """A line of WorldCup2014; the facts around the answer, which follow, are left out."""

    question: Text
    path: Annotated[list[GoldPath], _split_at("*", _parse_path)]
    answers: Annotated[list[str], _split_at("/")]


def _read_paths(record: _PathRecord | _CupRecord) -> Question:
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
        readings=gold_readings(_entities(record["answers"])),
        paths=tuple(paths),
        hops=max(len(path.relations) for path in paths),
    )


def _entities(written: Iterable[str | None]) -> tuple[EntityRef, ...]:
    return unique_refs(entity_ref(one, one.replace("_", " ")) for one in written if one)


FORMATS: tuple[Format[Any], ...] = (
    Format("metaqa", _has_columns(2, 2), TypeAdapter(_MetaQARecord), _read_metaqa, ("question", "answers")),
    Format("pathquestion", _has_columns(3, 3), TypeAdapter(_PathRecord), _read_paths, PATH_COLUMNS),
    Format("worldcup", _has_columns(4, inf), TypeAdapter(_CupRecord), _read_paths, CUP_COLUMNS),
)
