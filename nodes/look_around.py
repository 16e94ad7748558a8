"""Look again: a frontier that ran dry is set up anew; beyond the papers, as `look_again`."""

from typing import cast

from kgqa.nodes.look_again import look_again
from kgqa.session.frontier import Frontier, FrontierUpdate, Scored
from kgqa.session.step import Run, step


@step("look_again")
async def look_around(state: Frontier, run: Run) -> FrontierUpdate:
    """Let the most promising point of the search be the frontier, with what was tried left out."""
    update = cast(FrontierUpdate, await look_again.body(state, run))
    return {**update, "frontier": [Scored(update["chain"])]} if "chain" in update else update
