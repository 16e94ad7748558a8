"""Prune: which relations, of all that leave the frontier? (PoG, relation exploration; EGP §4.3)."""

from kgqa.models.errors import MalformedReply
from kgqa.prompts.pick_relations import PickRelations
from kgqa.session.frontier import Frontier, FrontierUpdate, Scored, points_left
from kgqa.session.step import Run, step


@step("prune")
async def pick_relations(state: Frontier, run: Run) -> FrontierUpdate:
    """Let the model choose as many as the question needs, from all chains of the frontier at once.

    A malformed reply counts as no choice.
    """
    offers = state["offers"]
    prompt = PickRelations(
        state["question"],
        tuple(offer.chain for offer in offers),
        subgoals=tuple(state["subgoals"]),
        known=tuple(state["known"]),
        topics=tuple(state["topic_entities"]),
    )
    try:
        reply = await run.ask(prompt)
    except MalformedReply as error:
        run.failed(error)
        return {"offers": [], "decision": "backtrack"}
    chosen: list[Scored] = [offers[number - 1] for number in reply.relations]
    run.note |= {"chosen": [str(each.chain) for each in chosen], "set_aside": len(offers) - len(chosen)}
    run.note["reason"] = reply.rationale
    if not chosen:
        return {"offers": [], "points": points_left(state), "decision": "backtrack"}
    return {"offers": chosen}
