"""What the formats have in common: types of fields, and how names and answers are read."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, Strict, StringConstraints

from kgqa.evaluation.question import Named

NAMELESS = frozenset({"", "null", "UnName_Entity"})
"""What the files write where an entity has no name."""

ENTITY_ID = re.compile(r"[mg]\.\w+|[QPL]\d+")
"""Ids of Freebase and Wikidata; whatever else stands in place of one is a literal."""


def _as_text(value: object) -> object:
    """Write a truth value or a number as text: answers may be any of them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    return value


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""What must be there and not be blank."""

Id = Annotated[Text, BeforeValidator(_as_text)]
"""An id that must be there."""

Value = Annotated[str, Strict()] | Annotated[str, BeforeValidator(_as_text)]
"""An id, a name or a literal, maybe empty. Text, by far the most, is taken without a call of Python."""

Hops = Annotated[int, Field(ge=0, le=100)]

Readings = tuple[tuple[Named, ...], ...]


def named(id: str | None, name: str | None, aliases: Iterable[str] = ()) -> Named | None:
    """Make a topic or an answer; None where the file gives neither id nor name.

    >>> named("m.012k66rv", "UnName_Entity")
    Named(id='m.012k66rv', name=None, aliases=())
    >>> named("Q42", "Q42")
    Named(id='Q42', name=None, aliases=())
    >>> named("+100", "+100")
    Named(id='+100', name='+100', aliases=())
    """
    if name is not None and (name in NAMELESS or (name == id and ENTITY_ID.fullmatch(name))):
        name = None
    if not id and name is None:
        return None
    return Named(id or None, name, _others(name, aliases) if aliases else ())


def _others(name: str | None, aliases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(alias for alias in aliases if alias != name and alias not in NAMELESS))


def literal(value: str | None) -> Named | None:
    """Make an answer that is its own id, as in a record; None for no value.

    >>> literal("1841-03-04")
    Named(id='1841-03-04', name='1841-03-04', aliases=())
    """
    return named(value, value)


def entity_or_literal(kind: str | None, argument: str | None, name: str | None) -> Named | None:
    """Make an answer as WebQSP and GrailQA write it: a type, an argument and a name.

    Where the type is missing, an argument that is no id is a literal.
    """
    if kind is None and argument and not ENTITY_ID.fullmatch(argument):
        kind = "Value"
    return named(argument, name or argument) if kind == "Value" else named(argument, name)


def known(found: Iterable[Named | None]) -> tuple[Named, ...]:
    """Keep what has an id or a name, each id and, without one, each name once: the first of it."""
    first: dict[object, Named] = {}
    for one in found:
        if one is not None:
            first.setdefault(one.id or (one.name,), one)
    return tuple(first.values())


def readings(*parses: Iterable[Named | None]) -> Readings:
    """Make the readings of the answers of each parse; an empty parse and a repeated one make none."""
    found = [reading for parse in parses if (reading := known(parse))]
    return tuple(found if len(found) < 2 else dict.fromkeys(found))


Given: TypeAlias = Mapping[str, str | None]
"""Topics as a file gives them: names by id."""


def topics(*choices: Given | None) -> tuple[Named, ...]:
    """Make topics of the first choice that is not None."""
    return next((_topics(choice) for choice in choices if choice is not None), ())


def elsewhere(*choices: Given | None) -> tuple[tuple[Named, ...], ...]:
    """Make topics of the other choices, those that have any."""
    given = [_topics(choice) for choice in choices if choice is not None]
    return tuple(filter(None, given[1:]))


def _topics(given: Given) -> tuple[Named, ...]:
    return known(named(id, name) for id, name in given.items())
