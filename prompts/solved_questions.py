"""How prompts show solved questions that are like the one at hand (CoG §3.2.1, EGP §4.2 and §4.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.prompts.base import MAX_TOPICS_SHOWN, quoted

MAX_SOLVED_SHOWN = 8
"""Solved questions that one prompt shows at most."""

MAX_SOLVED_CHARS = 300
"""Characters of a solved question that a prompt shows at most."""

MAX_BRANCH_HOPS = 8
"""Relations that one branch has at most."""


@dataclass(frozen=True, slots=True)
class SolvedQuestion:
    """A solved question and the relations that led to its answers, one branch for each of its topics.

    A relation that was followed against its arrow is written ``^relation``; entities of the
    question stand as what they are or as a mark.
    """

    question: str
    branches: tuple[tuple[str, ...], ...]


def draw_solved_questions(solved: Sequence[SolvedQuestion]) -> list[str]:
    r"""Draw solved questions under a heading that says how to read them; nothing where there are none.

    >>> print(*draw_solved([Solved("Who is from [city]?", (("^born_in",),))]), sep="\n")
    Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:
    - "Who is from [city]?" by ["^born_in"]
    """
    return [_HEADING, *map(_draw_solved_question, solved[:MAX_SOLVED_SHOWN])] if solved else []


_HEADING = (
    'Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:'
)


def _draw_solved_question(solved: SolvedQuestion) -> str:
    branches = (
        f"[{', '.join(map(quoted, branch[:MAX_BRANCH_HOPS]))}]"
        for branch in solved.branches[:MAX_TOPICS_SHOWN]
    )
    return f"- {quoted(solved.question, MAX_SOLVED_CHARS)} by {', '.join(branches)}"
