"""Reroute: the search goes on before the decision that led astray (CoG §3.3, targeted re-routing)."""

from kgqa.session.guided import Guided, GuidedUpdate
from kgqa.session.step import Run, step


@step("backtrack")
async def reroute(state: Guided, run: Run) -> GuidedUpdate:
    """Take up the best recalled branch; without one, choose again from what was not tried."""
    if not state["stack"]:
        run.note |= {"chain": str(state["chain"]), "reason": "the relations here are chosen from again"}
        return {"decision": "refine"}
    *others, chain = state["stack"]
    run.note["chain"] = str(chain)
    return {
        "chain": chain,
        "stack": others,
        "tried": [*state["tried"], chain],
        "decision": "forward",
    }
