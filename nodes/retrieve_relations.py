"""Retrieve relations: what can follow the current chain? (CoR §4.1, step 1)."""

from collections.abc import Sequence

from kgqa.kg.terms import Hop
from kgqa.nodes.look_again import remaining_points
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, State, Update, node_has_run
from kgqa.tools.arguments import chain_arguments

MAX_OFFERED_RELATIONS = 500  # relations that one prompt offers at most; both directions keep their share


@node("retrieve_relations")
async def retrieve_relations(state: State, runtime: NodeRuntime) -> Update:
    """Offer the relations that extend the chain, in either direction; the graph is asked if need be.

    A second look leaves out what was tried, unless the search went on from there.
    """
    chain = state["chain"]
    runtime.trace["chain"] = str(chain)
    nothing: Update = {"hops": [], "resume_points": remaining_points(state), "decision": "backtrack"}
    lead = next((lead for lead in state["leads"] if lead.chain == chain), None)
    if lead is None:
        page = await runtime.try_tool("extend_chain", **chain_arguments(chain))
        if page is None:
            return nothing
        lead = KnownExtensions(chain, page.items, page.truncated)
    again = node_has_run(state, "look_again")
    tried = {*state["tried"]} - {*state["resume_points"]} if again else set()
    hops = limit_hops([hop for hop in lead.hops if chain.then(hop) not in tried])
    runtime.trace |= {"relations": len(lead.hops), "offered": len(hops), "truncated": lead.truncated}
    return {"hops": hops, "decision": "forward"} if hops else nothing


def limit_hops(hops: Sequence[Hop], most: int = MAX_OFFERED_RELATIONS) -> list[Hop]:
    """Cut to the most that are offered so that neither direction crowds out the other."""
    ahead = [hop for hop in hops if hop.forward]
    back = [hop for hop in hops if not hop.forward]
    kept_back = min(len(back), max(most // 2, most - len(ahead)))
    kept = {*ahead[: most - kept_back], *back[:kept_back]}
    return [hop for hop in hops if hop in kept]
