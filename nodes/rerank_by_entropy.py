"""Rerank: which relations are worth showing? (VoG §3.2 and appendix A.2, equations 5 to 8)."""

from kgqa.nodes.around import ranked
from kgqa.session.planned import Planned, PlannedUpdate, at_hand, standing
from kgqa.session.step import Run, step


@step("rerank")
async def rerank_by_entropy(state: Planned, run: Run) -> PlannedUpdate:
    """Keep the relations that are most alike to what the step predicts, the fewer the clearer they are."""
    offers = await ranked(state["offers"], standing(state), state["question"], at_hand(state), run)
    run.note |= {"step": state["at"], "kept": len(offers), "best": [str(offer.hop) for offer in offers[:3]]}
    return {"offers": offers, "decision": "forward"}
