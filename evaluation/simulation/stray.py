"""Entities from which the search goes astray."""

from collections.abc import Mapping

from kgqa.evaluation.simulation.case import Case
from kgqa.kg.terms import Chain, Entity

TRIED = 20
"""Candidates that are looked at for one that leads astray."""


async def stray(chain: Chain, entities: Mapping[int, Entity], case: Case) -> list[int]:
    """Draw an end of a chain from which no gold answer is reached; where none is found, half of them all.

    ``entities`` are ends of it, by number.
    """
    drawn = list(case.draws.shuffled("wrong entities", list(entities)))
    for number in drawn[:TRIED]:
        if not await case.oracle.rests(chain.holding([entities[number]])):
            return [number]
    return sorted(drawn[: len(drawn) // 2])
