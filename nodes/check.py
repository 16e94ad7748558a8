"""Check: is the current subgoal met, is the question? (CoG §3.2.2, filter and sufficiency check)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, one_line
from kgqa.models.errors import MalformedReply
from kgqa.nodes.verified import accept
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency
from kgqa.prompts.diagnose import REACHED, Signal
from kgqa.prompts.progress import SENTENCE_LIMIT
from kgqa.session.guided import (
    Finding,
    Guided,
    GuidedUpdate,
    Pruned,
    passed,
    progress,
    slots,
    standing,
)
from kgqa.session.step import Run, step

STAGNANT = 2
"""Checks one after the other without a finding that are stagnation."""


@step("verify")
async def check(state: Guided, run: Run) -> GuidedUpdate:
    """Let the model filter the ends of the chain, note what they establish, and decide.

    Where something fails, the trace names the signal: nothing was reached, nothing new was
    found, what was reached is of the wrong kind, or the search is as deep as allowed. A
    chain whose ends have no names, or do not meet the other topics' chains, is extended
    without a call.
    """
    named = [c for c in state["candidates"] if c.term.name]
    run.note["chain"] = str(state["chain"])
    if not state["candidates"] and not state["memory"]:
        return _fail("no_candidates", run)
    if not named:
        met = "no candidate meets the other topics' chains" if not state["candidates"] else None
        run.note["reason"] = met or "no named candidate to judge by"
        return _go_on(state, state["chain"], state["findings"], run)
    try:
        verdict = await run.ask(_prompt(state, named))
    except MalformedReply as error:
        run.failed(error)
        return {"candidates": [], "decision": "backtrack"}
    run.note |= {"reason": verdict.rationale, "finding": verdict.finding}
    if verdict.decision in {"stop", "filter"}:
        found = [*state["findings"], _finding(state["chain"], verdict, named)]
        return cast(GuidedUpdate, {**accept(state, verdict, named), "findings": found})
    if verdict.decision == "backtrack":
        wrong = replace(_finding(state["chain"], verdict, named), text="")
        return {**_fail("wrong_type", run), "findings": [*state["findings"], wrong]}
    return _forward(state, verdict, named, run)


def _prompt(state: Guided, named: Sequence[Candidate]) -> CheckSufficiency:
    chain, here = state["chain"], slots(state)
    behind = passed(chain, here)
    return CheckSufficiency(
        question=state["question"],
        chain=chain,
        candidates=tuple(named),
        progress=progress(state),
        met=tuple(branch.chain for branch in state["memory"]),
        truncated=state["truncated"],
        expected=here[behind].relation if behind < len(here) else "",
        topics=tuple(state["topic_entities"]),
    )


def _forward(state: Guided, verdict: Sufficiency, named: Sequence[Candidate], run: Run) -> GuidedUpdate:
    """Go on from all ends, or hold the chain to those that are kept and set the others aside."""
    chain, pruned = state["chain"], state["pruned"]
    kept = [term for number in verdict.keep if isinstance(term := named[number - 1].term, Entity)]
    ends = [c.term for c in state["candidates"] if isinstance(c.term, Entity)]
    others = [end for end in ends if end not in kept]
    tried = state["tried"]
    if kept and others:
        run.note["kept"] = [str(entity) for entity in kept]
        pruned = [*pruned, Pruned(chain.holding(others))]
        chain = chain.holding(kept)
        tried = [*tried, chain]
        named = [c for c in named if c.term in kept]
    findings = [*state["findings"], _finding(chain, verdict, named)]
    update = _go_on({**state, "chain": chain}, chain, findings, run)
    return {**update, "findings": findings, "chain": chain, "pruned": pruned, "tried": tried}


def _finding(chain: Chain, verdict: Sufficiency, named: Sequence[Candidate]) -> Finding:
    reached = tuple(one_line(str(candidate.term)) for candidate in named[:REACHED])
    return Finding(chain, one_line(verdict.finding, SENTENCE_LIMIT), reached, len(named))


def _go_on(state: Guided, chain: Chain, findings: list[Finding], run: Run) -> GuidedUpdate:
    """Extend the chain, unless nothing is gained any more or it is as deep as allowed."""
    recent = [f.text for f in standing({**state, "findings": findings}) if f.chain.topic == chain.topic]
    if len(recent) >= STAGNANT and not any(recent[-STAGNANT:]):
        return _fail("no_gain", run)
    if chain.depth < run.context.depth:
        return {"candidates": [], "points": [*state["points"], chain], "decision": "forward"}
    run.note["limit"] = "depth"
    return _fail("insufficient", run)


def _fail(signal: Signal, run: Run) -> GuidedUpdate:
    run.note["signal"] = signal
    return {"candidates": [], "decision": "backtrack"}
