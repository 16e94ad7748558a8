"""Expand: where do the chosen relations lead? (PoG, ToG: entity exploration)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import ChainResult
from kgqa.kg.terms import Chain
from kgqa.nodes.expand import updated_leads, visit_chain
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate, explores_entities
from kgqa.prompts.candidates import ChainFindings
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Decision
from kgqa.tools.arguments import chain_arguments


@node("expand")
async def expand(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Follow all chosen chains in one query, to their ends and what leads on from there.

    Where they time out together each is followed alone. Chains that lead to nothing are left
    out; where none leads to anything with a name, there is nothing to judge by yet. What the frontier holds
    beside them stands.
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
    going_on: Decision = "forward" if explores_entities(runtime.context) else "refine"
    update: FrontierUpdate = {
        "found": found,
        "explored": [*state["found"], *state["explored"]],
        "frontier": [*state["frontier"], *(chain for chain in chains if chain in ends)],
        "leads": updated_leads(chains, visits, state),
        "tried": [*state["tried"], *chains],
        "decision": going_on if found else "backtrack",
    }
    if first := next((each for each in found if each.named), None):
        # the evidence, if the budget ends before anyone has judged
        update |= {"chain": first.chain, "candidates": list(first.named), "truncated": first.truncated}
        update["decision"] = "forward"
    return update


async def _visit_chains(chains: Sequence[Chain], runtime: NodeRuntime) -> list[ChainResult | None]:
    """Visit chains together, or one by one; None for those that fail."""
    depth = runtime.context.depth
    if len(chains) > 1:
        arguments, hops = [chain_arguments(chain) for chain in chains], any(c.depth < depth for c in chains)
        try:
            together: list[ChainResult | None]
            together = await runtime.call_tool("visit_chains", chains=arguments, hops=hops)
            return together
        except (KGTimeout, KGRejected):
            runtime.trace["alone"] = True
    visits: list[ChainResult | None] = []
    for chain in chains:
        try:
            visits.append(await visit_chain(chain, chain.depth < depth, runtime))
        except (KGTimeout, KGRejected) as error:
            runtime.record_failure(error)
            visits.append(None)
    return visits
