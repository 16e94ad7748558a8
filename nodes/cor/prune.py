"""Prune: which of these relations are worth following? (CoR §4.1, steps 2 and 3)."""

from collections.abc import Sequence

from kgqa.kg.terms import one_line
from kgqa.nodes.look_again import remaining_points
from kgqa.nodes.retrieve_relations import choose_extensions, reached_names
from kgqa.prompts.chain import MAX_NAMES
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update


@node("prune")
async def prune(state: State, runtime: NodeRuntime) -> Update:
    """Let the model rank the relations and push the chains they make, best on top.

    The best chain is taken up at once; a relation that is the only one is followed without a
    call, unless ``always_ask`` is set, as what it leads to is judged in any case. Without backtracking no
    other is kept. The model may say what comes after the best. A malformed reply counts as no choice.
    """
    chain, chosen = state["chain"], state["extensions"]
    runtime.trace["chain"] = str(chain)
    outright = None
    reached = reached_names(chain, state) if runtime.context.outright_answers else ()
    if len(chosen) != 1 or runtime.context.always_ask:
        prompt = PruneRelations(
            question=state["question"],
            chain=chain,
            offers=tuple(chosen),
            width=runtime.context.width,
            outright=runtime.context.outright_answers,
            filtering=runtime.context.filtering,
            unites=runtime.context.unite,
            reached=reached,
            unmet=_is_unmet(reached, state),
            topics=tuple(state["topic_entities"]),
        )
        choice = await choose_extensions(prompt, state["hidden"], runtime)
        if choice is None:
            return {"decision": "backtrack"}
        chosen, outright = choice.offers, choice.outright
    runtime.trace |= {"chosen": list(map(str, chosen)), "set_aside": len(state["extensions"]) - len(chosen)}
    if not chosen:
        return {"resume_points": remaining_points(state), "decision": "backtrack"}
    best, *others = [each.chain for each in chosen]
    kept = others[::-1] if runtime.context.backtracking else []
    return {
        "chain": best,
        "stack": [*state["stack"], *kept],
        "tried": [*state["tried"], best, *kept],
        "outright": outright,
        "decision": "forward",
    }


def _is_unmet(reached: Sequence[str], state: State) -> bool:
    """Return whether all that a chain has reached is known, and chains of other topics lead to none of it."""
    ends = {one_line(end.name) for branch in state["memory"] for end in branch.ends if end.name}
    return bool(ends) and 0 < len(reached) <= MAX_NAMES and ends.isdisjoint(reached)
