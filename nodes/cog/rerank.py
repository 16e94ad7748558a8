"""Rerank, prune: which relations fit subgoal and blueprint? (CoG §3.2.2, equations 4 to 6)."""

from collections.abc import Sequence
from itertools import chain as joined

import numpy as np

from kgqa.kg.terms import Chain
from kgqa.models.errors import MalformedReply
from kgqa.nodes.cog.state import (
    CoGState,
    CoGUpdate,
    PrunedChain,
    RankedRelation,
    passed_slots,
    plan_progress,
    planned_subgoals,
    step_subgoals,
    topic_slots,
)
from kgqa.nodes.frontier.state import prompt_context
from kgqa.nodes.likeness import LIKENESS_DECIMALS
from kgqa.nodes.look_again import remaining_points
from kgqa.nodes.retrieve_relations import choose_extensions, reached_names
from kgqa.priors.candidate_ranking import (
    RelationSignals,
    SignalWeights,
    Similarities,
    align_steps,
    relation_words,
)
from kgqa.priors.slots import Slot
from kgqa.prompts.chain import Extension, extend
from kgqa.prompts.pick_relations import PickRelations
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import OutrightChain


@node("rerank")
async def rerank(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Leave out what was tried, and put the relations in order by the three signals.

    Equal scores are ordered by the direction of the slot, then as the graph gave them.
    Without reranking, or without guidance, they stay as the graph gave them; how like the blueprint each is
    counts still, for the safeguard and for what a diagnosis recalls.
    """
    chain, tried = state["chain"], set(state["tried"])
    runtime.trace["chain"] = str(chain)
    offers = [each for each in state["extensions"] if each.chain not in tried]
    if not offers:
        runtime.trace |= {"signal": "no_candidates", "reason": "every relation here was tried"}
        return {"ranking": [], "resume_points": remaining_points(state), "decision": "backtrack"}
    return {"ranking": _in_order(await _rank(state, offers, runtime), runtime)}


@node("rerank")
async def rerank_frontier(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Put the relations that leave the frontier in order, as `rerank` does those of one chain.

    Equations 4 to 6 are taken to the letter: each hop is a step of the plan, and no slot is passed.
    """
    offers: dict[Chain, list[Extension]] = {}
    for offer in state["offers"]:
        offers.setdefault(offer.start, []).append(offer)
    ranking: list[RankedRelation] = []
    for chain, following in offers.items():
        ranking += await _rank({**state, "chain": chain}, following, runtime)
    return {"ranking": _in_order(ranking, runtime)}


def _in_order(ranking: list[RankedRelation], runtime: NodeRuntime) -> list[RankedRelation]:
    if any(each.score is None for each in ranking):
        return ranking
    ordered = sorted(ranking, key=lambda each: (-(each.score or 0.0), each.turned))
    together = runtime.context.exploration == "frontier"
    best = [f"{each.chain if together else each.offer} {each.score:.3f}" for each in ordered[:3]]
    runtime.trace["best"] = best
    return ordered


async def _rank(state: CoGState, offers: Sequence[Extension], runtime: NodeRuntime) -> list[RankedRelation]:
    context = runtime.context
    if not context.guidance or not (context.reranking or topic_slots(state)):
        return list(map(RankedRelation, offers))
    signals, slot = await _compute_signals(state, offers, runtime)
    scores = None
    if context.reranking:
        scores = signals.fuse(SignalWeights(context.weight_local, context.weight_step, context.weight_global))
        runtime.trace |= {"subgoal": _subgoals(state, runtime)[-1], "slot": str(slot) if slot else None}
    ranked = []
    for at, offer in enumerate(offers):
        step, anywhere = _rounded(signals.step, at), _rounded(signals.glob, at)
        relevance = max((each for each in (step, anywhere) if each is not None), default=None)
        turned = slot is not None and offer.hops[0].forward is not slot.forward
        ranked.append(RankedRelation(offer, _rounded(scores, at), step, relevance, turned))
    return ranked


def _subgoals(state: CoGState, runtime: NodeRuntime) -> list[str]:
    return planned_subgoals(state) if runtime.context.exploration == "frontier" else step_subgoals(state)


async def _compute_signals(
    state: CoGState, offers: Sequence[Extension], runtime: NodeRuntime
) -> tuple[RelationSignals, Slot | None]:
    """Return the signals of equation 5, and the slot that the step is aligned to (equation 4).

    Of an offer of two hops they are the means of both, the second compared with the slots after.
    """
    chain, blueprint, slots = state["chain"], state["blueprint"], topic_slots(state)
    aims, to_the_letter = _subgoals(state, runtime), runtime.context.exploration == "frontier"
    if runtime.context.relevance == "question":
        aims = [state["question"]] * len(aims)
    whole = [blueprint.template] if blueprint and runtime.context.compatibility == "whole" else []
    hop_texts = [relation_words(hop.words) for offer in offers for hop in offer.hops]
    slot_texts = [relation_words(slot.relation) for slot in slots]
    rows = await runtime.encode([*hop_texts, *aims, *slot_texts, *whole])
    relations, wanted, places, raw = np.split(rows, np.cumsum([len(hop_texts), len(aims), len(slots)]))
    local = _mean_of_hops(relations @ wanted[-1:].T, offers)[:, 0]
    if not slots:
        return RelationSignals(local), None
    at: int | None
    if not state["subgoals"]:  # nothing is planned: the next slot that the chain has not taken
        at = min(passed_slots(chain, slots), len(slots) - 1)
    elif runtime.context.alignment == "positional":  # there is no slot past the last
        at = chain.depth if chain.depth < len(slots) else None
    else:
        behind = [passed_slots(chain.upto(depth), slots) for depth in range(chain.depth + 1)]
        at = align_steps(wanted @ places.T, () if to_the_letter else behind)[-1]
    to_slots = _mean_of_hops(relations @ places.T, offers)
    stays = not chain.hops or to_the_letter
    back = None if stays else extend(chain, chain.hops[-1].inverse)
    if back and back in offers:  # no progress, unless a slot to come says so
        passed, words = passed_slots(chain, slots), back.hops[0].words
        named = [place >= passed and slot.relation == words for place, slot in enumerate(slots)]
        to_slots[offers.index(back)] *= named
    anywhere = _mean_of_hops(relations @ raw.T, offers)[:, 0] if whole else to_slots.max(axis=1)
    if at is None:
        return RelationSignals(local, None, anywhere), None
    return RelationSignals(local, to_slots[:, at], anywhere), slots[at]


def _mean_of_hops(likeness: Similarities, offers: Sequence[Extension]) -> Similarities:
    """Return the likeness of offers, a row each, by that of all their hops; a second hop's is one further."""
    found, at = [], 0
    for offer in offers:
        rows = [
            np.append(likeness[at + place, place:], [likeness[at + place, -1]] * place)
            for place in range(len(offer.hops))
        ]
        found.append(np.mean(rows, axis=0) if len(rows) > 1 else rows[0])
        at += len(offer.hops)
    return np.asarray(found, np.float32)


def _rounded(signal: Similarities | None, at: int) -> float | None:
    return None if signal is None else round(float(signal[at]), LIKENESS_DECIMALS)


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
    chosen, outright = await _choose_relations(state, runtime)
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
        if "malformed" in runtime.trace:
            runtime.trace["failure"] = MalformedReply.__name__
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
) -> tuple[list[RankedRelation], OutrightChain | None]:
    """Ask about the shortlist, then about the rest; without scores all are offered at once.

    Where the model says what is missing, what is most alike to that is shown in place of the rest. Return as
    well what the model says comes after the first.
    """
    ranking, context = state["ranking"], runtime.context
    if len(ranking) == 1 and not context.always_ask:
        return ranking, None
    cut = context.shortlist if ranking and ranking[0].score is not None else MAX_FURTHER_RELATIONS
    rest, missing = ranking[cut : cut + MAX_FURTHER_RELATIONS], context.missing_relations
    withheld = [*(each.offer for each in rest), *state["withheld"]] if missing else []
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
            choice = await choose_extensions(prompt, withheld, runtime, runtime.prompt)
        except MalformedReply as error:
            runtime.trace["malformed"] = str(error)
            break
        if choice and choice.offers:
            known = {each.offer: each for each in ranking}
            return [known.get(each, RankedRelation(each)) for each in choice.offers], choice.outright
        if "missing" in runtime.trace:
            break
        withheld = []
    return [], None


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
