"""How a reply scores what was offered (ToG: relation and entity scoring)."""

from collections.abc import Sequence

from pydantic import Field

from kgqa.prompts.base import Reply, check_numbers


class Score(Reply):
    """How much one of the numbered lines promises."""

    number: int = Field(description="the number of the line")
    score: float = Field(description="from 0 to 1")


class Scores(Reply):
    """Scores of some of the lines; those that are left out have 0."""

    rationale: str = Field(default="", description="one short sentence: why")
    scores: list[Score] = Field(description="a number and a score each; those left out have 0")


def check_scores(scores: Sequence[Score], offered: int, what: str) -> None:
    """Refuse numbers that were not offered or come twice, and scores beyond 0 to 1.

    Raises:
        ValueError: naming the first offending number or score.
    """
    check_numbers([each.number for each in scores], offered, what)
    for each in scores:
        if not 0 <= each.score <= 1:
            raise ValueError(f"{what} {each.number} has the score {each.score}; give one from 0 to 1")
