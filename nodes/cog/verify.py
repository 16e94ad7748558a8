"""Verify: is the current subgoal met, is the question? (CoG §3.2.2, filter and sufficiency check)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, one_line
from kgqa.nodes.cog.state import (
    CoGState,
    CoGUpdate,
    Finding,
    PrunedChain,
    fitting_blueprint,
    last_hops,
    passed_slots,
    plan_progress,
    standing_findings,
    topic_slots,
)
from kgqa.nodes.frontier.state import prompt_context, uses_own_knowledge
from kgqa.nodes.frontier.update_memory import write_memory
from kgqa.nodes.frontier.verify import evaluate
from kgqa.nodes.topic_conditions import awaited_topics
from kgqa.nodes.verdicts import (
    SAID_BEFORE,
    accept_chain,
    group_findings,
    hold_group,
    rejected_with,
    said_to_unite,
    take_as_said,
)
from kgqa.priors.masking import mask_names
from kgqa.prompts.candidates import (
    MAX_CANDIDATES_SHOWN,
    ChainFindings,
    Take,
    numbered_candidates,
    without_twins,
)
from kgqa.prompts.chain import MAX_FEW_NAMES
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency
from kgqa.prompts.diagnose import Signal
from kgqa.prompts.filter_found import FilterFound
from kgqa.prompts.progress import MAX_SENTENCE_CHARS
from kgqa.runtime.node import NodeRuntime, node

STAGNANT_CHECKS = 2  # checks one after the other without a finding that are stagnation


@node("verify")
async def verify(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model filter the ends of the chain, note what they establish, and decide.

    Where something fails, the state names the signal: nothing was reached, nothing new was found, what was
    reached is of the wrong kind, or the search is as deep as allowed. A chain whose ends have no names, or do
    not meet the other topics' chains, is extended without a call.
    """
    chain, candidates = state["chain"], state["candidates"]
    named = without_twins(c for c in candidates if c.term.name)
    runtime.trace["chain"] = str(chain)
    if not candidates and not state["memory"]:
        return _fail("no_candidates", runtime)
    if not named:
        unmet = "no candidate meets the other topics' chains"
        runtime.trace["reason"] = "no named candidate to judge by" if candidates else unmet
        return _extend_or_fail(state, chain, state["findings"], runtime)
    awaited = awaited_topics(state, runtime)
    if (outright := state["outright"]) and outright.chain == chain:
        runtime.trace["reason"] = SAID_BEFORE
        names = ", ".join(str(each.term) for each in named[:MAX_FEW_NAMES])
        take: Take = "all" if outright.decision == "forward" else take_as_said(outright, named)
        finding, united = f"{chain}: {names}", said_to_unite(state)
        said = Sufficiency(decision=outright.decision, take=take, finding=finding, united=united)
        return _go_by(said, named, awaited, state, runtime)
    slots = topic_slots(state) if fitting_blueprint(state, runtime.context) else ()
    prompt = CheckSufficiency(
        question=state["question"],
        chain=chain,
        candidates=tuple(named),
        progress=plan_progress(state),
        met=tuple(branch.chain for branch in state["memory"]),
        truncated=state["truncated"],
        awaited=awaited,
        siblings=tuple(state["siblings"]),
        expected=next((slot.relation for slot in slots[passed_slots(chain, slots) :]), ""),
        topics=tuple(state["topic_entities"]),
        attributes=runtime.context.attributes,
    )
    verdict = await runtime.ask(prompt)
    if verdict is None:
        return {"candidates": [], "decision": "backtrack"}
    runtime.trace |= {"reason": verdict.rationale, "finding": verdict.finding}
    return _go_by(verdict, named, awaited, state, runtime)


def _go_by(
    verdict: Sufficiency,
    named: Sequence[Candidate],
    awaited: Sequence[Entity],
    state: CoGState,
    runtime: NodeRuntime,
) -> CoGUpdate:
    """Do what a verdict says."""
    if verdict.decision == "forward":
        return _extend(state, verdict, named, runtime)
    findings, finding = state["findings"], _finding(state["chain"], verdict, named)
    if verdict.decision == "backtrack":
        same = rejected_with(state, verdict)
        return {
            **_fail("wrong_type", runtime),
            "findings": [*findings, replace(finding, text="")],
            "pruned": [each for each in state["pruned"] if each.chain not in same],
            "tried": [*state["tried"], *sorted(same)],
        }
    return cast(CoGUpdate, {**accept_chain(state, verdict, named, awaited), "findings": [*findings, finding]})


