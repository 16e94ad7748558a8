"""Prune, guarded: which of these relations, and which one would the blueprint take? (CoG §3.2.2)."""

from collections.abc import Sequence
from itertools import chain as joined

from kgqa.models.errors import MalformedReply
from kgqa.nodes.cog.state import CoGState, CoGUpdate, PrunedChain, RankedRelation, plan_progress, topic_slots
from kgqa.nodes.frontier.state import prompt_context
from kgqa.nodes.look_again import remaining_points
from kgqa.nodes.retrieve_relations import choose_extensions, reached_names
from kgqa.prompts.pick_relations import PickRelations
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import OutrightChain

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
    chosen, outright, malformed = await _choose_relations(state, runtime)
    added = [each for each in _safeguard(ranking, chosen, state, runtime) if each not in chosen]
    final = chosen + added
    runtime.trace |= {
        "chosen": [str(each.offer) for each in final],
        "added": [str(each.offer) for each in added],
    }
    others = [each for each in ranking if each not in final]
    runtime.trace["set_aside"] = len(others)
    fresh = [_pruned(each, waiting=True) for each in final[1:]]
    pruned = _remember([*fresh, *_set_aside(others)], state)
    if not final:
        if malformed:
            runtime.record_failure(malformed)
        return {"pruned": pruned, "resume_points": remaining_points(state), "decision": "backtrack"}
    taken = final[0].chain
    return {
        "chain": taken,
        "tried": [*state["tried"], taken],
        "pruned": pruned,
        "outright": outright,
        "decision": "forward",
    }


@node("prune")
async def prune_frontier(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model choose from the shortlists of all topics at once, and add what the blueprint would take.

    All that is chosen or added is followed; the rest is remembered as pruned branches.
    """
    ranking, most = state["ranking"], runtime.context.shortlist
    topics = dict.fromkeys(each.chain.topic for each in ranking)
    by_topic = [[each for each in ranking if each.chain.topic == topic] for topic in topics]
    short = (own[: most if own[0].score is not None else None] for own in by_topic)
    offered = sorted(joined.from_iterable(short), key=lambda each: str(each.offer.start))
    prompt = PickRelations(state["question"], tuple(each.offer for each in offered), **prompt_context(state))
    chosen = offered if len(offered) == 1 and not runtime.context.always_ask else []
    if not chosen and (reply := await runtime.ask(prompt)):
        chosen = [offered[number - 1] for number in reply.relations]
        runtime.trace["reason"] = reply.rationale
    safe = [each for own in by_topic for each in _safeguard(own, chosen, state, runtime)]
    added = [str(each.chain) for each in safe if each not in chosen]
    final = list(dict.fromkeys([*chosen, *safe]))
    others = [each for each in ranking if each not in final]
    runtime.trace |= {"chosen": [str(each.chain) for each in final], "added": added, "set_aside": len(others)}
    decisions = dict.fromkeys(each.offer.start for each in others)
    aside = ([each for each in others if each.offer.start == before] for before in decisions)
    return {
        "offers": [each.offer for each in final],
        "frontier": [] if final else state["frontier"],
        "pruned": _remember([branch for each in aside for branch in _set_aside(each)], state),
        "decision": "forward" if final else "backtrack",
    }


def _set_aside(others: list[RankedRelation]) -> list[PrunedChain]:
    """Return the most relevant of what was not chosen at one decision."""
    best = sorted(others, key=lambda each: -(each.relevance or 0.0))[:MAX_REMEMBERED_RELATIONS]
    return list(map(_pruned, best))


def _pruned(each: RankedRelation, *, waiting: bool = False) -> PrunedChain:
    return PrunedChain(each.chain, waiting, each.relevance, len(each.offer.hops))


def _remember(fresh: list[PrunedChain], state: CoGState) -> list[PrunedChain]:
    known = {each.chain for each in fresh}
    return [*(each for each in state["pruned"] if each.chain not in known), *fresh]


async def _choose_relations(
    state: CoGState, runtime: NodeRuntime
) -> tuple[list[RankedRelation], OutrightChain | None, MalformedReply | None]:
    """Ask about the shortlist, then about the rest; without scores all are offered at once.

    Where the model says what is missing, what is most alike to that is shown in place of the rest. Return as
    well what the model says comes after the first, and a malformed reply, which chooses nothing.
    """
    ranking, context = state["ranking"], runtime.context
    if len(ranking) == 1 and not context.always_ask:
        return ranking, None, None
    cut = context.shortlist if ranking and ranking[0].score is not None else MAX_FURTHER_RELATIONS
    rest, missing = ranking[cut : cut + MAX_FURTHER_RELATIONS], context.missing_relations
    hidden = [*(each.offer for each in rest), *state["hidden"]] if missing else []
    for offered in filter(None, [ranking[:cut], rest]):
        prompt = PruneRelations(
            question=state["question"],
            chain=state["chain"],
            offers=tuple(each.offer for each in offered),
            width=context.width,
            progress=plan_progress(state),
            outright=context.outright_answers,
            unites=context.unite,
            reached=reached_names(state["chain"], state) if context.outright_answers else (),
            topics=tuple(state["topic_entities"]),
        )
        try:
            choice = await choose_extensions(prompt, hidden, runtime, runtime.prompt)
        except MalformedReply as error:
            runtime.trace["malformed"] = str(error)
            return [], None, error
        if choice and choice.offers:
            known = {each.offer: each for each in ranking}
            return [known.get(each, RankedRelation(each)) for each in choice.offers], choice.outright, None
        if choice and choice.names_missing:
            break
        hidden = []
    return [], None, None


def _safeguard(
    ranking: Sequence[RankedRelation],
    chosen: Sequence[RankedRelation],
    state: CoGState,
    runtime: NodeRuntime,
) -> list[RankedRelation]:
    """Return the relation most alike to the current slot (structure-consistency safeguard).

    "sparse" does as the public code: only where the model kept fewer than two, the first
    relation that any slot names. "none" adds nothing.
    """
    if not ranking or runtime.context.safeguard == "none":
        return []
    if runtime.context.safeguard == "sparse":
        slots = topic_slots({**state, "chain": ranking[0].chain})
        named = {slot.relation: place for place, slot in reversed(list(enumerate(slots)))}
        exact = [each for each in ranking if each.offer.hops[-1].words in named]
        exact.sort(key=lambda each: (named[each.offer.hops[-1].words], not each.offer.hops[-1].forward))
        return [each for each in exact if each not in chosen][:1] if len(chosen) < 2 else []
    scored = [each for each in ranking if each.step is not None]
    return [max(scored, key=lambda each: (each.step or 0.0, not each.turned))] if scored else []
