"""Rerank: which relations fit subgoal and blueprint? (CoG §3.2.2, equations 4 to 6)."""

from collections.abc import Sequence

import numpy as np

from kgqa.kg.terms import Chain
from kgqa.nodes.cog.state import (
    CoGState,
    CoGUpdate,
    RankedRelation,
    passed_slots,
    planned_subgoals,
    step_subgoals,
    topic_slots,
)
from kgqa.nodes.look_again import remaining_points
from kgqa.nodes.similarity import SIMILARITY_DECIMALS
from kgqa.priors.candidate_ranking import (
    RelationSignals,
    SignalWeights,
    Similarities,
    align_steps,
    relation_words,
)
from kgqa.priors.slots import Slot
from kgqa.prompts.chain import Extension, extend
from kgqa.runtime.node import NodeRuntime, node


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


def _mean_of_hops(similarity: Similarities, offers: Sequence[Extension]) -> Similarities:
    """Return the similarity of offers, a row each, by that of their hops; a second hop's is one further."""
    found, at = [], 0
    for offer in offers:
        rows = [
            np.append(similarity[at + place, place:], [similarity[at + place, -1]] * place)
            for place in range(len(offer.hops))
        ]
        found.append(np.mean(rows, axis=0) if len(rows) > 1 else rows[0])
        at += len(offer.hops)
    return np.asarray(found, np.float32)


def _rounded(signal: Similarities | None, at: int) -> float | None:
    return None if signal is None else round(float(signal[at]), SIMILARITY_DECIMALS)
