"""Refine: the answer must also be reached from the question's next topic."""

from kgqa.session.state import State, Update
from kgqa.session.step import Run, step


@step("refine")
async def refine(state: State, run: Run) -> Update:
    """Take up the root of the next topic; its chains have to meet those in memory.

    The public code of CoR explores the first topic entity only; the paper speaks
    of a set (§3), and so the answer is checked against each.
    """
    root = next(chain for chain in reversed(state["stack"]) if not chain.hops)
    run.note["chain"] = str(root)
    return {
        "chain": root,
        "stack": [chain for chain in state["stack"] if chain != root],
        "decision": "forward",
    }
