"""Rerank: which relations are worth showing? (VoG §3.2 and appendix A.2, equations 5 to 8)."""

from kgqa.nodes.vog.entropy_filter import rank_candidates
from kgqa.nodes.vog.state import VoGState, VoGUpdate, current_frontier, current_step
from kgqa.runtime.node import NodeRuntime, node


@node("rerank")
async def rerank(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Keep the relations that are most alike to what the step predicts, the fewer the clearer they are."""
    offers = await rank_candidates(
        state["offers"], current_frontier(state), state["question"], current_step(state), runtime
    )
    runtime.trace |= {
        "step": state["step_index"],
        "kept": len(offers),
        "best": [str(offer.hop) for offer in offers[:3]],
    }
    return {"offers": offers, "decision": "forward"}
