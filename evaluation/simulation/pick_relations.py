"""Picks the relations that a whole frontier goes on along."""

from collections.abc import Mapping, Sequence

from kgqa.evaluation.simulation.case import Case
from kgqa.kg.terms import Chain
from kgqa.prompts.chain import base_of
from kgqa.prompts.pick_relations import PickedRelations, PickRelations


async def pick_relations(prompt: PickRelations, case: Case) -> PickedRelations:
    """Pick, from each chain of the frontier, what leads on to the answers, and nothing where nothing does.

    The choice from each chain is right or wrong by itself. A wrong one picks as many others; where
    the model recalls the right ones, they come after.
    """
    picks: list[int] = []
    for chain, right in (await leading(prompt.offers, case)).items():
        wrong = await mistaken(chain, prompt.offers, max(1, len(right)), case)
        recalled = not wrong or case.happens("recall", str(chain))
        picks += [*wrong, *(right if recalled else [])]
    return PickedRelations(relations=picks)


async def leading(offers: Sequence[Chain], case: Case) -> Mapping[Chain, list[int]]:
    """Number, for each chain that is extended, the offers on a way, or those that take the place of one.

    A chain at the end of a way needs none.
    """
    found: dict[Chain, list[int]] = {}
    for number, offer in enumerate(offers, 1):
        found.setdefault(base_of(offer), []).append(number)
    return {chain: await _leading(chain, numbers, offers, case) for chain, numbers in found.items()}


async def mistaken(chain: Chain, offers: Sequence[Chain], most: int, case: Case) -> list[int]:
    """Draw at most so many of the offers that extend a chain and lead astray, where the choice is wrong."""
    found: list[int] = []
    own = [number for number, offer in enumerate(offers, 1) if base_of(offer) == chain]
    drawn = (
        () if case.happens("accuracy", str(chain)) else case.draws.shuffled(f"wrong relations {chain}", own)
    )
    for number in drawn:
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
