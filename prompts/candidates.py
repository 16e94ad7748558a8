"""How prompts show candidates, and how a reply takes answers from them."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal as Choice

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Literal, Term
from kgqa.prompts.base import numbered, quoted

SHOWN = 100
"""Candidates that one prompt shows at most."""

Take = Choice["all", "others", "some", "count", "smallest", "largest"]

DIGITS = 400
"""Digits that a number of the graph may have on either side of its point."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")

_DATE = re.compile(r"(-?[0-9]{4,9})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})[^ ]{0,20})?")

XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def draw_candidates(candidates: Sequence[Candidate], truncated: bool = False) -> str:
    """Number the candidates; those marked ``*`` are reached only by way of the topic."""
    total = f"more than {len(candidates)}" if truncated else str(len(candidates))
    note = f"{total}, the first {SHOWN} shown" if len(candidates) > SHOWN else total
    return f"Candidates ({note}):\n{numbered(map(draw_candidate, candidates[:SHOWN]))}"


def draw_candidate(candidate: Candidate) -> str:
    """Quote a candidate and mark it if it is reached only by way of the topic."""
    return quoted(str(candidate.term)) + (" *" if candidate.returning else "")


def number_of(term: Term) -> Decimal | None:
    """Read a literal as a finite number of at most `DIGITS` digits, None where it is not one."""
    if not isinstance(term, Literal) or len(term.value) > DIGITS or not _NUMBER.fullmatch(term.value):
        return None
    value = Decimal(term.value)
    return value if abs(value.adjusted()) <= DIGITS else None


def _date_of(term: Term) -> tuple[int, ...] | None:
    """Read a literal as a date or a time of the proleptic calendar, None where it is not one."""
    found = _DATE.fullmatch(term.value) if isinstance(term, Literal) else None
    return tuple(int(part or 0) for part in found.groups()) if found else None


def _ordered(terms: Sequence[Term]) -> dict[Term, Decimal] | dict[Term, tuple[int, ...]]:
    """Give each term's place in an order: all numbers, or all dates, else nothing."""
    numbers = {term: number for term in terms if (number := number_of(term)) is not None}
    if len(numbers) == len(terms):
        return numbers
    dates = {term: date for term in terms if (date := _date_of(term)) is not None}
    return dates if len(dates) == len(terms) else {}


def check_take(
    take: Take, chosen: Sequence[int], candidates: Sequence[Candidate], truncated: bool = False
) -> None:
    """Hold what a reply takes against the candidates.

    Raises:
        ValueError: if nothing is taken, or more than is there, or numbers where there are none.
    """
    if chosen and take != "some":
        raise ValueError(f'"chosen" goes with take "some", not with "{take}"')
    if truncated and take in {"count", "smallest", "largest"}:
        raise ValueError(f'there are too many candidates to compute the "{take}" from')
    if take == "some" and not chosen:
        raise ValueError('with take "some", name at least one candidate number in "chosen"')
    if take == "others" and all(c.returning for c in candidates):
        raise ValueError("every candidate is marked with *; there are no others")
    if take in {"smallest", "largest"} and not _ordered([c.term for c in candidates]):
        raise ValueError(f'"{take}" needs candidates that are all numbers, or all dates')


def taken(take: Take, chosen: Sequence[int], candidates: Sequence[Candidate]) -> tuple[Term, ...]:
    """Give the candidates that a reply takes as answers or computes its value from.

    What is reached only by coming back to the topic is not counted.
    """
    if take == "some":
        return tuple(candidates[number - 1].term for number in chosen)
    fresh = tuple(c.term for c in candidates if not c.returning)
    return fresh if take == "others" or (take == "count" and fresh) else tuple(c.term for c in candidates)


def aggregate(take: Take, terms: Sequence[Term]) -> Literal | None:
    """Compute the value asked for from terms of the graph, None where none is.

    There is no sum: candidates are distinct, and so two equal values are one.

    >>> str(aggregate("count", [Literal("7"), Literal("9")]))
    '2'
    """
    if take == "count":
        return Literal(str(len(terms)), XSD_INTEGER)
    places = _ordered(terms)
    if take not in {"smallest", "largest"} or not places:
        return None
    best = (min if take == "smallest" else max)(places, key=places.__getitem__)
    return best if isinstance(best, Literal) else None
