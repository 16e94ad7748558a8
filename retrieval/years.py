"""Years as questions write them: with an era, or alone.

>>> [*era_years("Who ruled from 44 BC to AD 14?")]
[EraYear(text='44 BC', begin=15, end=20, number=-44), EraYear(text='AD 14', begin=24, end=29, number=14)]
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kgqa.kg.dialects import detect_dialect
from kgqa.kg.terms import Hop

BEFORE_ERA = r"(?:B\.? ?C\.?(?: ?E\.?)?|b\.?c\.?(?:e\.?)?)(?!\w)"
OF_ERA = r"(?:A\.? ?D\.?|C\.? ?E\.?)(?!\w)"

ERA_YEAR = (
    rf"(?:{OF_ERA} (?P<after>\d{{1,4}})\b|(?<![\w.,-])(?P<before>\d+)(?: ?{BEFORE_ERA}|"
    rf"(?= (?:to|and|till|until|or) \d+ ?{BEFORE_ERA}))|(?<![\w.,-])(?P<of>\d+) ?{OF_ERA})"
)
"""A year of an era; of two that are joined the last may say it for both."""

UNNAMED_ERA_YEAR = re.sub(r"\?P<\w+>", "?:", ERA_YEAR)  # the same as a part of an expression without groups

_ERA_YEAR = re.compile(ERA_YEAR)


class EraYear(NamedTuple):
    """A year that a question writes with its era, where it stands, and its number: negative before year 1."""

    text: str
    begin: int
    end: int
    number: int


def era_years(question: str) -> Iterator[EraYear]:
    """Yield the years that a question writes with their eras."""
    for found in _ERA_YEAR.finditer(question):
        yield EraYear(found.group(), *found.span(), read_era_year(found))


def without_eras(question: str) -> str:
    """Return a question whose years are left without their eras: no words that say anything else.

    >>> without_eras("Who ruled from 44 BC to AD 14?")
    'Who ruled from 44 to 14?'
    """
    return _ERA_YEAR.sub(lambda found: next(filter(None, found.groups())), question)


def read_era_year(found: re.Match[str]) -> int:
    """Return the number of a year that `ERA_YEAR` has found."""
    return -int(found["before"]) if found["before"] else int(found["after"] or found["of"])


def year_words(year: int) -> str:
    """Return the words by which a question may mean the year of a graph, from whatever year it counts.

    >>> year_words(-43), year_words(476)
    ('43 44 BC BCE B C E', '476 AD CE A D C E')
    """
    return f"{-year} {1 - year} BC BCE B C E" if year < 1 else f"{year} AD CE A D C E"


def has_year_zero(hops: Iterable[Hop]) -> bool:
    """Return whether the graph of some relations calls the year before 1 the year 0: 44 BC is -43 then."""
    return detect_dialect([hop.relation for hop in hops]).has_year_zero
