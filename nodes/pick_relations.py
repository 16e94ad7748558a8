"""Prune: which relations, of all that leave the frontier? (PoG, relation exploration; EGP §4.3)."""

from kgqa.models.errors import MalformedReply
from kgqa.nodes.recall_exemplars import guided, shown_to
from kgqa.prompts.pick_relations import PickRelations
from kgqa.session.frontier import Frontier, FrontierUpdate, Scored, shown_of, spent
from kgqa.session.step import Run, step


@step("prune")
async def pick_relations(state: Frontier, run: Run) -> FrontierUpdate:
    """Let the model choose as many as the question needs, from all chains of the frontier at once.

    Solved questions like this one are shown, and the relations that these took are added to what
    is chosen (R_sel and R_cand ∩ R_guide). A malformed reply counts as no choice.
    """
    offers, exemplars = state["offers"], shown_to(state, run, "guide_exploration")
    prompt = PickRelations(
        state["question"],
        tuple(offer.chain for offer in offers),
        exemplars=exemplars,
        **shown_of(state),
    )
    chosen: list[Scored] = []
    try:
        reply = await run.ask(prompt)
        chosen = [offers[number - 1] for number in reply.relations]
        run.note["reason"] = reply.rationale
    except MalformedReply as error:
        run.failed(error)
    run.note |= {"chosen": [str(each.chain) for each in chosen], "set_aside": len(offers) - len(chosen)}
    if exemplars:
        added = [each for each in guided(offers, exemplars) if each not in chosen]
        run.note["guided"] = [str(each.chain) for each in added]
        chosen += added
    if not chosen:
        return {"offers": [], "spent": spent(state), "decision": "backtrack"}
    return {"offers": chosen}
