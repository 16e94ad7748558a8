"""Prune, guarded: which of these relations, and which one would the blueprint take? (CoG §3.2.2)."""

from collections.abc import Sequence

from kgqa.models.errors import MalformedReply
from kgqa.nodes.cog.state import CoGState, CoGUpdate, PrunedChain, RankedRelation, plan_progress, topic_slots
from kgqa.nodes.look_again import remaining_points
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.runtime.node import NodeRuntime, node

MAX_REMEMBERED_RELATIONS = 20  # relations of one decision that are remembered as pruned at most

MAX_FURTHER_RELATIONS = 500
"""Relations beyond the shortlist that are offered at once, where the shortlist has none."""


@node("prune")
async def prune(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model choose from the shortlist, and add what the blueprint would take.

    Where the model finds nothing on the shortlist, it is shown the rest. The first choice is
    taken up; the others wait, and what was not chosen is remembered, as pruned branches. A
    malformed reply counts as no choice, so that the blueprint's remains.
    """
    chain, ranking = state["chain"], state["ranking"]
    runtime.trace["chain"] = str(chain)
    chosen = await _choose_relations(state, runtime)
    added = [each for each in _safeguard(state, chosen, runtime) if each not in chosen]
    final = chosen + added
    runtime.trace |= {"chosen": [str(each.hop) for each in final], "added": [str(each.hop) for each in added]}
    others = [each for each in ranking if each not in final]
    runtime.trace["set_aside"] = len(others)
    others.sort(key=lambda each: -(each.relevance or 0.0))
    fresh = [PrunedChain(chain.then(each.hop), True, each.relevance) for each in final[1:]]
    fresh += [
        PrunedChain(chain.then(each.hop), False, each.relevance) for each in others[:MAX_REMEMBERED_RELATIONS]
    ]
    known = {each.chain for each in fresh}
    pruned = [*(each for each in state["pruned"] if each.chain not in known), *fresh]
    if not final:
        if "malformed" in runtime.trace:
            runtime.trace["failure"] = MalformedReply.__name__
        return {"pruned": pruned, "resume_points": remaining_points(state), "decision": "backtrack"}
    taken = chain.then(final[0].hop)
    return {"chain": taken, "tried": [*state["tried"], taken], "pruned": pruned, "decision": "forward"}


async def _choose_relations(state: CoGState, runtime: NodeRuntime) -> list[RankedRelation]:
    """Ask about the shortlist, then about the rest; without scores all are offered at once."""
    ranking, topics = state["ranking"], tuple(state["topic_entities"])
    question, chain, width = state["question"], state["chain"], runtime.context.width
    cut = runtime.context.shortlist if ranking[0].score is not None else MAX_FURTHER_RELATIONS
    for offered in (ranking[:cut], ranking[cut : cut + MAX_FURTHER_RELATIONS]):
        if not offered:
            break
        hops = tuple(each.hop for each in offered)
        try:
            prompt = PruneRelations(question, chain, hops, width, plan_progress(state), topics=topics)
            reply = await runtime.prompt(prompt)
        except MalformedReply as error:
            runtime.trace["malformed"] = str(error)
            return []
        runtime.trace["reason"] = reply.rationale
        if reply.relations:
            return [offered[number - 1] for number in reply.relations]
    return []


def _safeguard(
    state: CoGState, chosen: Sequence[RankedRelation], runtime: NodeRuntime
) -> list[RankedRelation]:
    """Return the relation most alike to the current slot (structure-consistency safeguard).

    "sparse" does as the public code: only where the model kept fewer than two, the first
    relation that any slot names.
    """
    ranking = state["ranking"]
    if runtime.context.safeguard == "sparse":
        named = {slot.relation: place for place, slot in reversed(list(enumerate(topic_slots(state))))}
        exact = [each for each in ranking if each.score is not None and each.hop.words in named]
        exact.sort(key=lambda each: (named[each.hop.words], not each.hop.forward))
        return [each for each in exact if each not in chosen][:1] if len(chosen) < 2 else []
    scored = [each for each in ranking if each.step is not None]
    return [max(scored, key=lambda each: (each.step or 0.0, not each.turned))] if scored else []
