"""Look again: the search ran dry; what else leads on from where it was? (beyond the papers)."""

from kgqa.session.state import State, Update
from kgqa.session.step import Run, step

LOOKS = 4
"""Second looks at one question at most."""


@step("look_again")
async def look_again(state: State, run: Run) -> Update:
    """Ask again from the most promising point of the search, with what was tried left out.

    Points are the chains that the search went on from, the topics first among them; one from
    which nothing more is chosen is none any longer. Not where something is in working memory.
    """
    if not may_look_again(state, run):
        run.note["reason"] = "no point is left to look from again"
        return {"decision": "stop"}
    chain = state["points"][-1]
    run.note["chain"] = str(chain)
    return {"chain": chain, "stack": [], "candidates": [], "decision": "refine"}


def may_look_again(state: State, run: Run) -> bool:
    """Tell whether the method looks again, and there is somewhere to look from."""
    looks = sum(entry["node"] == "look_again" for entry in state["trace"])
    dry = bool(state["points"]) and not state["memory"]
    return run.context.second_look and dry and looks < LOOKS
