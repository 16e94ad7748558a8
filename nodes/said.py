"""Said: does a question name the numbers and dates that a query compares with?"""

import re
from collections.abc import Iterator

from kgqa.kg.proof.query import Condition
from kgqa.kg.proof.values import kind_of, year_of
from kgqa.kg.terms import Literal

_UNITS = (
    *("one first", "two second", "three third", "four fourth", "five fifth", "six sixth", "seven seventh"),
    *("eight eighth", "nine ninth", "ten tenth", "eleven eleventh", "twelve twelfth", "thirteen thirteenth"),
    *("fourteen fourteenth", "fifteen fifteenth", "sixteen sixteenth", "seventeen seventeenth"),
    *("eighteen eighteenth", "nineteen nineteenth"),
)
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {word: number for number, words in enumerate(_UNITS, 1) for word in words.split()}
_WORDS |= {ten: 10 * number for number, ten in enumerate(_TENS, 2)} | {"zero": 0}
_PARTS = {"a": 1.0, "an": 1.0, "half": 0.5}  # of what multiplies them
_MULTIPLES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}

_NUMBER = re.compile(
    rf"(?<![\w.])(\d[\d,]*(?:\.\d+)?|(?:{'|'.join([*_WORDS, *_PARTS])})\b)(?:st|nd|rd|th)?"
    rf"(?:[ -]({'|'.join(_UNITS).replace(' ', '|')})\b)?((?: an?)?(?: (?:{'|'.join(_MULTIPLES)})s?\b)+)?"
)
_DECADE = re.compile(r"\b(\d{3})0'?s\b")
_CENTURY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th) century\b")


def is_value_said(condition: Condition, question: str) -> bool:
    """Return whether a question has the number or date that a condition compares with, at least its year.

    A decade and a century say their years; texts and entities are no numbers.

    >>> from kgqa.kg.terms import Hop
    >>> late = Condition(1, (Hop("http://x/year"),), ">=", Literal("1980"))
    >>> [is_value_said(late, question) for question in ("Who came in the 1980s?", "Who came after the war?")]
    [True, False]
    """
    value = condition.value
    if condition.operator == "contains" or not isinstance(value, Literal):
        return True
    match kind_of(value):
        case "number":
            number: float | None = float(value.value)
        case "date":
            number = year_of(value)
        case _:
            return True
    return number is None or abs(number) in {*_numbers(question), *_years(question)}  # "18 degrees south"


def _numbers(question: str) -> Iterator[float]:
    """Yield the numbers of a question, in figures and words, with and without what multiplies them."""
    for first, unit, multiples in _NUMBER.findall(question.lower()):
        if first in _PARTS:
            number = _PARTS[first]
        else:
            yield (number := float(_WORDS[first] if first in _WORDS else first.replace(",", "")))
        if unit:
            yield (number := number + _WORDS[unit])
        for multiple in re.findall("|".join(_MULTIPLES), multiples):
            yield (number := number * _MULTIPLES[multiple])


def _years(question: str) -> Iterator[int]:
    """Yield the years of the decades and centuries that a question names, and the next."""
    for decade in _DECADE.findall(question):
        yield from range(10 * int(decade), 10 * int(decade) + 11)
    for century in _CENTURY.findall(question):
        yield from range(100 * int(century) - 100, 100 * int(century) + 2)
