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
    passed_slots,
    plan_progress,
    standing_findings,
    topic_slots,
)
from kgqa.nodes.verdicts import accept_chain
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency
from kgqa.prompts.diagnose import MAX_REACHED_NAMES, Signal
from kgqa.prompts.progress import MAX_SENTENCE_CHARS
from kgqa.runtime.node import NodeRuntime, node

STAGNANT_CHECKS = 2  # checks one after the other without a finding that are stagnation


@node("verify")
async def verify(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model filter the ends of the chain, note what they establish, and decide.

    Where something fails, the trace names the signal: nothing was reached, nothing new was found, what was
    reached is of the wrong kind, or the search is as deep as allowed. A chain whose ends have no names, or do
    not meet the other topics' chains, is extended without a call.
    """
    chain, candidates, findings = state["chain"], state["candidates"], state["findings"]
    named = [c for c in candidates if c.term.name]
    runtime.trace["chain"] = str(chain)
    if not candidates and not state["memory"]:
        return _fail("no_candidates", runtime)
    if not named:
        unmet = "no candidate meets the other topics' chains"
        runtime.trace["reason"] = "no named candidate to judge by" if candidates else unmet
        return _extend_or_fail(state, chain, findings, runtime)
    slots = topic_slots(state)
    prompt = CheckSufficiency(
        question=state["question"],
        chain=chain,
        candidates=tuple(named),
        progress=plan_progress(state),
        met=tuple(branch.chain for branch in state["memory"]),
        truncated=state["truncated"],
        expected=next((slot.relation for slot in slots[passed_slots(chain, slots) :]), ""),
        topics=tuple(state["topic_entities"]),
    )
    verdict = await runtime.ask(prompt)
    if verdict is None:
        return {"candidates": [], "decision": "backtrack"}
    runtime.trace |= {"reason": verdict.rationale, "finding": verdict.finding}
    if verdict.decision == "forward":
        return _extend(state, verdict, named, runtime)
    finding = _finding(chain, verdict, named)
    if verdict.decision == "backtrack":
        return {**_fail("wrong_type", runtime), "findings": [*findings, replace(finding, text="")]}
    return cast(CoGUpdate, {**accept_chain(state, verdict, named), "findings": [*findings, finding]})


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
        pruned = [*pruned, PrunedChain(chain.constrained_to(others))]
        chain = chain.constrained_to(kept)
        tried = [*tried, chain]
        named = [c for c in named if c.term in kept]
    findings = [*state["findings"], _finding(chain, verdict, named)]
    update = _extend_or_fail({**state, "chain": chain}, chain, findings, runtime)
    return {**update, "findings": findings, "chain": chain, "pruned": pruned, "tried": tried}


def _finding(chain: Chain, verdict: Sufficiency, named: Sequence[Candidate]) -> Finding:
    reached = tuple(one_line(str(candidate.term)) for candidate in named[:MAX_REACHED_NAMES])
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
    return {"candidates": [], "decision": "backtrack"}
