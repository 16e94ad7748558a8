"""Rerank: which chains, or which of their entities, does the beam hold? (ToG: entity exploration)."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TypeAlias

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate
from kgqa.nodes.similarity import most_similar, similarity_scores
from kgqa.nodes.verdicts import hold_group
from kgqa.prompts.candidates import ChainFindings, numbered_candidates
from kgqa.prompts.score_entities import ScoreEntities
from kgqa.runtime.node import NodeRuntime, node

_ChainEnd: TypeAlias = tuple[Chain, Candidate]  # an end of a chain


@node("rerank")
async def rerank(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Keep the ``width`` best of what the chosen relations lead to: their chains, or single entities.

    A chain has the score of its relation. An entity has that times its own score. Ends without a name
    cannot be told apart, and share the score of their relation evenly; so do all of them where the
    model's reply is malformed. The only named end of a relation has its score whole.
    """
    scores, width = {offer.chain: offer.score for offer in state["offers"]}, runtime.context.width
    if runtime.context.beam == "chains":
        best = sorted(state["found"], key=lambda each: -scores.get(each.chain, 0.0))[:width]
        runtime.trace["beam"] = [f"{each.chain} {scores.get(each.chain, 0.0):.2f}" for each in best]
        return _hold_beam(state, best)
    rated = await _rate_ends([each for each in state["found"] if len(each.named) > 1], state, runtime)
    every = [
        ((group.chain, end), scores.get(group.chain, 0.0) * share)
        for group in state["found"]
        for end, share in _score_shares(group, rated)
    ]
    beam = sorted((each for each in every if each[1] > 0), key=lambda each: -each[1])[:width]
    runtime.trace["beam"] = [f"{chain} {end.term} {score:.2f}" for (chain, end), score in beam]
    return _hold_beam(state, _held_groups([each for each, _ in beam], state["found"]))


async def _rate_ends(
    groups: Sequence[ChainFindings], state: FrontierState, runtime: NodeRuntime
) -> dict[_ChainEnd, float]:
    """Return the score of each named end of the groups; none are given where nobody could say."""
    if not groups:
        return {}
    question, by = state["question"], runtime.context.pruning
    if by == "model":
        groups = await _shorten_groups(groups, question, runtime)
        shown = [(groups[each.group - 1].chain, each.candidate) for each in numbered_candidates(groups)]
        prompt = ScoreEntities(question, tuple(groups), topics=tuple(state["topic_entities"]))
        reply = await runtime.ask(prompt)
        if reply is None:
            return {}
        runtime.trace["reason"] = reply.rationale
        said = {each.number: each.score for each in reply.scores}
        return {end: said.get(number, 0.0) for number, end in enumerate(shown, 1)}
    rows = [(group.chain, end) for group in groups for end in group.named]
    if by in {"bm25", "encoder"}:
        likes = await similarity_scores([str(end.term) for _, end in rows], question, runtime, by)
        return dict(zip(rows, likes, strict=True))
    draws = random.Random(sha256(question.encode("utf-8", "replace")).digest())
    return {row: draws.random() for row in rows}


async def _shorten_groups(
    groups: Sequence[ChainFindings], question: str, runtime: NodeRuntime
) -> list[ChainFindings]:
    """Keep of a group that cannot be shown whole what is most alike to the question."""
    listed = {(each.group, each.candidate) for each in numbered_candidates(groups)}
    short = []
    for number, group in enumerate(groups, 1):
        share = sum(of == number for of, _ in listed)
        if share < len(group.named):
            names = [str(end.term) for end in group.named]
            best = most_similar(await similarity_scores(names, question, runtime, "encoder"), share)
            group = replace(group, ends=tuple(group.named[at] for at in sorted(best)))
        short.append(group)
    return short


def _score_shares(group: ChainFindings, rated: dict[_ChainEnd, float]) -> Iterator[tuple[Candidate, float]]:
    """Yield each end and its part of the score of its relation."""
    alone, judged = len(group.named) == 1, any(chain == group.chain for chain, _ in rated)
    for end in group.ends:
        if end.term.name and (alone or judged):
            yield end, 1.0 if alone else rated.get((group.chain, end), 0.0)
        else:
            yield end, 1 / len(group.ends)


def _held_groups(beam: Sequence[_ChainEnd], found: Sequence[ChainFindings]) -> list[ChainFindings]:
    """Hold each chain to its ends in the beam; those that are values are a group of their own."""
    whole = {each.chain: each for each in found}
    groups: dict[tuple[Chain, bool], list[Candidate]] = {}
    for chain, end in beam:
        groups.setdefault((chain, isinstance(end.term, Entity)), []).append(end)
    return [hold_group(whole[chain], ends) for (chain, _), ends in groups.items()]


def _hold_beam(state: FrontierState, beam: Sequence[ChainFindings]) -> FrontierUpdate:
    """Return how a search goes on with a beam; nothing leads on from a value."""
    frontier = [each.chain for each in beam if any(isinstance(end.term, Entity) for end in each.ends)]
    update: FrontierUpdate = {
        "found": list(beam),
        "frontier": frontier,
        "resume_points": [*state["resume_points"], *frontier],
        "decision": "refine" if frontier else "backtrack",
    }
    if named := next((group for group in beam if group.named), None):
        update |= {"chain": named.chain, "candidates": list(named.named), "decision": "forward"}
    return update
