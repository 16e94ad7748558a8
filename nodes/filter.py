"""Filter: which candidates meet the question's conditions? (CoR §4.2, step 2)."""

from dataclasses import replace
from itertools import islice
from typing import cast

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Term
from kgqa.nodes.cog.state import CoGState, plan_progress
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, aggregate
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import StoppedBy
from kgqa.runtime.state import State, Update, VerifiedChain


@node("filter")
async def filter_candidates(state: State, runtime: NodeRuntime) -> Update:
    """Let the model choose among all ends of the verified chain, some at a time.

    What is left of several turns is judged together once more, for superlatives.
    When none fits, the chain leaves working memory, with those that lead to the same ends,
    and the search turns back to its alternatives. A malformed reply chooses nothing.
    """
    *earlier, branch = state["memory"]
    kept, limit = await filter_branch(branch, state, runtime)
    if kept is None:
        earlier = [each for each in earlier if each.ends != branch.ends]
        return {"memory": earlier, "chain": branch.chain, "candidates": [], "decision": "backtrack"}
    return {"memory": [*earlier, kept], "stopped_by": limit, "decision": "stop"}


async def filter_branch(
    branch: VerifiedChain, state: State, runtime: NodeRuntime
) -> tuple[VerifiedChain | None, StoppedBy | None]:
    """Return a branch with the ends that fit, None if none does; and the limit that cut the turns short."""
    runtime.trace |= {"chain": str(branch.chain), "candidates": len(branch.ends)}
    kept, limit = await _choose_ends(state, branch, runtime)
    if len(branch.ends) > MAX_CANDIDATES_SHOWN and 1 < len(kept.ends) <= MAX_CANDIDATES_SHOWN and not limit:
        kept, limit = await _choose_ends(state, replace(branch, ends=kept.ends), runtime)
    runtime.trace["kept"] = len(kept.ends)
    return kept if kept.ends else None, limit


async def _choose_ends(
    state: State, branch: VerifiedChain, runtime: NodeRuntime
) -> tuple[VerifiedChain, StoppedBy | None]:
    """Go through the ends; where the budget ends on the way, what was chosen so far stands, if anything."""
    kept: list[Term] = []
    counting, limit = False, None
    ends = iter(branch.ends)
    plan = plan_progress(cast(CoGState, state)) if "findings" in state else None
    question, topics = state["question"], tuple(state["topic_entities"])
    while some := tuple(islice(ends, MAX_CANDIDATES_SHOWN)):
        prompt = FilterCandidates(question, branch.chain, tuple(map(Candidate, some)), plan, topics=topics)
        try:
            reply = await runtime.ask(prompt)
        except BudgetExceeded as error:
            if not kept:
                raise
            limit = error.limit
            break
        if reply:
            kept += [some[number - 1] for number in reply.chosen]
            counting = counting or reply.count
            runtime.trace["reason"] = reply.rationale
    value = aggregate("count", kept) if counting else None
    return replace(branch, ends=tuple(kept), verdict="stop", value=value), limit
