"""Filter: which candidates meet the question's conditions? (CoR §4.2, step 2)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, cast

from kgqa.kg.pages import Candidate, Page, Proof
from kgqa.kg.proof.query import Aggregate
from kgqa.kg.terms import Term
from kgqa.nodes.attributes import known_attributes, look_for_missing
from kgqa.nodes.cog.state import CoGState, shown_progress
from kgqa.nodes.proof import query_of_memory
from kgqa.nodes.verdicts import with_twins
from kgqa.prompts.apply_conditions import ApplyConditions, StatedConditions
from kgqa.prompts.candidates import without_twins
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
    ends at once. What it misses among them is looked for once; where it cannot be decided, the ends stay, and
    the branch is still to be filtered, as while there is a lot that nobody has judged. What no attribute says
    it may choose by name, as with ``attributes`` off it chooses all, where one prompt cannot show them all,
    in lots, and among what is left once more, until one prompt holds it or no fewer prompts do. When none
    fits, the chain leaves working memory, with those that lead to the same ends, and the search turns back to
    its alternatives. A malformed reply chooses nothing; of attributes it leaves the ends as they are.
    """
    *earlier, branch = state["memory"]
    kept, limit, _ = await filter_branch(branch, state, runtime, earlier=earlier)
    if kept is None:
        earlier = [each for each in earlier if each.ends != branch.ends]
        return {"memory": earlier, "chain": branch.chain, "candidates": [], "decision": "backtrack"}
    return {"memory": [*earlier, kept], "stopped_by": limit, "decision": "stop"}


async def filter_branch(
    branch: VerifiedChain, state: State, runtime: NodeRuntime, *, earlier: Sequence[VerifiedChain]
) -> tuple[VerifiedChain | None, StoppedBy | None, str | None]:
    """Return a branch with the ends that fit, None if none does; the limit that cut the turns short; and why.

    Why is in the words of the last reply, None where there was none.
    """
    reason: str | None = None
    runtime.trace |= {"chain": str(branch.chain), "candidates": len(branch.ends)}
    kept, limit, prompt = branch, None, await _make_prompt(branch, state, runtime, earlier)
    lots, judged = prompt.lots, True
    while lots and not limit:
        try:
            kept, limit, said = await _judge_lots(prompt, kept, earlier, state, runtime)
            reason = reason if said is None else said
            judged = judged and kept.verdict == "stop"
        except BudgetExceeded as error:
            if kept is branch:
                raise
            limit = error.limit
        prompt = replace(prompt, candidates=_candidates(kept))
        fewer = len(prompt.lots) < len(lots) and len(kept.ends) > 1
        lots = prompt.lots if fewer and kept.picked is not None else []
    kept = with_twins(kept, [*map(Candidate, branch.ends)])
    runtime.trace["kept"] = len(kept.ends)
    left = (kept if judged else replace(kept, verdict="filter")) if kept.ends else None
    return left, limit, reason


def _candidates(branch: VerifiedChain) -> tuple[Candidate, ...]:
    return without_twins(map(Candidate, branch.ends))


async def _make_prompt(
    branch: VerifiedChain, state: State, runtime: NodeRuntime, earlier: Sequence[VerifiedChain]
) -> FilterPrompt:
    plan = shown_progress(cast(CoGState, state), runtime.context) if "findings" in state else None
    question, topics = state["question"], tuple(state["topic_entities"])
    earlier_chains, ends = tuple(each.chain for each in earlier), _candidates(branch)
    applied = branch.conditions
    if not runtime.context.attributes:
        return FilterCandidates(question, branch.chain, ends, plan, earlier_chains, applied, topics=topics)
    known = await known_attributes(question, branch, earlier, topics, runtime)
    return ApplyConditions(question, branch.chain, ends, known, plan, earlier_chains, applied, topics=topics)


class _LotVerdict(NamedTuple):
    """What a reply leaves of a lot: ``words`` say by what it has chosen, None where it has not."""

    kept: Sequence[Term]
    undecided: bool = False
    none_fits: bool = False
    words: str | None = None


def _read_lot(reply: FilterReply, terms: Sequence[Term], chosen: Sequence[Term]) -> _LotVerdict:
    """Read what a reply that leaves nothing to the graph says of its lot."""
    none_fits = False
    if isinstance(reply, StatedConditions):
        none_fits, undecided = reply.fits == "none", bool(reply.missing) and not chosen
        if undecided or reply.fits == "all" or (reply.count and not chosen):
            return _LotVerdict(terms, undecided, none_fits)
    return _LotVerdict(chosen, none_fits=none_fits, words=getattr(reply, "words", "") or reply.rationale)


