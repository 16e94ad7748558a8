"""Look again: the search ran dry; what else leads on from where it was? (beyond the papers)."""

from typing import cast

from kgqa.kg.terms import Chain
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update

MAX_SECOND_LOOKS = 4
"""Second looks at one question at most; one at a point from which nothing is left does not count."""


@node("look_again")
async def look_again(state: State, runtime: NodeRuntime) -> Update:
    """Ask again from the most promising point of the search, with what was tried left out.

    Points are the chains that the search went on from, the topics first among them. Where
    something is in working memory, that stands.
    """
    if not may_look_again(state, runtime):
        runtime.trace["reason"] = "no point is left to look from again"
        return {"decision": "stop"}
    chain = state["resume_points"][-1]
    runtime.trace["chain"] = str(chain)
    return {"chain": chain, "stack": [], "candidates": [], "decision": "refine"}


@node("look_again")
async def look_again_from_frontier(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the most promising point of the search be the frontier, with what was tried left out."""
    points = [chain for chain in state["resume_points"] if chain not in state.get("spent", [])]
    update = cast(FrontierUpdate, await look_again.body({**state, "resume_points": points}, runtime))
    return {**update, "frontier": [update["chain"]]} if "chain" in update else update


def may_look_again(state: State, runtime: NodeRuntime) -> bool:
    """Return whether the method looks again, and there is somewhere to look from."""
    looks = state.get("second_looks", 0)
    dry = bool(state["resume_points"]) and not state["memory"]
    return runtime.context.retry_search and dry and looks < MAX_SECOND_LOOKS


def count_second_look(state: State) -> Update:
    """Return what changes where a chain can be gone on from: a second look at it counts."""
    return {"second_looks": state.get("second_looks", 0) + 1} if state["last_node"] == "look_again" else {}


def remaining_points(state: State) -> list[Chain]:
    """Return the points without the current chain, from which nothing more is chosen."""
    return [point for point in state["resume_points"] if point != state["chain"]]
