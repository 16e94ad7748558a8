"""Backtrack: the search goes on before the decision that led astray (CoG §3.3, targeted re-routing)."""

from kgqa.nodes.cog.state import CoGState, CoGUpdate
from kgqa.prompts.chain import Extension
from kgqa.runtime.node import NodeRuntime, node


@node("backtrack")
async def backtrack(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Take up the best recalled branch; without one, choose again from what was not tried."""
    if not state["stack"]:
        runtime.trace |= {"chain": str(state["chain"]), "reason": "the relations here are chosen from again"}
        return {"decision": "refine"}
    *others, chain = state["stack"]
    runtime.trace["chain"] = str(chain)
    return {"chain": chain, "stack": others, "tried": [*state["tried"], chain], "decision": "forward"}


@node("backtrack")
async def backtrack_frontier(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Follow the recalled branches; without one, choose again from the frontier what was not tried."""
    chains = list(reversed(state["stack"]))
    runtime.trace["chains"] = [str(chain) for chain in chains or state["frontier"]]
    begun: CoGUpdate = {"checks_without_gain": 0}
    if not chains:
        return {**begun, "decision": "refine"}
    return {**begun, "offers": list(map(Extension, chains)), "stack": [], "decision": "forward"}
