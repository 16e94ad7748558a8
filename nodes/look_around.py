"""Look again: a frontier that ran dry is set up anew; beyond the papers, as `look_again`."""

from typing import cast

from kgqa.nodes.look_again import look_again
from kgqa.session.frontier import Frontier, FrontierUpdate
from kgqa.session.step import Run, step


@step("look_again")
async def look_around(state: Frontier, run: Run) -> FrontierUpdate:
    """Let the most promising point of the search be the frontier, with what was tried left out."""
    points = [chain for chain in state["points"] if chain not in state.get("spent", [])]
    update = cast(FrontierUpdate, await look_again.body({**state, "points": points}, run))
    return {**update, "frontier": [update["chain"]]} if "chain" in update else update
