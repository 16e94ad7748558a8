"""Which relation to follow, and which branch to go back to: those on the way that is believed in."""

from kgqa.models.offline.believing import Believer
from kgqa.prompts.diagnose import BRANCHES, Diagnose, Diagnosis
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations


async def prune(prompt: PruneRelations, believer: Believer) -> PrunedRelations:
    """Choose the relation that the believed way goes on by, then those of others; nothing beside all ways."""
    belief = await believer.believe(prompt.question, prompt.topics or (prompt.chain.topic,))
    numbers = {hop: number for number, hop in enumerate(prompt.hops, 1)}
    hops = belief.next_hops(prompt.chain)
    chosen = [numbers[hop] for hop in hops if hop in numbers] if hops and hops[0] in numbers else []
    return PrunedRelations(rationale=belief.reason, relations=chosen[: prompt.width])


async def diagnose(prompt: Diagnose, believer: Believer) -> Diagnosis:
    """Recall the last branch on the believed way; without one, what was chosen last and not tried."""
    shown = list(enumerate(prompt.pruned[:BRANCHES], 1))
    if not shown:
        return Diagnosis(rationale="no branch is left", step=0)
    topics = prompt.topics or tuple(dict.fromkeys(branch.chain.topic for _, branch in shown))
    belief = await believer.believe(prompt.question, topics)
    right = [(number, branch) for number, branch in shown if belief.begins_with(branch.chain)]
    number, branch = max(
        right or shown, key=lambda each: (each[1].step, each[1].waiting, each[1].relevance or 0.0, -each[0])
    )
    why = belief.reason if right else "the last decision with a branch left"
    return Diagnosis(rationale=why, step=branch.step, recall=[number])
