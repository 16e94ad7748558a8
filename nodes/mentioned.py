"""Said: does a question name what a query compares with?"""

import re
from collections.abc import Iterable, Iterator

from kgqa.kg.proof.query import Condition
from kgqa.kg.proof.values import kind_of, year_of
from kgqa.kg.terms import Literal, Term, local_name
from kgqa.priors.candidate_ranking import relation_words
from kgqa.prompts.attributes import is_alluded_to
from kgqa.retrieval.number_words import NUMBER_WORDS, UNITS
from kgqa.retrieval.years import ERA_YEAR, era_years

_PARTS = {"a": 1.0, "an": 1.0, "half": 0.5}  # of what multiplies them
_MULTIPLES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}

_NUMBER = re.compile(
    rf"(?<![\w.])(\d[\d,]*(?:\.\d+)?|(?:{'|'.join([*NUMBER_WORDS, *_PARTS])})\b)(?:st|nd|rd|th)?"
    rf"(?:[ -]({'|'.join(UNITS).replace(' ', '|')})\b)?((?: an?)?(?: (?:{'|'.join(_MULTIPLES)})s?\b)+)?"
)
_MONTHS = (
    *("month", "january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_DECADE = re.compile(r"\b(\d{3})0'?s\b")
_CENTURY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th) century\b")


def is_value_said(condition: Condition, question: str) -> bool:
    """Return whether a question has the number or date that a condition compares with, at least its year.

    A decade and a century say their years; texts and entities are no numbers. What a date is to equal, a
    question says to the day.

    >>> from kgqa.kg.terms import Hop
    >>> late = Condition(1, (Hop("http://x/year"),), ">=", Literal("1980"))
    >>> [is_value_said(late, question) for question in ("Who came in the 1980s?", "Who came after the war?")]
    [True, False]
    """
    value = condition.value
    if condition.operator == "contains" or not isinstance(value, Literal):
        return True
    return _is_number_said(value, question, to_the_day=condition.operator == "=")


def is_number_word(word: str) -> bool:
    """Return whether a word is a number, in figures or letters, or a part of one."""
    return word[:1].isdigit() or word in NUMBER_WORDS or word in _MULTIPLES


def is_term_said(term: Term, question: str) -> bool:
    """Return whether a question names a term: a number or a date by its value, anything else by its words."""
    if isinstance(term, Literal) and kind_of(term) != "text":
        return _is_number_said(term, question, to_the_day=True)
    return is_alluded_to(question, term.name or relation_words(local_name(term.id)))


def unsaid_figures(question: str, texts: Iterable[str]) -> list[str]:
    """Return the numbers that a question has in figures, and none of some texts has, in its own words.

    >>> unsaid_figures("Which 3 of the 20th century weigh over 2.5 kg?", ["1901-01-01", "2.5"])
    ['3']
    """
    texts = [text.replace(",", "") for text in texts]
    said = {float(each) for text in texts for each in re.findall(r"\d+(?:\.\d+)?", text)}
    signed = {int(each) for text in texts for each in re.findall(r"(?<!\d)-?\d+", text)}
    years = [each.text for each in era_years(question) if signed.isdisjoint(_counted(each.number))]
    asked = re.sub(ERA_YEAR, " ", question).lower()
    figures = (each for each in _NUMBER.finditer(asked) if each[1][0].isdigit())
    return years + [
        each.group().strip()
        for each in figures
        if said.isdisjoint(
            {*_numbers(each.group()), *_years(asked[each.start() : each.end() + len(" century")])}
        )
    ]


def _is_number_said(value: Literal, question: str, *, to_the_day: bool) -> bool:
    match kind_of(value):
        case "number":
            number: float | None = float(value.value)
        case "date":
            number = year_of(value)
            if to_the_day and not _is_day_said(value.value, question):
                return False
        case _:
            return True
    said = {*_numbers(question), *_years(question)}
    return number is None or number in said or (number < 0 and -number in said)  # "18 degrees south"


def _is_day_said(date: str, question: str) -> bool:
    """Return whether a question has month and day of a date, as far as it has any, the month also by name."""
    month, day = (int(part) for part in [*re.findall(r"(?<=\d-)\d\d", date), "0", "0"][:2])
    name = _MONTHS[min(month, 12)]
    numbers = {0, *_numbers(question)}
    named = re.search(rf"\b(?:{name}|{name[:3]})\b", question, re.IGNORECASE)
    return (bool(named) or month in numbers) and day in numbers


def _numbers(question: str) -> Iterator[float]:
    """Yield the numbers of a question, in figures and words, with and without what multiplies them."""
    for each in era_years(question):
        yield from _counted(each.number)
    for first, unit, multiples in _NUMBER.findall(re.sub(ERA_YEAR, " ", question).lower()):
        if first in _PARTS:
            number = _PARTS[first]
        else:
            yield (number := float(NUMBER_WORDS[first] if first in NUMBER_WORDS else first.replace(",", "")))
        if unit:
            yield (number := number + NUMBER_WORDS[unit])
        for multiple in re.findall("|".join(_MULTIPLES), multiples):
            yield (number := number * _MULTIPLES[multiple])


def _counted(year: int) -> tuple[int, ...]:
    """Return how graphs may number a year: 1 BC is -1 or 0."""
    return (year, year + 1) if year < 0 else (year,)


def _years(question: str) -> Iterator[int]:
    """Yield the years of the decades and centuries that a question names, and the next."""
    for decade in _DECADE.findall(question):
        yield from range(10 * int(decade), 10 * int(decade) + 11)
    for century in _CENTURY.findall(question):
        yield from range(100 * int(century) - 100, 100 * int(century) + 2)
