"""Rerank: which relations fit subgoal and blueprint? (CoG §3.2.2, equations 4 to 6)."""

from collections.abc import Sequence

import numpy as np

from kgqa.kg.terms import Hop
from kgqa.nodes.look_again import points_left
from kgqa.priors.blueprints import Slot
from kgqa.priors.encoder import Vectors
from kgqa.priors.guidance import Likeness, Signals, Weights, align, spaced
from kgqa.session.guided import Guided, GuidedUpdate, Ranked, goals, passed, slots
from kgqa.session.step import Run, step

DIGITS = 6
"""Decimals by which likenesses are compared."""


@step("rerank")
async def rerank(state: Guided, run: Run) -> GuidedUpdate:
    """Leave out what was tried, and put the relations in order by the three signals.

    Equal scores are ordered by the direction of the slot, then as the graph gave them.
    Without reranking, or without guidance, they stay as the graph gave them.
    """
    chain, tried = state["chain"], set(state["tried"])
    run.note["chain"] = str(chain)
    hops = [hop for hop in state["hops"] if chain.then(hop) not in tried]
    if not hops:
        run.note |= {"signal": "no_candidates", "reason": "every relation here was tried"}
        return {"ranking": [], "points": points_left(state), "decision": "backtrack"}
    if not (run.context.guidance and run.context.reranking):
        return {"ranking": [Ranked(hop) for hop in hops]}
    ranking = await _ranked(state, hops, run)
    run.note["best"] = [f"{each.hop} {each.score:.3f}" for each in ranking[:3]]
    return {"ranking": ranking}


async def _ranked(state: Guided, hops: Sequence[Hop], run: Run) -> list[Ranked]:
    here = slots(state)
    signals, slot = await _signals(state, hops, here, run)
    context = run.context
    scores = signals.fused(Weights(context.weight_local, context.weight_step, context.weight_global))
    run.note |= {"subgoal": goals(state)[-1], "slot": str(slot) if slot else None}
    ranked = [
        Ranked(hop, _rounded(scores[at]), _at(signals.step, at), _relevance(signals, at), _turned(hop, slot))
        for at, hop in enumerate(hops)
    ]
    return sorted(ranked, key=lambda each: (-(each.score or 0.0), each.turned))


async def _signals(
    state: Guided, hops: Sequence[Hop], here: Sequence[Slot], run: Run
) -> tuple[Signals, Slot | None]:
    """Give the signals of equation 5, and the slot that the step is aligned to (equation 4)."""
    chain = state["chain"]
    aims = goals(state)
    if run.context.relevance == "question":
        aims = [state["question"]] * len(aims)
    blueprint = state["blueprint"]
    whole = [blueprint.template] if blueprint and run.context.compatibility == "whole" else []
    texts = [*(spaced(hop.words) for hop in hops), *aims, *(spaced(slot.relation) for slot in here), *whole]
    rows = await run.encode(texts)
    relations, wanted, places, raw = np.split(rows, np.cumsum([len(hops), len(aims), len(here)]))
    local = relations @ wanted[-1]
    if not here:
        return Signals(local), None
    at = _aligned(state, wanted @ places.T, here, run)
    to_slots = relations @ places.T
    if chain.hops and (back := chain.hops[-1].inverse) in hops:  # no progress, unless a slot to come says so
        behind = passed(chain, here)
        named = [place >= behind and slot.relation == back.words for place, slot in enumerate(here)]
        to_slots[hops.index(back)] *= named
    glob = (relations @ raw.T)[:, 0] if whole else to_slots.max(axis=1)
    if at is None:
        return Signals(local, None, glob), None
    return Signals(local, to_slots[:, at], glob), here[at]


def _aligned(state: Guided, likeness: Vectors, here: Sequence[Slot], run: Run) -> int | None:
    """Give the slot of the step to come; by position there is none past the last."""
    chain = state["chain"]
    if run.context.alignment == "positional":
        return chain.depth if chain.depth < len(here) else None
    behind = [passed(chain.upto(depth), here) for depth in range(chain.depth + 1)]
    return align(likeness, behind)[-1]


def _relevance(signals: Signals, at: int) -> float | None:
    """Tell how relevant a relation is to the structure: to the slot at hand, or to any."""
    found = [value for signal in (signals.step, signals.glob) if (value := _at(signal, at)) is not None]
    return max(found, default=None)


def _at(signal: Likeness | None, at: int) -> float | None:
    return None if signal is None else _rounded(signal[at])


def _turned(hop: Hop, slot: Slot | None) -> bool:
    """Tell whether a hop goes against the direction of the slot at hand."""
    return slot is not None and hop.forward is not slot.forward


def _rounded(value: float) -> float:
    """Leave out the digits in which two products of equal rows may differ."""
    return round(float(value), DIGITS)
