"""Retrieve relations: what leads on from the frontier? (VoG §3.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kgqa.kg.terms import Chain, Entity, Hop, Path
from kgqa.nodes.retrieve_relations import list_extensions
from kgqa.nodes.vog.state import (
    SearchCheckpoint,
    VoGState,
    VoGUpdate,
    earlier_checkpoints,
    extended_chains,
    next_decision,
    open_paths,
)
from kgqa.prompts.facts import RelationCandidate
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, node_has_run
from kgqa.tools.arguments import relation_arguments


@node("retrieve_relations")
async def retrieve_relations(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Ask the graph which relations leave the frontier, in either direction.

    A time-out is no empty observation: the step is passed over. Once the search has been taken up
    again, what was tried is left out.
    """
    index, frontier = state["step_index"], open_paths(state)
    runtime.trace |= {"step": index, "frontier": len(frontier)}
    offers = await list_candidates(frontier, state["leads"], runtime)
    if offers is None:
        return {"offers": [], "decision": "filter" if state["reached"] else "backtrack"}
    update: VoGUpdate = {"step_failed": state["step_failed"] or runtime.failure is not None}
    if runtime.context.retry_search:
        if node_has_run(state, "look_again"):
            offers = leave_out_tried(offers, frontier, set(state["tried"]))
        ahead = extended_chains(offers, frontier)
        checkpoint = SearchCheckpoint(index, state["frontier"], state["crossing"], state["crossed"], ahead)
        update["checkpoints"] = [*earlier_checkpoints(state, checkpoint), checkpoint]
    runtime.trace["relations"] = len(offers)
    decision = next_decision(offers, state, runtime.context, dead_end=not offers)
    return {**update, "offers": offers, "decision": decision}


async def list_candidates(
    frontier: Sequence[Path], leads: Sequence[KnownExtensions], runtime: NodeRuntime
) -> list[RelationCandidate] | None:
    """Return the relations that leave the frontier, sorted as the graph sorts hops; None if it fails.

    One that leads to nodes without a name is offered together with those that lead on from there
    (``cross_mediators``); what describes the database only where there is nothing else (``hide_noise``).
    """
    known = {lead.chain.topic.id: lead.hops for lead in leads if not lead.chain.hops}
    ends = {path.end.id: path.end for path in frontier if isinstance(path.end, Entity)}
    if asked := [entity for id, entity in ends.items() if id not in known]:
        pages = await runtime.try_tool("list_relations", **relation_arguments(asked))
        if pages is None:
            return None
        known |= {entity.id: pages[entity.id].items if entity.id in pages else () for entity in asked}
    groups: dict[Chain, dict[int, Path]] = {}
    for place, path in enumerate(frontier):
        if isinstance(path.end, Entity):
            groups.setdefault(path.chain, {})[place] = path
    held = {_hold_end(chain, paths.values()): paths for chain, paths in groups.items()}
    leaving = {
        chain: list(dict.fromkeys(hop for path in paths.values() for hop in known[path.end.id]))
        for chain, paths in held.items()
    }
    offered, noise = await list_extensions(leaving, runtime)
    heads: dict[tuple[Hop, ...], list[int]] = {}
    for offer in offered or noise:
        places = [at for at, path in held[offer.start].items() if offer.hops[0] in known[path.end.id]]
        heads[offer.hops] = sorted([*heads.get(offer.hops, ()), *places])
    ordered = sorted(heads, key=lambda hops: [(hop.relation, not hop.forward) for hop in hops])
    return [RelationCandidate(hops[0], tuple(heads[hops]), *hops[1:]) for hops in ordered]


def _hold_end(chain: Chain, paths: Iterable[Path]) -> Chain:
    """Return a chain held to the ends of paths along it."""
    return (
        chain.constrained_to(path.end for path in paths if isinstance(path.end, Entity))
        if chain.hops
        else chain
    )


def leave_out_tried(
    offers: Sequence[RelationCandidate], frontier: Sequence[Path], tried: set[Chain]
) -> list[RelationCandidate]:
    """Leave out of each relation the places from where it was followed before."""
    left = []
    for offer in offers:
        heads = tuple(at for at in offer.heads if offer.extend(frontier[at]) not in tried)
        left += [replace(offer, heads=heads)] if heads else []
    return left
