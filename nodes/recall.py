"""Recall: earlier chains are explored again beside the others (PoG: self-correction; EGP §4.4)."""

from kgqa.session.frontier import Frontier, FrontierUpdate
from kgqa.session.step import Run, step


@step("backtrack")
async def recall(state: Frontier, run: Run) -> FrontierUpdate:
    """Add what the reflection comes back to to the frontier: E_D united with E_add."""
    added = [chain for chain in reversed(state["stack"]) if chain not in state["frontier"]]
    run.note["chains"] = [str(chain) for chain in added]
    return {"frontier": [*state["frontier"], *added], "stack": []}
