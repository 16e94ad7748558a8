"""Filter: which candidates meet the question's conditions? (CoR §4.2, step 2)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Aggregate
from kgqa.kg.terms import Term
from kgqa.nodes.cog.state import CoGState, shown_progress
from kgqa.prompts.filter_candidates import FilterCandidates, split_candidates
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import StoppedBy
from kgqa.runtime.state import State, Update, VerifiedChain


@node("filter")
async def filter_candidates(state: State, runtime: NodeRuntime) -> Update:
    """Let the model choose among all ends of the verified chain at once.

    Where one prompt cannot show them all, they are judged in lots, and what is left once more, until one
    prompt holds it or no fewer prompts do.
    When none fits, the chain leaves working memory, with those that lead to the same ends,
    and the search turns back to its alternatives. A malformed reply chooses nothing.
    """
    *earlier, branch = state["memory"]
    kept, limit = await filter_branch(branch, state, runtime, met=earlier)
    if kept is None:
        earlier = [each for each in earlier if each.ends != branch.ends]
        return {"memory": earlier, "chain": branch.chain, "candidates": [], "decision": "backtrack"}
    return {"memory": [*earlier, kept], "stopped_by": limit, "decision": "stop"}


async def filter_branch(
    branch: VerifiedChain, state: State, runtime: NodeRuntime, *, met: Sequence[VerifiedChain]
) -> tuple[VerifiedChain | None, StoppedBy | None]:
    """Return a branch with the ends that fit, None if none does; and the limit that cut the turns short."""
    plan = shown_progress(cast(CoGState, state), runtime.context) if "findings" in state else None
    others, topics = tuple(each.chain for each in met), tuple(state["topic_entities"])
    prompt = FilterCandidates(state["question"], branch.chain, (), plan, others, topics=topics)
    runtime.trace |= {"chain": str(branch.chain), "candidates": len(branch.ends)}
    kept, limit, lots = branch, None, _split_ends(branch)
    while lots and not limit:
        try:
            kept, limit = await _choose_ends(prompt, kept, lots, runtime)
        except BudgetExceeded as error:
            if kept is branch:
                raise
            limit = error.limit
        left = _split_ends(kept)
        lots = left if len(left) < len(lots) and len(kept.ends) > 1 else []
    runtime.trace["kept"] = len(kept.ends)
    return kept if kept.ends else None, limit


def _split_ends(branch: VerifiedChain) -> list[tuple[Candidate, ...]]:
    return list(split_candidates([Candidate(end) for end in branch.ends]))


async def _choose_ends(
    prompt: FilterCandidates, branch: VerifiedChain, lots: list[tuple[Candidate, ...]], runtime: NodeRuntime
) -> tuple[VerifiedChain, StoppedBy | None]:
    """Go through the lots; where the budget ends on the way, what was chosen so far stands, if anything.

    While there is a lot that nobody has judged, the branch is still to be filtered.
    """
    kept: list[Term] = []
    counting, unjudged, limit = False, False, None
    for lot in lots:
        try:
            reply = await runtime.ask(replace(prompt, candidates=lot))
        except BudgetExceeded as error:
            if not kept:
                raise
            limit = error.limit
            break
        if reply:
            kept += [lot[number - 1].term for number in reply.chosen]
            counting = counting or reply.count
            runtime.trace["reason"] = reply.rationale
        else:
            unjudged = True
    verdict: Literal["stop", "filter"] = "filter" if unjudged or limit else "stop"
    counted = Aggregate("count") if counting else None
    words = str(runtime.trace.get("reason", ""))
    return replace(branch, ends=tuple(kept), verdict=verdict, picked=words, aggregate=counted), limit
