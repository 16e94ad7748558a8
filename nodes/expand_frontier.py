"""Expand: where do the chosen relations lead? (PoG, ToG: entity exploration)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Visit
from kgqa.kg.terms import Chain
from kgqa.prompts.found import Found
from kgqa.session.frontier import Frontier, FrontierUpdate
from kgqa.session.state import Lead
from kgqa.session.step import Run, step
from kgqa.tools.arguments import chain_arguments


@step("expand")
async def expand_frontier(state: Frontier, run: Run) -> FrontierUpdate:
    """Follow all chosen chains in one query, to their ends and what leads on from there.

    Where they time out together each is followed alone. Chains that lead to nothing are left
    out; where none leads to anything with a name, there is nothing to judge by yet.
    """
    offers = state["offers"]
    chains = [offer.chain for offer in offers]
    visits = await _visited(chains, run)
    found = [
        Found(chain, visit.ends.items, visit.ends.truncated)
        for chain, visit in zip(chains, visits, strict=True)
        if visit and len(visit.ends)
    ]
    ends = {each.chain: len(each.ends) for each in found}
    run.note |= {"chains": [f"{chain}: {count}" for chain, count in ends.items()]}
    named = [each for each in found if each.named]
    topics = [lead for lead in state["leads"] if not lead.chain.hops]
    update: FrontierUpdate = {
        "found": found,
        "explored": [*state["found"], *state["explored"]],
        "frontier": [offer for offer in offers if offer.chain in ends],
        "leads": [*topics, *_leads(chains, visits)],
        "tried": [*state["tried"], *chains],
    }
    if not named:
        return {**update, "decision": "refine" if found else "backtrack"}
    first = named[0]  # the evidence at hand, if the budget ends before anyone has judged
    at_hand: FrontierUpdate = {"chain": first.chain, "candidates": list(first.named)}
    return {**update, **at_hand, "truncated": first.truncated, "decision": "forward"}


async def _visited(chains: Sequence[Chain], run: Run) -> list[Visit | None]:
    """Visit chains together, or one by one; None for those that fail."""
    hops = any(chain.depth < run.context.depth for chain in chains)
    try:
        visits: list[Visit | None] = await run.use(
            "visit_chains", chains=[chain_arguments(chain) for chain in chains], hops=hops
        )
        return visits
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        if len(chains) == 1:
            return [None]
    return [visit for chain in chains for visit in await _visited([chain], run)]


def _leads(chains: Sequence[Chain], visits: Sequence[Visit | None]) -> list[Lead]:
    pairs = zip(chains, visits, strict=True)
    return [Lead(chain, visit.hops.items, visit.hops.truncated) for chain, visit in pairs if visit]
