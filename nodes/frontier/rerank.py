"""Rerank: which entities does the beam hold? (ToG: entity exploration)."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal, TypeAlias

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity
from kgqa.models.errors import MalformedReply
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate
from kgqa.priors.candidate_ranking import bm25_scores
from kgqa.prompts.candidates import ChainFindings, numbered_candidates
from kgqa.prompts.score_entities import ScoreEntities
from kgqa.runtime.node import NodeRuntime, node

LIKENESS_DECIMALS = 6
"""Decimals by which likenesses are compared."""


async def question_likeness(
    texts: Sequence[str], question: str, by: Literal["bm25", "encoder"], runtime: NodeRuntime
) -> list[float]:
    """Return how alike each text is to the question, from 0 to 1; the same for all where none is.

    Raises:
        EncoderError: if there is no encoder.
    """
    if not texts:
        return []
    if by == "bm25":
        scores = await runtime.within_time_limit(asyncio.to_thread(bm25_scores, texts, question))
    else:
        rows = await runtime.encode([*texts, question])
        scores = [max(0.0, round(float(row @ rows[-1]), LIKENESS_DECIMALS)) for row in rows[:-1]]
    return scores if any(scores) else [1 / len(texts)] * len(texts)


_ChainEnd: TypeAlias = tuple[Chain, Candidate]
"""An end of a chain."""


@dataclass(frozen=True, slots=True)
class _BeamEntry:
    """An end that the beam may hold: which chain leads to it, and how much it promises."""

    chain: Chain
    end: Candidate
    score: float


@node("rerank")
async def rerank(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Score the ends of the chosen relations, and keep the ``width`` best of all.

    A score is that of the relation times that of the entity. Ends without a name cannot be
    told apart, and share the score of their relation evenly; so do all of them where the
    model's reply is malformed. The only named end of a relation has its score whole.
    """
    scores = {offer.chain: offer.score for offer in state["offers"]}
    groups = state["found"]
    rated = await _rate_ends([each for each in groups if len(each.named) > 1], state, runtime)
    every = [
        _BeamEntry(group.chain, end, scores.get(group.chain, 0.0) * share)
        for group in groups
        for end, share in _score_shares(group, rated)
    ]
    beam = sorted((each for each in every if each.score > 0), key=lambda each: -each.score)
    return _hold_beam(state, beam[: runtime.context.width], runtime)


async def _shorten_groups(
    groups: Sequence[ChainFindings], state: FrontierState, runtime: NodeRuntime
) -> list[ChainFindings]:
    """Keep of a group that cannot be shown whole what is most alike to the question."""
    listed = {(each.group, each.candidate) for each in numbered_candidates(groups)}
    short = []
    for number, group in enumerate(groups, 1):
        share = sum(of == number for of, _ in listed)
        if share < len(group.named):
            names = [str(end.term) for end in group.named]
            likes = await question_likeness(names, state["question"], "encoder", runtime)
            best = sorted(range(len(names)), key=lambda at: -likes[at])[:share]
            group = replace(group, ends=tuple(group.named[at] for at in sorted(best)))
        short.append(group)
    return short


async def _rate_ends(
    groups: Sequence[ChainFindings], state: FrontierState, runtime: NodeRuntime
) -> dict[_ChainEnd, float]:
    """Return the score of each named end of the groups; none are given where nobody could say."""
    if not groups:
        return {}
    by = runtime.context.pruning
    if by == "model":
        return await _ask_model(await _shorten_groups(groups, state, runtime), state, runtime)
    rows = [(group.chain, end) for group in groups for end in group.named]
    if by in {"bm25", "encoder"}:
        texts = [str(end.term) for _, end in rows]
        return dict(zip(rows, await question_likeness(texts, state["question"], by, runtime), strict=True))
    draws = random.Random(sha256(state["question"].encode("utf-8", "replace")).digest())
    return {row: draws.random() for row in rows}


async def _ask_model(
    groups: Sequence[ChainFindings], state: FrontierState, runtime: NodeRuntime
) -> dict[_ChainEnd, float]:
    rows = [(groups[each.group - 1].chain, each.candidate) for each in numbered_candidates(groups)]
    prompt = ScoreEntities(state["question"], tuple(groups), topics=tuple(state["topic_entities"]))
    try:
        reply = await runtime.prompt(prompt)
    except MalformedReply as error:
        runtime.record_failure(error)
        return {}
    runtime.trace["reason"] = reply.rationale
    said = {each.number: each.score for each in reply.scores}
    return {row: said.get(number, 0.0) for number, row in enumerate(rows, 1)}


def _score_shares(group: ChainFindings, rated: dict[_ChainEnd, float]) -> list[tuple[Candidate, float]]:
    """Return each end its part of the score of its relation."""
    even = 1 / len(group.ends)
    if len(group.named) == 1:
        return [(end, 1.0 if end.term.name else even) for end in group.ends]
    judged = any(chain == group.chain for chain, _ in rated)
    return [
        (end, rated.get((group.chain, end), 0.0) if judged and end.term.name else even) for end in group.ends
    ]


def _hold_beam(state: FrontierState, beam: Sequence[_BeamEntry], runtime: NodeRuntime) -> FrontierUpdate:
    """Hold each chain to its ends in the beam; nothing leads on from a value."""
    runtime.trace["beam"] = [f"{each.chain} {each.end.term} {each.score:.2f}" for each in beam]
    groups: dict[tuple[Chain, bool], list[Candidate]] = {}
    for each in beam:
        groups.setdefault((each.chain, isinstance(each.end.term, Entity)), []).append(each.end)
    found = [ChainFindings(_constrain_chain(chain, ends), tuple(ends)) for (chain, _), ends in groups.items()]
    frontier = [each.chain for each, (_, leads_on) in zip(found, groups, strict=True) if leads_on]
    named = next((group for group in found if group.named), None)
    at_hand: FrontierUpdate = {"chain": named.chain, "candidates": list(named.named)} if named else {}
    return {
        "found": found,
        "frontier": frontier,
        **at_hand,
        "resume_points": [*state["resume_points"], *frontier],
        "decision": "forward" if named else "refine" if frontier else "backtrack",
    }


def _constrain_chain(chain: Chain, ends: Sequence[Candidate]) -> Chain:
    entities = [end.term for end in ends if isinstance(end.term, Entity)]
    return chain.constrained_to(entities) if entities else chain
