"""Look again: the search ran dry; what else leads on from where it was? (beyond the papers)."""

from itertools import pairwise

from kgqa.kg.terms import Chain
from kgqa.session.state import State, Update
from kgqa.session.step import Run, step

LOOKS = 4
"""Second looks at one question at most; one at a point from which nothing is left does not count."""


@step("look_again")
async def look_again(state: State, run: Run) -> Update:
    """Ask again from the most promising point of the search, with what was tried left out.

    Points are the chains that the search went on from, the topics first among them. Where
    something is in working memory, that stands.
    """
    if not may_look_again(state, run):
        run.note["reason"] = "no point is left to look from again"
        return {"decision": "stop"}
    chain = state["points"][-1]
    run.note["chain"] = str(chain)
    return {"chain": chain, "stack": [], "candidates": [], "decision": "refine"}


def may_look_again(state: State, run: Run) -> bool:
    """Tell whether the method looks again, and there is somewhere to look from."""
    looks = sum(
        entry["node"] == "look_again" and after["decision"] == "forward"
        for entry, after in pairwise(state["trace"])
    )
    dry = bool(state["points"]) and not state["memory"]
    return run.context.second_look and dry and looks < LOOKS


def points_left(state: State) -> list[Chain]:
    """Give the points without the chain at hand, from which nothing more is chosen."""
    return [point for point in state["points"] if point != state["chain"]]
