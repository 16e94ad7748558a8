"""Retrieve relations: what leads on from the whole frontier? (PoG, ToG: relation exploration)."""

from collections.abc import Sequence
from typing import cast

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import ChainResult
from kgqa.kg.terms import Chain
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate, ScoredChain, exhausted_chains
from kgqa.nodes.retrieve_relations import MAX_OFFERED_RELATIONS, limit_hops
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, node_has_run
from kgqa.tools.arguments import chain_arguments


@node("retrieve_relations")
async def retrieve_relations(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Offer every hop that leads on from the frontier, at first from the topic entities.

    What was visited already is not asked again, and what was tried is left out. One query
    is enough for all chains of the frontier.
    """
    begun: FrontierUpdate = {}
    if not node_has_run(state, "retrieve_relations"):
        topics = [Chain(topic) for topic in state["topic_entities"]]
        begun = {"frontier": topics, "found": [], "explored": [], "spent": [], "known": []}
    standing = cast(FrontierState, {**state, **begun})
    frontier = standing["frontier"]
    open_ = [chain for chain in frontier if chain.depth < runtime.context.depth]
    if len(open_) < len(frontier):
        runtime.trace["limit"] = "depth"
    try:
        leads = await _find_leads(open_, state["leads"], runtime)
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        return {**begun, "offers": [], "spent": exhausted_chains(standing), "decision": "backtrack"}
    offers = _untried_chains(open_, leads, set(state["tried"]))
    runtime.trace |= {"frontier": [str(chain) for chain in open_], "relations": len(offers)}
    update: FrontierUpdate = {**begun, "offers": offers}
    return update if offers else {**update, "spent": exhausted_chains(standing), "decision": "backtrack"}


async def _find_leads(
    chains: Sequence[Chain], known: Sequence[KnownExtensions], runtime: NodeRuntime
) -> list[KnownExtensions]:
    """Return what leads on from each chain; the graph is asked for what is not known.

    Raises:
        KGError: if it fails or refuses.
    """
    found = {lead.chain: lead for lead in known}
    asked = [chain for chain in dict.fromkeys(chains) if chain not in found]
    if asked:
        visits: list[ChainResult] = await runtime.call_tool(
            "visit_chains", chains=[chain_arguments(chain) for chain in asked], ends=False
        )
        for chain, visit in zip(asked, visits, strict=True):
            found[chain] = KnownExtensions(chain, visit.hops.items, visit.hops.truncated)
    return [found[chain] for chain in chains]


def _untried_chains(
    frontier: Sequence[Chain], leads: Sequence[KnownExtensions], tried: set[Chain]
) -> list[ScoredChain]:
    """Offer what was not tried; each chain of the frontier has its share."""
    share = max(1, MAX_OFFERED_RELATIONS // max(1, len(frontier)))
    return [
        ScoredChain(chain)
        for lead in leads
        for hop in limit_hops(lead.hops, share)
        if (chain := lead.chain.then(hop)) not in tried
    ]
