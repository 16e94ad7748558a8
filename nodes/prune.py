"""Prune: which of these relations are worth following? (CoR §4.1, steps 2 and 3)."""

from kgqa.models.errors import MalformedReply
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.session.state import State, Update
from kgqa.session.step import Run, step


@step("prune")
async def prune(state: State, run: Run) -> Update:
    """Let the model rank the relations and push the chains they make, best on top.

    The best chain is taken up at once; without backtracking no other is kept. From where
    nothing is chosen nothing will be: it is no point to look from again. A malformed reply
    counts as no choice.
    """
    chain, hops = state["chain"], state["hops"]
    run.note["chain"] = str(chain)
    try:
        reply = await run.ask(
            PruneRelations(
                state["question"],
                chain,
                tuple(hops),
                run.context.width,
                topics=tuple(state["topic_entities"]),
            )
        )
    except MalformedReply as error:
        run.failed(error)
        return {"decision": "backtrack"}
    chosen = [hops[number - 1] for number in reply.relations]
    run.note |= {
        "chosen": [str(hop) for hop in chosen],
        "set_aside": len(hops) - len(chosen),
        "reason": reply.rationale,
    }
    if not chosen:
        return {"points": [each for each in state["points"] if each != chain], "decision": "backtrack"}
    best, *others = [chain.then(hop) for hop in chosen]
    kept = others[::-1] if run.context.backtracking else []
    return {
        "chain": best,
        "stack": [*state["stack"], *kept],
        "tried": [*state["tried"], best, *kept],
        "decision": "forward",
    }
