"""Prune: which of these relations are worth following? (CoR §4.1, steps 2 and 3)."""

from kgqa.nodes.look_again import remaining_points
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update


@node("prune")
async def prune(state: State, runtime: NodeRuntime) -> Update:
    """Let the model rank the relations and push the chains they make, best on top.

    The best chain is taken up at once; a relation that is the only one is followed without a
    call, unless ``always_ask`` is set, as what it leads to is judged in any case. Without backtracking no
    other is kept. A malformed reply counts as no choice.
    """
    question, chain, offers = state["question"], state["chain"], state["extensions"]
    runtime.trace["chain"] = str(chain)
    chosen = offers
    if len(offers) != 1 or runtime.context.always_ask:
        topics = tuple(state["topic_entities"])
        prompt = PruneRelations(question, chain, tuple(offers), runtime.context.width, topics=topics)
        reply = await runtime.ask(prompt)
        if reply is None:
            return {"decision": "backtrack"}
        runtime.trace["reason"] = reply.rationale
        chosen = [offers[number - 1] for number in reply.relations]
    runtime.trace |= {"chosen": list(map(str, chosen)), "set_aside": len(offers) - len(chosen)}
    if not chosen:
        return {"resume_points": remaining_points(state), "decision": "backtrack"}
    best, *others = [each.chain for each in chosen]
    kept = others[::-1] if runtime.context.backtracking else []
    return {
        "chain": best,
        "stack": [*state["stack"], *kept],
        "tried": [*state["tried"], best, *kept],
        "decision": "forward",
    }
