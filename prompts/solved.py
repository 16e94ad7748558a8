"""How prompts show solved questions that are like the one at hand (CoG §3.2.1, EGP §4.2 and §4.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.prompts.base import QUESTION_LIMIT, quoted


@dataclass(frozen=True, slots=True)
class Solved:
    """A solved question and the relations that led to its answers, one branch for each of its topics.

    A relation that was followed against its arrow is written ``^relation``; entities of the
    question stand as what they are or as a mark.
    """

    question: str
    branches: tuple[tuple[str, ...], ...]


def draw_solved(solved: Sequence[Solved]) -> list[str]:
    """Draw solved questions, two lines each.

    >>> draw_solved([Solved("Who is from [city]?", (("^born_in",),))])
    ['Solved before: "Who is from [city]?"', '  by: "^born_in"']
    """
    return [line for each in solved for line in _lines(each)]


def _lines(solved: Solved) -> tuple[str, str]:
    branches = (", ".join(map(quoted, branch)) for branch in solved.branches)
    return f"Solved before: {quoted(solved.question, QUESTION_LIMIT)}", f"  by: {' and '.join(branches)}"