@node("verify")
async def verify_frontier(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model filter what the whole frontier has led to, update the memory, and then judge by both.

    Three prompts, as in the paper (A.2.2, A.2.3, A.3). What is filtered out is remembered as pruned branches.
    With ``own_knowledge`` the model may answer from what it knows, and the record says ``parametric``. A
    malformed reply keeps what there is, and goes on.
    """
    found = state["found"]
    findings = [*state["findings"], *(_group_finding(each, []) for each in found)]
    update: CoGUpdate = {"candidates": [], "findings": findings}
    if kept := await runtime.ask(FilterFound(state["question"], tuple(found), **prompt_context(state))):
        found, aside = _keep_ends(found, kept.keep, state)
        runtime.trace["kept"] = [str(each.chain) for each in found]
        update |= {"found": found, "pruned": [*state["pruned"], *aside]}
    frontier = [each.chain for each in found if any(isinstance(end.term, Entity) for end in each.ends)]
    before = [chain for chain in state["frontier"] if all(chain != each.chain for each in state["found"])]
    update["frontier"] = frontier = [*before, *frontier]
    if not found:
        return {**update, **_fail("wrong_type", runtime), "checks_without_gain": 0}
    known = await write_memory(found, state, runtime)
    news = [text for text in known if text and text not in state["known"]]
    runtime.trace["finding"] = gained = " ".join(news)
    update |= {"known": known, "findings": [*findings, *(_group_finding(each, news) for each in found)]}
    groups = group_findings(found, state["explored"], state["topic_entities"])
    own, noted = uses_own_knowledge(runtime.context), cast(CoGState, {**state, "known": known})
    if groups and (taken := await evaluate(groups, noted, runtime, own_knowledge=own)):
        return cast(CoGUpdate, {**update, **taken})
    update["checks_without_gain"] = fruitless = 0 if gained else state["checks_without_gain"] + 1
    if fruitless >= STAGNANT_CHECKS:
        return {**update, **_fail("no_gain", runtime)}
    if any(chain.depth < runtime.context.depth for chain in frontier):
        return {**update, "resume_points": [*state["resume_points"], *frontier], "decision": "forward"}
    runtime.trace["limit"] = "depth"
    return {**update, **_fail("insufficient", runtime)}


def _keep_ends(
    found: Sequence[ChainFindings], keep: Sequence[int], state: CoGState
) -> tuple[list[ChainFindings], list[PrunedChain]]:
    """Return the groups held to what is kept of them, and the branches that are set aside with the rest.

    What could not be shown is kept; a group without names as well.
    """
    rows = numbered_candidates(found)
    held: list[ChainFindings] = []
    aside: list[PrunedChain] = []
    for number, group in enumerate(found, 1):
        left = [row.candidate for row in rows if row.group == number and row.number not in keep]
        rest = [end for end in group.ends if end not in left]
        if not left or any(end.term.name for end in rest):
            held.append(hold_group(group, rest))
        others = [end.term for end in left if isinstance(end.term, Entity)]
        if others:
            branch = group.chain.constrained_to(others)
            aside.append(PrunedChain(branch, hops=last_hops(branch, state)))
    return held, aside


def _group_finding(group: ChainFindings, news: Sequence[str]) -> Finding:
    """Return what a group led to, and of what the round has told what names any of its ends."""
    names = [one_line(str(end.term)) for end in group.named[:MAX_CANDIDATES_SHOWN]]
    text = " ".join(each for each in news if mask_names(each, names) != each)
    reached = tuple(names[:MAX_FEW_NAMES])
    return Finding(group.chain, one_line(text, MAX_SENTENCE_CHARS), reached, len(group.named))


def _extend(
    state: CoGState, verdict: Sufficiency, named: Sequence[Candidate], runtime: NodeRuntime
) -> CoGUpdate:
    """Go on from all ends, or hold the chain to those that are kept and set the others aside."""
    chain, pruned, tried = state["chain"], state["pruned"], state["tried"]
    kept = [term for number in verdict.keep if isinstance(term := named[number - 1].term, Entity)]
    ends = [c.term for c in state["candidates"] if isinstance(c.term, Entity)]
    others = [end for end in ends if end not in kept]
    if kept and others:
        runtime.trace["kept"] = [str(entity) for entity in kept]
        pruned = [*pruned, PrunedChain(chain.constrained_to(others), hops=last_hops(chain, state))]
        chain = chain.constrained_to(kept)
        tried = [*tried, chain]
        named = [c for c in named if c.term in kept]
    findings = [*state["findings"], _finding(chain, verdict, named)]
    update = _extend_or_fail({**state, "chain": chain}, chain, findings, runtime)
    return {**update, "findings": findings, "chain": chain, "pruned": pruned, "tried": tried}


def _finding(chain: Chain, verdict: Sufficiency, named: Sequence[Candidate]) -> Finding:
    reached = tuple(one_line(str(candidate.term)) for candidate in named[:MAX_FEW_NAMES])
    return Finding(chain, one_line(verdict.finding, MAX_SENTENCE_CHARS), reached, len(named))


def _extend_or_fail(
    state: CoGState, chain: Chain, findings: list[Finding], runtime: NodeRuntime
) -> CoGUpdate:
    """Extend the chain, unless nothing is gained any more or it is as deep as allowed."""
    standing = standing_findings({**state, "findings": findings})
    recent = [each.text for each in standing if each.chain.topic == chain.topic]
    if len(recent) >= STAGNANT_CHECKS and not any(recent[-STAGNANT_CHECKS:]):
        return _fail("no_gain", runtime)
    if chain.depth < runtime.context.depth:
        return {"candidates": [], "resume_points": [*state["resume_points"], chain], "decision": "forward"}
    runtime.trace["limit"] = "depth"
    return _fail("insufficient", runtime)


def _fail(signal: Signal, runtime: NodeRuntime) -> CoGUpdate:
    runtime.trace["signal"] = signal
    return {"candidates": [], "signal": signal, "decision": "backtrack"}
