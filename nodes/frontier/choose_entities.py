"""Choose entities: which, of those that each relation led to? (PoG: entity exploration; EGP §4.3)."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Literal
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate
from kgqa.nodes.similarity import most_similar, similarity_scores
from kgqa.nodes.verdicts import hold_group
from kgqa.prompts.candidates import ChainFindings, parse_number
from kgqa.prompts.choose_entities import ChooseEntities
from kgqa.runtime.node import NodeRuntime, node

MAX_UNNAMED = 10
"""Entities without a name of one relation that are gone on from at most, drawn by chance (PoG)."""


@node("choose_entities", option="explores_entities")
async def choose_entities(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Hold the search to what the model chooses, group by group: the frontier are these entities.

    A single entity and numbers are not asked about, nor what has no name; after a malformed reply all are
    kept. Where nothing that was kept has a name, there is nothing to judge by yet.
    """
    reached = [await _screen(group, state["question"], runtime) for group in state["found"]]
    kept = []
    for whole, group in zip(state["found"], reached, strict=True):
        if ends := await _choose(group, state, runtime):
            kept.append(hold_group(whole, ends))
    frontier: dict[Entity, Chain] = {}
    for group in kept:
        for end in group.ends:
            if isinstance(end.term, Entity):
                frontier.setdefault(end.term, group.chain.constrained_to([end.term]))
    runtime.trace["kept"] = [f"{group.chain}: {len(group.ends)}" for group in kept]
    update: FrontierUpdate = {
        "found": kept,
        "reached": [*reached, *state["reached"]],
        "frontier": list(frontier.values()),
        "candidates": [],
        "decision": "refine" if frontier else "backtrack",
    }
    if named := next((group for group in kept if group.named), None):
        update |= {"chain": named.chain, "candidates": list(named.named), "decision": "forward"}
    return update


async def _screen(group: ChainFindings, question: str, runtime: NodeRuntime) -> ChainFindings:
    """Return of a large group what is most alike to the question, and of what has no name a few."""
    named, unnamed = group.named, [end for end in group.ends if not end.term.name]
    width, encoder = runtime.context.width, runtime.context.entity_encoder
    if len(named) > width:
        names = [str(end.term) for end in named]
        best = most_similar(await similarity_scores(names, question, runtime, "encoder", encoder), width)
        named = tuple(named[at] for at in sorted(best))
    if len(unnamed) > MAX_UNNAMED:
        unnamed = Random(f"{question} {group.chain}").sample(unnamed, MAX_UNNAMED)
    return replace(group, ends=(*named, *unnamed))


async def _choose(group: ChainFindings, state: FrontierState, runtime: NodeRuntime) -> Sequence[Candidate]:
    named = group.named
    numbers = all(isinstance(end.term, Literal) and parse_number(end.term) is not None for end in named)
    if len(group.ends) <= 1 or numbers:
        return group.ends
    topics = tuple(state["topic_entities"])
    reply = await runtime.ask(ChooseEntities(state["question"], group.chain, named, topics=topics))
    if reply is None:
        return group.ends
    runtime.trace["reason"] = reply.rationale
    return *(named[number - 1] for number in reply.chosen), *(end for end in group.ends if not end.term.name)
