"""How a blueprint ranks the relations that can follow (CoG §3.2.2, equations 4 to 6).

All likenesses are cosines of the vectors of an encoder. Steps and slots count from 0 here,
from 1 in the paper.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Likeness = npt.NDArray[np.float32]


def spaced(name: str) -> str:
    """Write the name of a relation as the encoder reads it: h() of the paper.

    >>> spaced("film.director.film_s")
    'film director film s'
    """
    return " ".join(name.replace(".", " ").replace("_", " ").split())


class Weights(NamedTuple):
    """What each of the three signals counts; they need not add up to 1 (equation 6)."""

    local: float
    step: float
    glob: float


class Signals(NamedTuple):
    """The signals of equation 5, each of shape (relations,); None for one that is missing."""

    local: Likeness | None
    """Likeness to the subgoal (5a)."""
    step: Likeness | None = None
    """Likeness to the slot that the step is aligned to (5b)."""
    glob: Likeness | None = None
    """Likeness to the slot that is most alike (5c)."""

    def fused(self, weights: Weights) -> Likeness:
        """Give the weighted mean of the signals that are there, shape (relations,) (equation 6).

        The weights of those that are there are made to add up to 1; where they add up to 0,
        every score is 0.

        Raises:
            ValueError: if no signal is there.
        """
        there = [(weight, signal) for weight, signal in zip(weights, self, strict=True) if signal is not None]
        if not there:
            raise ValueError("at least one signal is needed")
        total = sum(weight for weight, _ in there)
        fused = sum((weight * signal for weight, signal in there), np.zeros_like(there[0][1]))
        return np.asarray(fused / total if total else fused, np.float32)


def align(likeness: Likeness, passed: Sequence[int] = ()) -> list[int]:
    """Align each step with a slot of the blueprint (equation 4).

    The slot is the one most alike to the step's subgoal among those from the slot of the step
    before on; the first of equals. Steps beyond the last slot stay at it.

    Args:
        likeness: of subgoals to slots, shape (steps, slots), at least one slot.
        passed: how many slots lie behind a chain before each step, as far as that is known:
            a slot whose relation the chain has taken is not waited at again. (The paper has
            no such rule; without it, the nodes after an unnamed one, at which the subgoal is
            still the same, could never be aligned with the next slot.)

    Returns:
        The slot of each step; it never decreases.
    """
    steps, slots = likeness.shape
    aligned: list[int] = []
    for step in range(steps):
        before = aligned[-1] if aligned else 0
        least = min(max(before, passed[step] if step < len(passed) else 0), slots - 1)
        beyond = step >= slots
        aligned.append(slots - 1 if beyond else least + int(np.argmax(likeness[step, least:])))
    return aligned
