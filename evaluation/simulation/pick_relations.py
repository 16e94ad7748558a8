"""Picks the relations that a whole frontier goes on along."""

from collections.abc import Iterable, Mapping, Sequence

from kgqa.evaluation.simulation.case import Case
from kgqa.kg.terms import Chain
from kgqa.prompts.chain import base_of
from kgqa.prompts.pick_relations import PickedRelations, PickRelations


async def pick_relations(prompt: PickRelations, case: Case) -> PickedRelations:
    """Pick every relation that leads on to the answers, and nothing where there is none.

    A wrong choice picks as many others; where the model recalls the right ones, they come after.
    """
    right = [number for numbers in (await leading(prompt.offers, case)).values() for number in numbers]
    if case.happens("accuracy"):
        return PickedRelations(relations=right)
    wrong = await astray(range(1, len(prompt.offers) + 1), prompt.offers, max(1, len(right)), case)
    recalled = right if not wrong or case.happens("recall") else []
    return PickedRelations(relations=[*wrong, *recalled])


async def leading(offers: Sequence[Chain], case: Case) -> Mapping[Chain, list[int]]:
    """Number, for each chain that is extended, the offers on a way, or those that take the place of one.

    A chain at the end of a way needs none.
    """
    found: dict[Chain, list[int]] = {}
    for number, offer in enumerate(offers, 1):
        found.setdefault(base_of(offer), []).append(number)
    return {chain: await _leading(chain, numbers, offers, case) for chain, numbers in found.items()}


async def astray(numbers: Iterable[int], offers: Sequence[Chain], most: int, case: Case) -> list[int]:
    """Draw at most so many of the numbered offers, none of which leads to the answers."""
    found: list[int] = []
    for number in case.draws.shuffled("wrong relations", list(numbers)):
        if len(found) == most:
            break
        if not await case.oracle.rests(offers[number - 1]):
            found.append(number)
    return found


async def _leading(chain: Chain, numbers: Sequence[int], offers: Sequence[Chain], case: Case) -> list[int]:
    rests = await case.oracle.rests(chain)
    if not rests or () in rests:
        return []
    own = [n for n in numbers if await case.oracle.right_hop(chain, [offers[n - 1].hops[-1]]) is not None]
    return own or [n for n in numbers if await case.oracle.rests(offers[n - 1])]
