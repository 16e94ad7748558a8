"""Rerank: the entities that the beam holds (ToG: entity exploration)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeAlias

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity
from kgqa.models.errors import MalformedReply
from kgqa.nodes.likeness import likeness
from kgqa.prompts.found import Found, shown
from kgqa.prompts.score_entities import ScoreEntities
from kgqa.session.frontier import Frontier, FrontierUpdate
from kgqa.session.step import Run, step

_Row: TypeAlias = tuple[Chain, Candidate]
"""An end of a chain."""


@dataclass(frozen=True, slots=True)
class _Held:
    """An end that the beam may hold: which chain leads to it, and how much it promises."""

    chain: Chain
    end: Candidate
    score: float


@step("rerank")
async def score_entities(state: Frontier, run: Run) -> FrontierUpdate:
    """Score the ends of the chosen relations, and keep the ``width`` best of all.

    A score is that of the relation times that of the entity. Ends without a name cannot be
    told apart, and share the score of their relation evenly; so do all of them where the
    model's reply is malformed. The only named end of a relation has its score whole.
    """
    scores = {offer.chain: offer.score for offer in state["offers"]}
    groups = state["found"]
    rated = await _rated([each for each in groups if len(each.named) > 1], state, run)
    every = [
        _Held(group.chain, end, scores.get(group.chain, 0.0) * share)
        for group in groups
        for end, share in _shares(group, rated)
    ]
    beam = sorted((each for each in every if each.score > 0), key=lambda each: -each.score)
    return _on(state, beam[: run.context.width], run)


async def _shortened(groups: Sequence[Found], state: Frontier, run: Run) -> list[Found]:
    """Keep of a group that cannot be shown whole what is most alike to the question."""
    listed = {(each.group, each.candidate) for each in shown(groups)}
    short = []
    for number, group in enumerate(groups, 1):
        share = sum(of == number for of, _ in listed)
        if share < len(group.named):
            names = [str(end.term) for end in group.named]
            likes = await likeness(names, state["question"], "encoder", run)
            best = sorted(range(len(names)), key=lambda at: -likes[at])[:share]
            group = replace(group, ends=tuple(group.named[at] for at in sorted(best)))
        short.append(group)
    return short


async def _rated(groups: Sequence[Found], state: Frontier, run: Run) -> dict[_Row, float]:
    """Give the score of each named end of the groups; none are given where nobody could say."""
    if not groups:
        return {}
    by = run.context.pruning
    if by == "model":
        return await _by_model(await _shortened(groups, state, run), state, run)
    rows = [(group.chain, end) for group in groups for end in group.named]
    if by in {"bm25", "encoder"}:
        texts = [str(end.term) for _, end in rows]
        return dict(zip(rows, await likeness(texts, state["question"], by, run), strict=True))
    draws = random.Random(sha256(state["question"].encode("utf-8", "replace")).digest())
    return {row: draws.random() for row in rows}


async def _by_model(groups: Sequence[Found], state: Frontier, run: Run) -> dict[_Row, float]:
    rows = [(groups[each.group - 1].chain, each.candidate) for each in shown(groups)]
    prompt = ScoreEntities(state["question"], tuple(groups), topics=tuple(state["topic_entities"]))
    try:
        reply = await run.ask(prompt)
    except MalformedReply as error:
        run.failed(error)
        return {}
    run.note["reason"] = reply.rationale
    said = {each.number: each.score for each in reply.scores}
    return {row: said.get(number, 0.0) for number, row in enumerate(rows, 1)}


def _shares(group: Found, rated: dict[_Row, float]) -> list[tuple[Candidate, float]]:
    """Give each end its part of the score of its relation."""
    even = 1 / len(group.ends)
    if len(group.named) == 1:
        return [(end, 1.0 if end.term.name else even) for end in group.ends]
    judged = any(chain == group.chain for chain, _ in rated)
    return [
        (end, rated.get((group.chain, end), 0.0) if judged and end.term.name else even) for end in group.ends
    ]


def _on(state: Frontier, beam: Sequence[_Held], run: Run) -> FrontierUpdate:
    """Hold each chain to its ends in the beam; nothing leads on from a value."""
    run.note["beam"] = [f"{each.chain} {each.end.term} {each.score:.2f}" for each in beam]
    groups: dict[tuple[Chain, bool], list[Candidate]] = {}
    for each in beam:
        groups.setdefault((each.chain, isinstance(each.end.term, Entity)), []).append(each.end)
    found = [Found(_held(chain, ends), tuple(ends)) for (chain, _), ends in groups.items()]
    frontier = [each.chain for each, (_, leads_on) in zip(found, groups, strict=True) if leads_on]
    named = next((group for group in found if group.named), None)
    at_hand: FrontierUpdate = {"chain": named.chain, "candidates": list(named.named)} if named else {}
    return {
        "found": found,
        "frontier": frontier,
        **at_hand,
        "points": [*state["points"], *frontier],
        "decision": "forward" if named else "refine" if frontier else "backtrack",
    }


def _held(chain: Chain, ends: Sequence[Candidate]) -> Chain:
    entities = [end.term for end in ends if isinstance(end.term, Entity)]
    return chain.holding(entities) if entities else chain
