"""Look again: a frontier that ran dry is set up anew; beyond the papers, as `look_again`."""

from typing import cast

from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate
from kgqa.nodes.look_again import look_again
from kgqa.runtime.node import NodeRuntime, node


@node("look_again")
async def look_again_from_frontier(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the most promising point of the search be the frontier, with what was tried left out."""
    points = [chain for chain in state["resume_points"] if chain not in state.get("spent", [])]
    update = cast(FrontierUpdate, await look_again.body({**state, "resume_points": points}, runtime))
    return {**update, "frontier": [update["chain"]]} if "chain" in update else update
