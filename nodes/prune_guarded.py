"""Prune, guarded: which of these relations, and which one would the blueprint take? (CoG §3.2.2)."""

from collections.abc import Sequence

from kgqa.models.errors import MalformedReply
from kgqa.nodes.look_again import points_left
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.session.guided import Guided, GuidedUpdate, Pruned, Ranked, progress, slots
from kgqa.session.step import Run, step

SET_ASIDE = 20
"""Relations of one decision that are remembered as pruned at most."""

REST = 500
"""Relations beyond the shortlist that are offered at once, where the shortlist has none."""


@step("prune")
async def prune_guarded(state: Guided, run: Run) -> GuidedUpdate:
    """Let the model choose from the shortlist, and add what the blueprint would take.

    Where the model finds nothing on the shortlist, it is shown the rest. The first choice is
    taken up; the others wait, and what was not chosen is remembered, as pruned branches. A
    malformed reply counts as no choice, so that the blueprint's remains.
    """
    chain, ranking = state["chain"], state["ranking"]
    run.note["chain"] = str(chain)
    chosen = await _chosen(state, run)
    added = [each for each in _safeguard(state, chosen, run) if each not in chosen]
    final = chosen + added
    run.note |= {"chosen": [str(each.hop) for each in final], "added": [str(each.hop) for each in added]}
    others = [each for each in ranking if each not in final]
    run.note["set_aside"] = len(others)
    if not final:
        if "malformed" in run.note:
            run.note["failure"] = MalformedReply.__name__
        left = points_left(state)
        return {"pruned": _remembered(state, [], others), "points": left, "decision": "backtrack"}
    best, *waiting = final
    taken = chain.then(best.hop)
    return {
        "chain": taken,
        "tried": [*state["tried"], taken],
        "pruned": _remembered(state, waiting, others),
        "decision": "forward",
    }


async def _chosen(state: Guided, run: Run) -> list[Ranked]:
    """Ask about the shortlist, then about the rest; without scores all are offered at once."""
    ranking = state["ranking"]
    cut = run.context.shortlist if ranking[0].score is not None else REST
    for offered in (ranking[:cut], ranking[cut : cut + REST]):
        if not offered:
            break
        prompt = PruneRelations(
            state["question"],
            state["chain"],
            tuple(each.hop for each in offered),
            run.context.width,
            progress(state),
            tuple(state["topic_entities"]),
        )
        try:
            reply = await run.ask(prompt)
        except MalformedReply as error:
            run.note["malformed"] = str(error)
            return []
        run.note["reason"] = reply.rationale
        if reply.relations:
            return [offered[number - 1] for number in reply.relations]
    return []


def _safeguard(state: Guided, chosen: Sequence[Ranked], run: Run) -> list[Ranked]:
    """Give the relation most alike to the slot at hand (structure-consistency safeguard).

    "sparse" is the public code's way: only where the model kept fewer than two, the first
    relation that any slot names.
    """
    ranking = state["ranking"]
    if run.context.safeguard == "sparse":
        named = {slot.relation: place for place, slot in reversed(list(enumerate(slots(state))))}
        exact = [each for each in ranking if each.score is not None and each.hop.words in named]
        exact = sorted(exact, key=lambda each: (named[each.hop.words], not each.hop.forward))
        return [each for each in exact if each not in chosen][:1] if len(chosen) < 2 else []
    scored = [each for each in ranking if each.step is not None]
    return [max(scored, key=lambda each: (each.step or 0.0, not each.turned))] if scored else []


def _remembered(state: Guided, waiting: Sequence[Ranked], others: Sequence[Ranked]) -> list[Pruned]:
    """Add the branches of this decision to those that were set aside before."""
    chain = state["chain"]
    fresh = [Pruned(chain.then(each.hop), True, each.relevance) for each in waiting]
    best = sorted(others, key=lambda each: -(each.relevance or 0.0))[:SET_ASIDE]
    fresh += [Pruned(chain.then(each.hop), False, each.relevance) for each in best]
    known = {each.chain for each in fresh}
    return [*(each for each in state["pruned"] if each.chain not in known), *fresh]
