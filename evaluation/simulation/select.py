"""Picks the relations and the entities that a step of a search goes on with."""

from collections.abc import Sequence

from kgqa.evaluation.simulation.case import Case, wrong_choice
from kgqa.kg.terms import Chain, Entity, Path, Term
from kgqa.prompts.facts import Offer
from kgqa.prompts.select_entities import SelectedEntities, SelectEntities
from kgqa.prompts.select_relations import SelectedRelations, SelectRelations


async def select_relations(prompt: SelectRelations, case: Case) -> SelectedRelations:
    """Pick every relation that leads on to the answers from any place where it is offered.

    A wrong choice picks as many others; where the model recalls the right ones, they come after.
    """
    right = await leading_on(prompt.frontier, prompt.offers, case)
    if case.happens("accuracy"):
        return SelectedRelations(relations=right)
    drawn = case.draws.shuffled("wrong relations", range(1, len(prompt.offers) + 1))
    wrong = [number for number in drawn if number not in right][: max(1, len(right))]
    recalled = right if case.happens("recall") or not wrong else []
    return SelectedRelations(relations=[*wrong, *recalled])


async def leading_on(frontier: Sequence[Path], offers: Sequence[Offer], case: Case) -> list[int]:
    """Number the relations on a way to the answers, or those that take the place of one not offered."""
    chains: dict[Chain, list[int]] = {}
    for number, offer in enumerate(offers, 1):
        for chain in dict.fromkeys(frontier[head].chain for head in offer.heads):
            chains.setdefault(chain, []).append(number)
    right: set[int] = set()
    for chain, numbers in chains.items():
        right.update(await _leading(chain, numbers, offers, case))
    return sorted(right)


async def _leading(chain: Chain, numbers: Sequence[int], offers: Sequence[Offer], case: Case) -> list[int]:
    own = [n for n in numbers if await case.oracle.right_hop(chain, [offers[n - 1].hop]) is not None]
    if own or not any(await case.oracle.rests(chain)):
        return own
    return [n for n in numbers if await case.oracle.rests(chain.then(offers[n - 1].hop))]


async def select_entities(prompt: SelectEntities, case: Case) -> SelectedEntities:
    """Go on from all, or from those that lead to a gold answer where others are among them.

    Where not all are shown, all are kept. A wrong choice is of others.
    """
    shown = prompt.offered
    chosen = (
        list(range(1, len(shown) + 1)) if prompt.total > len(shown) else await _leading_to_gold(shown, case)
    )
    if case.happens("entity"):
        chosen = wrong_choice(chosen, len(shown), case.draws)
    some = 0 < len(chosen) < len(shown)
    return SelectedEntities(keep="some", chosen=chosen) if some else SelectedEntities(keep="all")


async def _leading_to_gold(shown: Sequence[Term], case: Case) -> list[int]:
    """Number the candidates from which a gold answer is reached; all, or none, where that is not known."""
    oracle = case.oracle
    for topic, hops in await oracle.plans():
        for depth in range(1, len(hops) + 1):
            chain = Chain(topic, hops[:depth])
            if set(shown) <= {*await oracle.terrain.ends(chain)}:
                if depth == len(hops):
                    return [n for n, right in enumerate(oracle.gold.mark(shown).right, 1) if right]
                if all(oracle.gold.mark(await oracle.terrain.ends(Chain(topic, hops))).right):
                    return []
                entities = [(n, term) for n, term in enumerate(shown, 1) if isinstance(term, Entity)]
                return [n for n, term in entities if await oracle.rests(chain.holding([term]))]
    return []
