"""What a handler goes by beside the prompt: the oracle, the error rates, and chance.

Chance depends on the seed, the question and the step, and on nothing else. A step is what the
prompt shows. For each kind of error there is one number between 0 and 1, whatever the rates: a
model that errs more errs where one that errs less does, and elsewhere (common random numbers).
What a model has learned by heart is no matter of the step: it knows an answer or does not,
however and however often it is asked.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple, TypeVar

from kgqa.evaluation.simulation.error_rates import ErrorRates
from kgqa.evaluation.simulation.oracle import Oracle

T = TypeVar("T")


class Draws:
    """The draws of one step.

    Args:
        seed: Of the model.
        question: The id of the question.
        step: What the prompt shows.
    """

    def __init__(self, seed: int, question: str, step: str) -> None:
        about = f"{seed}\n{len(question)}\n{question}\n"
        self._about, self._key = _digest(about), _digest(about + step)

    def uniform(self, kind: str) -> float:
        """Draw from 0 (included) to 1 (excluded)."""
        return _uniform(kind, self._key)

    def throughout(self, kind: str) -> float:
        """Draw likewise, the same at every step of the question."""
        return _uniform(kind, self._about)

    def shuffled(self, kind: str, things: Sequence[T]) -> Iterator[T]:
        """Draw one after the other until none is left."""
        left = list(things)
        for turn in range(len(left)):
            yield left.pop(int(self.uniform(f"{kind} {turn}") * len(left)))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


def _uniform(kind: str, key: bytes) -> float:
    drawn = blake2b(kind.encode(), key=key, digest_size=8).digest()
    return (int.from_bytes(drawn) >> 11) / (1 << 53)


class Case(NamedTuple):
    """One step of a question."""

    oracle: Oracle
    errors: ErrorRates
    draws: Draws

    def happens(self, kind: str, where: str = "") -> bool:
        """Return whether what `Errors` gives a probability of happens at this step.

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