async def _judge_lots(
    prompt: FilterPrompt,
    branch: VerifiedChain,
    earlier: Sequence[VerifiedChain],
    state: State,
    runtime: NodeRuntime,
) -> tuple[VerifiedChain, StoppedBy | None, str | None]:
    """Go through the lots; where the budget ends on the way, what was chosen so far stands, if anything.

    What the graph is to decide is of all lots, and ends the round.
    """
    verdicts: list[_LotVerdict] = []
    counting, limit, reason = False, None, None
    for lot in prompt.lots:
        try:
            shown, reply = await _ask(replace(prompt, candidates=lot), branch, earlier, runtime)
        except BudgetExceeded as error:
            if not any(each.kept for each in verdicts):
                raise
            limit = error.limit
            break
        if reply is None:
            verdicts.append(_LotVerdict((), undecided=True))
            continue
        runtime.trace["reason"] = reason = reply.rationale
        terms = [candidate.term for candidate in lot]
        chosen = [terms[number - 1] for number in reply.chosen]
        counting = counting or reply.count
        if isinstance(reply, StatedConditions) and isinstance(shown, ApplyConditions):
            if reply.missing:
                runtime.trace["missing"] = reply.missing
            if reply.decides:
                decided = await _decide(shown, reply, branch, earlier, state, runtime, counting=counting)
                narrowed = _choose_beside(decided, chosen, reply, whole=len(prompt.lots) == 1)
                still_open = any(each.undecided or each.words is not None for each in verdicts)
                return replace(narrowed, verdict="filter") if still_open else narrowed, None, reason
        verdicts.append(_read_lot(reply, terms, chosen))
    return _sum_up(verdicts, prompt, branch, counting=counting, limit=limit), limit, reason


def _sum_up(
    verdicts: Sequence[_LotVerdict],
    prompt: FilterPrompt,
    branch: VerifiedChain,
    *,
    counting: bool,
    limit: StoppedBy | None,
) -> VerifiedChain:
    """Return the branch with what all lots leave; where nobody could decide any, all of its ends."""
    kept = tuple(term for each in verdicts for term in each.kept)
    undecided = any(each.undecided for each in verdicts)
    none_fits = any(each.none_fits for each in verdicts)
    if isinstance(prompt, ApplyConditions) and undecided and not (kept or none_fits):
        kept = tuple(candidate.term for candidate in prompt.candidates)
    verdict: Literal["stop", "filter"] = "filter" if undecided or limit else "stop"
    counted = Aggregate("count") if counting else branch.aggregate
    words = dict.fromkeys(each.words for each in verdicts if each.words is not None)
    picked = "; ".join(filter(None, words)) if words or not kept else branch.picked
    return replace(branch, ends=kept, verdict=verdict, picked=picked, aggregate=counted)


async def _ask(
    prompt: FilterPrompt, branch: VerifiedChain, earlier: Sequence[VerifiedChain], runtime: NodeRuntime
) -> tuple[FilterPrompt, FilterReply | None]:
    """Return the reply, and the prompt that it is to: with what was missing, once it was looked for."""
    if not isinstance(prompt, ApplyConditions):
        return prompt, await runtime.ask(prompt)
    reply = await runtime.ask(prompt)
    if reply is None or not prompt.can_look_for(reply):
        return prompt, reply
    known = await look_for_missing(reply.missing, prompt.known, branch, earlier, runtime)
    if known is None:
        return prompt, reply
    searched = replace(prompt, known=known, looked_for=reply.missing)
    return searched, await runtime.ask(searched)


async def _decide(
    prompt: ApplyConditions,
    reply: StatedConditions,
    branch: VerifiedChain,
    earlier: Sequence[VerifiedChain],
    state: State,
    runtime: NodeRuntime,
    *,
    counting: bool,
) -> VerifiedChain:
    """Let the graph apply what a reply states; what it cannot check, no candidate meets.

    ``counting``: this reply, or one to an earlier lot, says that the question asks how many fit.
    """
    conditions = prompt.conditions(reply)
    runtime.trace["conditions"] = [each.words for each in conditions]
    conditions = tuple(dict.fromkeys((*branch.conditions, *conditions)))
    stated = replace(branch, verdict="stop", conditions=conditions, aggregate=prompt.aggregate(reply))
    try:
        query = query_of_memory([*earlier, stated], state["topic_entities"])
    except ValueError as error:
        runtime.record_failure(error)
        return replace(stated, ends=())
    proof: Proof | None = await runtime.try_tool("prove_answers", query=query)
    found = proof.answers if proof else Page(())
    counted = stated.aggregate or (Aggregate("count") if counting else branch.aggregate)
    return replace(stated, ends=found.items, aggregate=counted, truncated=found.truncated)


def _choose_beside(
    decided: VerifiedChain, chosen: Sequence[Term], reply: StatedConditions, *, whole: bool
) -> VerifiedChain:
    """Return what is chosen of what the graph has decided; of one lot among several it is not all.

    What is missing is left to filter.
    """
    if not chosen:
        return replace(decided, verdict="filter") if reply.missing else decided
    if not whole:
        return replace(decided, verdict="filter")
    ends = tuple(term for term in chosen if term in {*decided.ends})
    return replace(decided, ends=ends, picked=reply.words or reply.rationale, truncated=False)
