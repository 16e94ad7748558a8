"""Filter: which candidates meet the question's conditions? (CoR §4.2, step 2)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

from kgqa.kg.pages import Candidate, Page, Proof
from kgqa.kg.proof.query import Aggregate
from kgqa.kg.terms import Term
from kgqa.nodes.attributes import known_attributes
from kgqa.nodes.cog.state import CoGState, shown_progress
from kgqa.nodes.proof import query_of_memory
from kgqa.prompts.apply_conditions import ApplyConditions, StatedConditions
from kgqa.prompts.filter_candidates import FilterCandidates, FilteredCandidates
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import StoppedBy
from kgqa.runtime.state import State, Update, VerifiedChain

FilterPrompt = FilterCandidates | ApplyConditions
FilterReply = FilteredCandidates | StatedConditions


@node("filter")
async def filter_candidates(state: State, runtime: NodeRuntime) -> Update:
    """Let the model say by which conditions the question tells the ends of the verified chain apart.

    What it is shown of them are their ``attributes``: conditions on these are checked by the graph, on all
    ends at once. What no attribute says it chooses by name, as with ``attributes`` off it chooses all, where
    one prompt cannot show them all, in lots, and among what is left once more, until one prompt
    holds it or no fewer prompts do. While there is a lot that nobody has judged, the branch is still to be
    filtered. When none fits, the chain leaves working memory, with those that lead to the same ends,
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
    runtime.trace |= {"chain": str(branch.chain), "candidates": len(branch.ends)}
    kept, limit, prompt = branch, None, await _make_prompt(branch, state, runtime, met)
    lots, judged = prompt.lots, True
    while lots and not limit:
        try:
            kept, limit = await _judge_lots(prompt, kept, met, state, runtime)
            judged = judged and kept.verdict == "stop"
        except BudgetExceeded as error:
            if kept is branch:
                raise
            limit = error.limit
        prompt = replace(prompt, candidates=_candidates(kept))
        fewer = len(prompt.lots) < len(lots) and len(kept.ends) > 1
        lots = prompt.lots if fewer and kept.picked is not None else []
    runtime.trace["kept"] = len(kept.ends)
    return (kept if judged else replace(kept, verdict="filter")) if kept.ends else None, limit


def _candidates(branch: VerifiedChain) -> tuple[Candidate, ...]:
    return tuple(map(Candidate, branch.ends))


async def _make_prompt(
    branch: VerifiedChain, state: State, runtime: NodeRuntime, met: Sequence[VerifiedChain]
) -> FilterPrompt:
    plan = shown_progress(cast(CoGState, state), runtime.context) if "findings" in state else None
    question, topics = state["question"], tuple(state["topic_entities"])
    others, ends = tuple(each.chain for each in met), _candidates(branch)
    if not runtime.context.attributes:
        return FilterCandidates(question, branch.chain, ends, plan, others, topics=topics)
    known = await known_attributes(question, branch, met, topics, runtime)
    return ApplyConditions(question, branch.chain, ends, known, plan, others, topics=topics)


async def _judge_lots(
    prompt: FilterPrompt,
    branch: VerifiedChain,
    met: Sequence[VerifiedChain],
    state: State,
    runtime: NodeRuntime,
) -> tuple[VerifiedChain, StoppedBy | None]:
    """Go through the lots; where the budget ends on the way, what was chosen so far stands, if anything.

    What the graph is to decide is of all lots, and ends the round.
    """
    kept: list[Term] = []
    counting, unjudged, limit = False, False, None
    words: dict[str, None] = {}
    for lot in prompt.lots:
        shown = replace(prompt, candidates=lot)
        try:
            reply = await _ask(shown, runtime)
        except BudgetExceeded as error:
            if not kept:
                raise
            limit = error.limit
            break
        if reply is None:
            unjudged = True
            continue
        runtime.trace["reason"] = reply.rationale
        chosen = [lot[number - 1].term for number in reply.chosen]
        if isinstance(reply, StatedConditions) and isinstance(shown, ApplyConditions) and reply.decides:
            decided = await _decide(shown, reply, branch, met, state, runtime)
            return _choose_beside(decided, chosen, reply, whole=len(prompt.lots) == 1), limit
        kept += chosen
        counting = counting or reply.count
        words[getattr(reply, "words", "") or reply.rationale] = None
    verdict: Literal["stop", "filter"] = "filter" if unjudged or limit else "stop"
    counted = Aggregate("count") if counting else None
    picked = "; ".join(filter(None, words))
    return replace(branch, ends=tuple(kept), verdict=verdict, picked=picked, aggregate=counted), limit


async def _ask(prompt: FilterPrompt, runtime: NodeRuntime) -> FilterReply | None:
    if isinstance(prompt, ApplyConditions):
        return await runtime.ask(prompt)
    return await runtime.ask(prompt)


async def _decide(
    prompt: ApplyConditions,
    reply: StatedConditions,
    branch: VerifiedChain,
    met: Sequence[VerifiedChain],
    state: State,
    runtime: NodeRuntime,
) -> VerifiedChain:
    """Let the graph apply what a reply states; what it cannot check, no candidate meets."""
    conditions = prompt.conditions(reply)
    runtime.trace["conditions"] = [each.words for each in conditions]
    conditions = tuple(dict.fromkeys((*branch.conditions, *conditions)))
    stated = replace(branch, verdict="stop", conditions=conditions, aggregate=prompt.aggregate(reply))
    try:
        query = query_of_memory([*met, stated], state["topic_entities"])
    except ValueError as error:
        runtime.record_failure(error)
        return replace(stated, ends=())
    proof: Proof | None = await runtime.try_tool("prove_answers", query=query)
    found = proof.answers if proof else Page(())
    counted = Aggregate("count") if reply.count else stated.aggregate
    return replace(stated, ends=found.items, aggregate=counted, truncated=found.truncated)


def _choose_beside(
    decided: VerifiedChain, chosen: Sequence[Term], reply: StatedConditions, *, whole: bool
) -> VerifiedChain:
    """Return what is chosen of what the graph has decided; of one lot among several it is not all."""
    if not chosen:
        return decided
    if not whole:
        return replace(decided, verdict="filter")
    ends = tuple(term for term in chosen if term in {*decided.ends})
    return replace(decided, ends=ends, picked=reply.words or reply.rationale, truncated=False)
