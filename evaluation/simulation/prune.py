"""Picks relations."""

from kgqa.evaluation.simulation.case import Case
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations


async def prune(prompt: PruneRelations, case: Case) -> PrunedRelations:
    """Pick the relation that leads on to the answers, and nothing where there is none.

    A wrong choice is one wrong relation, and after it the right one where the model recalls it.
    """
    right = await case.oracle.right_hop(prompt.chain, prompt.hops)
    picks = [] if right is None else [right]
    if not case.happens("accuracy") and (wrong := await _wrong(prompt, case, right)) is not None:
        recalled = prompt.width > 1 and case.happens("recall")
        picks = [wrong, *picks] if recalled else [wrong]
    return PrunedRelations(relations=[place + 1 for place in picks])


async def _wrong(prompt: PruneRelations, case: Case, right: int | None) -> int | None:
    """Draw a relation that does not lead to the answers; where none does, any is wrong."""
    for place in case.draws.shuffled("wrong relations", range(len(prompt.hops))):
        if right is None or not (
            place == right or await case.oracle.rests(prompt.chain.then(prompt.hops[place]))
        ):
            return place
    return None
