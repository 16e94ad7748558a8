"""What a step follows, and what it goes on from: the relations of the way that is believed in (VoG)."""

import asyncio
from collections.abc import Iterable

import numpy as np

from kgqa.kg.terms import Chain, Entity, Path
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.mirrors import Mirrors
from kgqa.models.offline.outline import searches
from kgqa.models.offline.whether import is_whether
from kgqa.models.offline.words import likeness, spoken
from kgqa.prompts.select_entities import SelectedEntities, SelectEntities
from kgqa.prompts.select_relations import SelectedRelations, SelectRelations

NEAREST = 3
"""Relations that are followed where nothing is believed."""


async def select_relations(prompt: SelectRelations, believer: Believer) -> SelectedRelations:
    """Choose what the believed way goes on by, and whatever says the same the other way round.

    Where that is not offered, what another way goes on by; where nothing is believed, the nearest in words.
    A question for yes or no may be borne out or denied by whatever else joins the same things.
    """
    belief = await believer.believe(prompt.question, prompt.topics or topics_of(prompt.frontier))
    if not belief.chains:
        return SelectedRelations(rationale=belief.reason, relations=await _nearest(prompt, believer))
    mirrors = await believer.mirrors()
    others = [way for each in belief.others.values() for way in each]
    believed = list(belief.chains.values())
    if is_whether(prompt.question):
        believed += [way for way in others if _is_beside(way, belief.chains[way.topic])]
    for ways in (believed, others):
        if chosen := _onwards(prompt, ways, mirrors):
            return SelectedRelations(rationale=belief.reason, relations=chosen)
    return SelectedRelations(rationale=belief.reason, relations=[])


async def select_entities(prompt: SelectEntities, believer: Believer) -> SelectedEntities:
    """Keep all, but for the last step, where the question asks for some of the ends."""
    belief = await believer.believe(prompt.question, prompt.topics)
    texts = await searches(belief, believer)
    right = belief.answers if belief.answers and texts[-1:] == [prompt.step.search] else frozenset()
    chosen = [number for number, term in enumerate(prompt.offered, 1) if term in right]
    return SelectedEntities(rationale=belief.reason, keep="some" if chosen else "all", chosen=chosen)


def topics_of(paths: Iterable[Path]) -> tuple[Entity, ...]:
    """Give the topics that paths begin at, each once, in order of appearance."""
    return tuple(dict.fromkeys(path.topic for path in paths))


def _onwards(prompt: SelectRelations, ways: Iterable[Chain], mirrors: Mirrors) -> list[int]:
    """Number the offers by which ways go on from one of their heads; a topic that was left is none."""
    left = {path.topic for path in prompt.frontier if path.steps}
    steps = {(way.topic, tuple(map(mirrors.slot, way.hops[:size]))) for way in ways for size in _sizes(way)}
    return [
        number
        for number, offer in enumerate(prompt.offers, 1)
        if any(
            (chain.topic, tuple(map(mirrors.slot, (*chain.hops, offer.hop)))) in steps
            for chain in {prompt.frontier[head].chain for head in offer.heads}
            if chain.hops or chain.topic not in left
        )
    ]


def _is_beside(way: Chain, believed: Chain) -> bool:
    """Tell whether a way is a single hop, or differs from another one in its last hop alone."""
    return way.depth == 1 or way.hops[:-1] == believed.hops[:-1]


def _sizes(way: Chain) -> range:
    return range(1, way.depth + 1)


async def _nearest(prompt: SelectRelations, believer: Believer) -> list[int]:
    texts = [spoken(offer.hop.words) for offer in prompt.offers]
    alike = await asyncio.to_thread(likeness, prompt.question, texts, believer.encode)
    return [int(at) + 1 for at in np.argsort(-alike, kind="stable")[:NEAREST]]
