"""Picks relations."""

from kgqa.evaluation.simulation.case import Case
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations


async def prune(prompt: PruneRelations, case: Case) -> PrunedRelations:
    """Pick the relation that leads on to the answers, and nothing where there is none.

    A wrong choice has as many picks as allowed, a wrong one first. Where the model recalls
    the right one, it is at a drawn place among the others.
    """
    right = await case.oracle.right_hop(prompt.chain, prompt.hops)
    if case.happens("accuracy"):
        return PrunedRelations(relations=[] if right is None else [right + 1])
    picks = await _wrong(prompt, case, right)
    if not picks and right is not None:
        return PrunedRelations(relations=[right + 1])
    if right is not None and prompt.width > 1 and case.happens("recall"):
        last = min(len(picks), prompt.width - 1)
        picks.insert(1 + int(case.draws.uniform("place") * last), right)
    return PrunedRelations(relations=[place + 1 for place in picks[: prompt.width]])


async def _wrong(prompt: PruneRelations, case: Case, right: int | None) -> list[int]:
    """Draw relations that do not lead to the answers; where none does, any is wrong."""
    found: list[int] = []
    for place in case.draws.shuffled("wrong relations", range(len(prompt.hops))):
        if len(found) == prompt.width:
            break
        if right is None or not (
            place == right or await case.oracle.rests(prompt.chain.then(prompt.hops[place]))
        ):
            found.append(place)
    return found
