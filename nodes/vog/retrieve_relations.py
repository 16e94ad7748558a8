"""Retrieve relations: what leads on from the entities at hand? (VoG §3.2)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.nodes.vog.entropy_filter import list_candidates
from kgqa.nodes.vog.state import (
    SearchCheckpoint,
    VoGState,
    VoGUpdate,
    current_frontier,
    earlier_checkpoints,
    extended_chains,
    next_without_candidates,
)
from kgqa.prompts.facts import RelationCandidate
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import node_has_run


@node("retrieve_relations")
async def retrieve_relations(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Ask the graph which relations leave the frontier, in either direction.

    A time-out is no empty observation: the step is passed over. Once the search has been taken up
    again, what was tried is left out.
    """
    frontier = current_frontier(state)
    runtime.trace |= {"step": state["step_index"], "frontier": len(frontier)}
    try:
        offers = await list_candidates(frontier, state["leads"], runtime)
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        return {"offers": [], "decision": "filter" if state["reached"] else "backtrack"}
    update: VoGUpdate = {}
    if runtime.context.retry_search:
        offers = _leave_out_tried(offers, state) if node_has_run(state, "look_again") else offers
        ahead = extended_chains(offers, frontier)
        checkpoint = SearchCheckpoint(
            state["step_index"], state["frontier"], state["crossing"], state["crossed"], ahead
        )
        update["checkpoints"] = [*earlier_checkpoints(state, checkpoint), checkpoint]
    runtime.trace["relations"] = len(offers)
    return {
        **update,
        "offers": offers,
        "decision": "forward" if offers else next_without_candidates(state, runtime.context),
    }


def _leave_out_tried(offers: Sequence[RelationCandidate], state: VoGState) -> list[RelationCandidate]:
    """Leave out of each relation the places from where it was followed before."""
    frontier, tried = current_frontier(state), set(state["tried"])
    left = [
        RelationCandidate(
            offer.hop, tuple(at for at in offer.heads if frontier[at].chain.then(offer.hop) not in tried)
        )
        for offer in offers
    ]
    return [offer for offer in left if offer.heads]
