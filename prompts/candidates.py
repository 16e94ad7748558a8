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

XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def draw_candidates(candidates: Sequence[Candidate], truncated: bool = False) -> str:
    """Number the candidates; those marked ``*`` are reached only by way of the topic."""
    total = f"more than {len(candidates)}" if truncated else str(len(candidates))
    note = f"{total}, the first {SHOWN} shown" if len(candidates) > SHOWN else total
    lines = (quoted(str(c.term)) + (" *" if c.returning else "") for c in candidates[:SHOWN])
    return f"Candidates ({note}):\n{numbered(lines)}"


def number_of(term: Term) -> Decimal | None:
    """Read a literal as a finite number of at most `DIGITS` digits, None where it is not one."""
    if not isinstance(term, Literal) or len(term.value) > DIGITS or not _NUMBER.fullmatch(term.value):
        return None
    value = Decimal(term.value)
    return value if abs(value.adjusted()) <= DIGITS else None


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
    if take in {"smallest", "largest"} and any(number_of(c.term) is None for c in candidates):
        raise ValueError(f'"{take}" needs candidates that are all numbers')


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
    numbers = [
        (number, term)
        for term in terms
        if isinstance(term, Literal) and (number := number_of(term)) is not None
    ]
    if take not in {"smallest", "largest"} or not numbers:
        return None
    return (min if take == "smallest" else max)(numbers)[1]
