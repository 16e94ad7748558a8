"""Retrieve relations: what leads on from the whole frontier? (PoG, ToG: relation exploration)."""

from collections.abc import Sequence
from typing import cast

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Visit
from kgqa.kg.terms import Chain
from kgqa.nodes.retrieve_relations import OFFERED, fair_share
from kgqa.session.frontier import Frontier, FrontierUpdate, Scored, spent
from kgqa.session.state import Lead, has_run
from kgqa.session.step import Run, step
from kgqa.tools.arguments import chain_arguments


@step("retrieve_relations")
async def retrieve_frontier(state: Frontier, run: Run) -> FrontierUpdate:
    """Offer every hop that leads on from the frontier, at first from the topic entities.

    What was visited already is not asked again, and what was tried is left out. One query
    is enough for all chains of the frontier.
    """
    begun: FrontierUpdate = {}
    if not has_run(state, "retrieve_relations"):
        topics = [Chain(topic) for topic in state["topic_entities"]]
        begun = {"frontier": topics, "found": [], "explored": [], "spent": [], "known": []}
    standing = cast(Frontier, {**state, **begun})
    frontier = standing["frontier"]
    open_ = [chain for chain in frontier if chain.depth < run.context.depth]
    if len(open_) < len(frontier):
        run.note["limit"] = "depth"
    try:
        leads = await _leads(open_, state["leads"], run)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return {**begun, "offers": [], "spent": spent(standing), "decision": "backtrack"}
    offers = _offers(open_, leads, set(state["tried"]))
    run.note |= {"frontier": [str(chain) for chain in open_], "relations": len(offers)}
    update: FrontierUpdate = {**begun, "offers": offers}
    return update if offers else {**update, "spent": spent(standing), "decision": "backtrack"}


async def _leads(chains: Sequence[Chain], known: Sequence[Lead], run: Run) -> list[Lead]:
    """Give what leads on from each chain; the graph is asked for what is not known.

    Raises:
        KGError: if it fails or refuses.
    """
    found = {lead.chain: lead for lead in known}
    asked = [chain for chain in dict.fromkeys(chains) if chain not in found]
    if asked:
        visits: list[Visit] = await run.use(
            "visit_chains", chains=[chain_arguments(chain) for chain in asked], ends=False
        )
        for chain, visit in zip(asked, visits, strict=True):
            found[chain] = Lead(chain, visit.hops.items, visit.hops.truncated)
    return [found[chain] for chain in chains]


def _offers(frontier: Sequence[Chain], leads: Sequence[Lead], tried: set[Chain]) -> list[Scored]:
    """Offer what was not tried; each chain of the frontier has its share."""
    share = max(1, OFFERED // max(1, len(frontier)))
    return [
        Scored(chain)
        for lead in leads
        for hop in fair_share(lead.hops, share)
        if (chain := lead.chain.then(hop)) not in tried
    ]
