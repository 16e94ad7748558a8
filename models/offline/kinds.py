"""What kind of answer the words of a question ask for, and what kind a way leads to."""

import re
from collections.abc import Sequence

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Literal

_WHEN = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:year|date|day|time|month)\b|\bbirth ?(?:day|date)\b", re.IGNORECASE
)
_WHO = re.compile(r"\b(?:who|whom|whose|where)\b", re.IGNORECASE)
_DATE = re.compile(r"-?\d{4}(?:-\d\d(?:-\d\d)?)?(?:$|T)")

LOOKED_AT = 12
"""Ends whose kind is looked at."""


def asks_when(question: str) -> bool:
    """Return whether a question asks for a date."""
    return _WHEN.search(question) is not None


def asks_whom(question: str) -> bool:
    """Return whether a question asks for somebody or for a place, neither of which is a value."""
    return _WHO.search(question) is not None


def values(ends: Sequence[Candidate]) -> float:
    """Return the share of ends that are values."""
    shown = ends[:LOOKED_AT]
    return sum(isinstance(end.term, Literal) for end in shown) / max(1, len(shown))


def dates(ends: Sequence[Candidate]) -> float:
    """Return the share of ends that are dates, or years."""
    shown = ends[:LOOKED_AT]
    return sum(isinstance(t := end.term, Literal) and bool(_DATE.match(t.value)) for end in shown) / max(
        1, len(shown)
    )
