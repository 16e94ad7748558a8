"""Replies that pass schema and check, and help nobody; made from the schemas, so for any prompt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from kgqa.models.parsing import BadReply, check_reply
from kgqa.prompts.base import Prompt

MOST = (100, 40, 20, 10, 6, 4, 3, 2, 1, 0)
"""How many things a reply tries to name, until the prompt takes it."""


@dataclass(frozen=True)
class Habit:
    """How a model replies: which numbers it picks, which words it prefers, what it writes, how often."""

    numbers: Literal["none", "first", "last", "all"] = "all"
    words: tuple[str, ...] = ("forward", "all", "yes")
    text: str = "s"
    times: int = 3
    truth: bool = True


def reply(prompt: Prompt[Any], habit: Habit) -> dict[str, Any]:
    """Return the first reply of a habit that the prompt takes.

    Raises:
        LookupError: if it takes none: this module has to learn of a new kind of reply.
    """
    fields = prompt.reply.model_fields
    for values in product(*(list(_values(field.annotation, habit)) for field in fields.values())):
        written = dict(zip(fields, values, strict=True))
        try:
            check_reply(prompt.reply(**written), prompt)
        except (BadReply, ValidationError):
            continue
        return written
    raise LookupError(f"no reply to {prompt.name} passes")


def _values(kind: Any, habit: Habit) -> Iterator[Any]:
    inner = [each for each in get_args(kind) if each is not NoneType]
    if get_origin(kind) is Literal:
        yield from sorted(inner, key=lambda word: habit.words.index(word) if word in habit.words else 99)
    elif get_origin(kind) is list:
        yield from _lists(inner[0], habit)
    elif kind is str:
        yield from dict.fromkeys((habit.text, ""))
    elif kind is bool:
        yield from (habit.truth, not habit.truth)
    elif kind is int:
        yield from (reversed(range(13)) if habit.numbers == "last" else (1, 0, 2))
    elif kind is float:
        yield 1.0
    else:
        yield from _values(inner[0], habit)
        yield from [None] * (NoneType in get_args(kind))


def _lists(kind: Any, habit: Habit) -> Iterator[list[Any]]:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if kind is int:
        yield from map(list, _numbers(habit))
    elif kind is str:
        yield from (
            [text] * n for text in (habit.text, habit.text[:100]) for n in (habit.times, 8, 3, 2, 1, 0)
        )
    elif kind == list[int]:
        yield from ([[1]] * n for n in (habit.times, 1, 0))
    elif get_origin(kind) is list:
        short = habit.text[:100]
        yield from ([[short] * 3] * n for n in (habit.times, 1, 0))
    elif isinstance(kind, type) and issubclass(kind, BaseModel) and "number" in kind.model_fields:
        yield from ([{"number": n, "score": 1.0} for n in numbers] for numbers in _numbers(habit))
    else:
        fields = {name: next(_values(field.annotation, habit)) for name, field in kind.model_fields.items()}
        yield from ([fields] * n for n in (10, 4, 2, 1, 0))


def _numbers(habit: Habit) -> Iterator[Sequence[int]]:
    if habit.numbers == "all":
        yield from (range(1, n + 1) for n in MOST)
    elif habit.numbers == "last":
        yield from ([n] for n in (100, 40, 20, 10, *range(6, 0, -1)))
    elif habit.numbers == "first":
        yield [1]
    yield []
    yield from ([n] for n in range(1, 4))
