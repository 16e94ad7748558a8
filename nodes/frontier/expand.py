"""Expand: where do the chosen relations lead? (PoG, ToG: entity exploration)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import ChainResult
from kgqa.kg.terms import Chain
from kgqa.nodes.expand import kept_leads, visit_chain
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate
from kgqa.prompts.candidates import ChainFindings
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, known_extensions
from kgqa.tools.arguments import chain_arguments


@node("expand")
async def expand(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Follow all chosen chains in one query, to their ends and what leads on from there.

    Where they time out together each is followed alone. Chains that lead to nothing are left
    out; where none leads to anything with a name, there is nothing to judge by yet.
    """
    chains = [offer.chain for offer in state["offers"]]
    visits = await _visit_chains(chains, runtime)
    found = [
        ChainFindings(chain, visit.ends.items, visit.ends.truncated)
        for chain, visit in zip(chains, visits, strict=True)
        if visit and len(visit.ends)
    ]
    ends = {each.chain: len(each.ends) for each in found}
    runtime.trace |= {"chains": [f"{chain}: {count}" for chain, count in ends.items()]}
    named = [each for each in found if each.named]
    update: FrontierUpdate = {
        "found": found,
        "explored": [*state["found"], *state["explored"]],
        "frontier": [chain for chain in chains if chain in ends],
        "leads": [*kept_leads(chains, state), *_new_leads(chains, visits)],
        "tried": [*state["tried"], *chains],
    }
    if not named:
        return {**update, "decision": "refine" if found else "backtrack"}
    first = named[0]  # the evidence at hand, if the budget ends before anyone has judged
    at_hand: FrontierUpdate = {"chain": first.chain, "candidates": list(first.named)}
    return {**update, **at_hand, "truncated": first.truncated, "decision": "forward"}


async def _visit_chains(chains: Sequence[Chain], runtime: NodeRuntime) -> list[ChainResult | None]:
    """Visit chains together, or one by one; None for those that fail."""
    hops = any(chain.depth < runtime.context.depth for chain in chains)
    if len(chains) > 1:
        try:
            visits: list[ChainResult | None] = await runtime.call_tool(
                "visit_chains", chains=[chain_arguments(chain) for chain in chains], hops=hops
            )
            return visits
        except (KGTimeout, KGRejected):
            runtime.trace["alone"] = True
    return [await _visit_alone(chain, runtime) for chain in chains]


async def _visit_alone(chain: Chain, runtime: NodeRuntime) -> ChainResult | None:
    try:
        return await visit_chain(chain, chain.depth < runtime.context.depth, runtime)
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        return None


def _new_leads(chains: Sequence[Chain], visits: Sequence[ChainResult | None]) -> list[KnownExtensions]:
    """Return what leads on from the chains that were told it."""
    pairs = zip(chains, visits, strict=True)
    return [known_extensions(chain, visit) for chain, visit in pairs if visit and len(visit.hops)]
