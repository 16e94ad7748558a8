"""How prompts show solved questions that are like the one at hand (CoG §3.2.1, EGP §4.2 and §4.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.prompts.base import MAX_TOPICS_SHOWN, quoted

MAX_SOLVED_SHOWN = 8
MAX_SOLVED_CHARS = 300
MAX_BRANCH_HOPS = 8

_HEADING = (
    'Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:'
)


@dataclass(frozen=True, slots=True)
class SolvedQuestion:
    """A solved question and the relations that led to its answers, one branch for each of its topics.

    A relation that was followed against its arrow is written ``^relation``; entities of the
    question stand as what they are or as a mark.
    """

    question: str
    branches: tuple[tuple[str, ...], ...]


def draw_solved_questions(solved: Sequence[SolvedQuestion], heading: str = _HEADING) -> list[str]:
    r"""Draw solved questions under a heading that says how to read them; nothing where there are none.

    >>> print(*draw_solved_questions([SolvedQuestion("Who is from [city]?", (("^born_in",),))]), sep="\n")
    Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:
    - "Who is from [city]?" by ["^born_in"]
    """
    lines = []
    for each in solved[:MAX_SOLVED_SHOWN]:
        shown = (map(quoted, branch[:MAX_BRANCH_HOPS]) for branch in each.branches[:MAX_TOPICS_SHOWN])
        branches = ", ".join(f"[{', '.join(names)}]" for names in shown)
        lines.append(f"- {quoted(each.question, MAX_SOLVED_CHARS)} by {branches}")
    return [heading, *lines] if lines else []
