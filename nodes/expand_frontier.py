"""Expand: where do the chosen relations lead? (PoG, ToG: entity exploration)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Visit
from kgqa.kg.terms import Chain
from kgqa.nodes.expand import behind, visited
from kgqa.prompts.found import Found
from kgqa.session.frontier import Frontier, FrontierUpdate
from kgqa.session.state import Lead, lead_of
from kgqa.session.step import Run, step
from kgqa.tools.arguments import chain_arguments


@step("expand")
async def expand_frontier(state: Frontier, run: Run) -> FrontierUpdate:
    """Follow all chosen chains in one query, to their ends and what leads on from there.

    Where they time out together each is followed alone. Chains that lead to nothing are left
    out; where none leads to anything with a name, there is nothing to judge by yet.
    """
    chains = [offer.chain for offer in state["offers"]]
    visits = await _visited(chains, run)
    found = [
        Found(chain, visit.ends.items, visit.ends.truncated)
        for chain, visit in zip(chains, visits, strict=True)
        if visit and len(visit.ends)
    ]
    ends = {each.chain: len(each.ends) for each in found}
    run.note |= {"chains": [f"{chain}: {count}" for chain, count in ends.items()]}
    named = [each for each in found if each.named]
    update: FrontierUpdate = {
        "found": found,
        "explored": [*state["found"], *state["explored"]],
        "frontier": [chain for chain in chains if chain in ends],
        "leads": [*behind(chains, state), *_leads(chains, visits)],
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
    if len(chains) > 1:
        try:
            visits: list[Visit | None] = await run.use(
                "visit_chains", chains=[chain_arguments(chain) for chain in chains], hops=hops
            )
            return visits
        except (KGTimeout, KGRejected):
            run.note["alone"] = True
    return [await _alone(chain, run) for chain in chains]


async def _alone(chain: Chain, run: Run) -> Visit | None:
    try:
        return await visited(chain, chain.depth < run.context.depth, run)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return None


def _leads(chains: Sequence[Chain], visits: Sequence[Visit | None]) -> list[Lead]:
    """Give what leads on from the chains that were told it."""
    pairs = zip(chains, visits, strict=True)
    return [lead_of(chain, visit) for chain, visit in pairs if visit and len(visit.hops)]
