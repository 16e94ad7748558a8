"""Exemplars: what one masked question taught about one of its topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kgqa.kg.asked import Asked
from kgqa.priors.blueprints.slots import Slot

HopScores: TypeAlias = tuple[Mapping[Slot | None, float], ...]
"""For each position of a chain from 0, the natural log-probability of each slot that training
has there; None is the end of the chain."""


ALL = Asked()


@dataclass(frozen=True, slots=True, order=True)
class Exemplar:
    """A masked question, and the chain from one of its topics to its answer.

    Attributes:
        question: Masked for that topic: ``[ENT]`` it, ``[OTHER]`` the others.
        chain: From that topic to the answer.
        asked: What is asked of the ends.
        weight: How many training questions it stands for.
    """

    question: str
    chain: tuple[Slot, ...]
    asked: Asked = ALL
    weight: int = 1


class Near(NamedTuple):
    """An exemplar near to a question, and how near it is, at most 1."""

    exemplar: Exemplar
    similarity: float
