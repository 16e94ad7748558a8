"""Chance that depends on the seed, the question and the step, and on nothing else.

A step is what the prompt shows. For each kind of error there is one number between 0 and 1,
whatever the rates: a model that errs more errs where one that errs less does, and elsewhere
(common random numbers). What a model has learned by heart is no matter of the step: it knows
an answer or does not, however and however often it is asked.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TypeVar

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
        return _drawn(kind, self._key)

    def throughout(self, kind: str) -> float:
        """Draw likewise, the same at every step of the question."""
        return _drawn(kind, self._about)

    def shuffled(self, kind: str, things: Sequence[T]) -> Iterator[T]:
        """Draw one after the other until none is left."""
        left = list(things)
        for turn in range(len(left)):
            yield left.pop(int(self.uniform(f"{kind} {turn}") * len(left)))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


def _drawn(kind: str, key: bytes) -> float:
    drawn = blake2b(kind.encode(), key=key, digest_size=8).digest()
    return (int.from_bytes(drawn) >> 11) / (1 << 53)
