"""Backtrack: earlier chains are explored again beside the others (PoG: self-correction; EGP §4.4)."""

from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate
from kgqa.runtime.node import NodeRuntime, node


@node("backtrack")
async def backtrack(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Add to the frontier what the reflection comes back to: E_D united with E_add."""
    added = [chain for chain in reversed(state["stack"]) if chain not in state["frontier"]]
    runtime.trace["chains"] = [str(chain) for chain in added]
    return {"frontier": [*state["frontier"], *added], "stack": []}
