"""Expand: where does all that was chosen lead? (CoG §3.2.2, entity retrieval over a frontier)."""

from kgqa.nodes.cog.state import CoGState, CoGUpdate
from kgqa.nodes.frontier.expand import expand as expand_chains
from kgqa.runtime.node import NodeRuntime, node


@node("expand")
async def expand_frontier(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Follow what was chosen in one query; after backtracking, beside the chains that still stand."""
    update = CoGUpdate(**await expand_chains.body(state, runtime))  # type: ignore[typeddict-item]
    if state["trace"][-1]["node"] == "backtrack":
        update["frontier"] = [*state["frontier"], *update["frontier"]]
    return update
