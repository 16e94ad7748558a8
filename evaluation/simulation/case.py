"""What a handler goes by, beside the prompt, and how it chooses wrongly."""

from collections.abc import Sequence
from typing import NamedTuple

from kgqa.evaluation.simulation.draws import Draws
from kgqa.evaluation.simulation.errors import Errors
from kgqa.evaluation.simulation.oracle import Oracle


class Case(NamedTuple):
    """One step of a question."""

    oracle: Oracle
    errors: Errors
    draws: Draws

    def happens(self, kind: str, where: str = "") -> bool:
        """Tell whether what `Errors` gives a probability of happens at this step.

        A step that has several choices to make names the place of each. ``memory`` is no
        matter of the step, but of the question.
        """
        rate: float | None = getattr(self.errors, kind)
        draw = self.draws.throughout if kind == "memory" else self.draws.uniform
        drawn = draw(f"{kind} {where}".rstrip())
        return drawn < (self.errors.accuracy if rate is None else rate)


def wrong_choice(right: Sequence[int], offered: int, draws: Draws) -> list[int]:
    """Choose wrongly from so many numbered things: as many others, or a part where there are no others.

    Nothing can be chosen, and the list is empty, where the only thing is the right one.
    """
    others = [number for number in range(1, offered + 1) if number not in set(right)]
    size = min(len(others), max(1, len(right))) if others else len(right) // 2
    drawn = draws.shuffled("wrong entities", others or list(right))
    return sorted(next(drawn) for _ in range(size))
