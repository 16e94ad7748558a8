"""Diagnose: which decision led astray, and what to try instead? (CoG §3.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

from kgqa.kg.terms import Chain
from kgqa.models.errors import MalformedReply
from kgqa.nodes.cog.state import (
    CoGState,
    CoGUpdate,
    Finding,
    decided_chains,
    fitting_blueprint,
    known_progress,
    plan_progress,
    standing_decisions,
    topic_index,
)
from kgqa.nodes.look_again import may_look_again
from kgqa.prompts.diagnose import (
    MAX_BRANCHES_SHOWN,
    MAX_DECISIONS_SHOWN,
    Diagnose,
    Diagnosis,
    PastDecision,
    PrunedBranch,
    Signal,
)
from kgqa.prompts.progress import Progress
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import next_topic

MAX_RECALLABLE_BRANCHES = 5  # pruned branches of one decision that the model can recall: the most relevant

SPENT = "every diagnosis is spent"
_NODES_BEFORE_CHOICE = frozenset({"retrieve_relations", "rerank", "prune"})
"""Nodes that fail before a relation is chosen."""


@node("diagnose")
async def diagnose(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model name the decision to blame, and turn back to before it.

    What it recalls of the branches that were pruned there is tried next; if it recalls none, the relations
    there are chosen from again. Where it blames nothing, or has just turned down all that leaves the topics,
    the current topic leads no further, and the search does without it. An outage of the graph or a malformed
    reply is no failure of the search: what was chosen and waits is tried, the last first, without a call;
    after a malformed reply, what was set aside as well.
    When all diagnoses are spent, what the last one has recalled is tried, and then the answer is inferred
    from what was verified. Without refinement a failure ends the search from the current topic (Table 3).
    """
    last, failure = state["last_node"], state["last_failure"]
    runtime.trace["chain"] = str(state["chain"])
    steps = standing_decisions(state, undecided=last in _NODES_BEFORE_CHOICE)[-MAX_DECISIONS_SHOWN:]
    branches = list(_recallable_branches(state, steps))
    if failure:
        runtime.trace["reason"] = "no failure of the search"
        outage = failure != MalformedReply.__name__
        left = [branch for branch in branches if branch.waiting] if outage else branches
        return _take_last_branches(state, steps, left, runtime) or _skip_topic(state, runtime)
    if not runtime.context.refinement:
        runtime.trace["reason"] = "refinement is off"
        return _skip_topic(state, runtime)
    if not any(decided.after for decided in steps) and (not branches or _turned_down(last, runtime)):
        runtime.trace["reason"] = f"{state['chain'].topic} leads nowhere"
        return _skip_topic(state, runtime)
    if state["diagnoses"] >= runtime.context.refinements:
        runtime.trace["reason"] = SPENT
        order = {chain: -place for place, chain in enumerate(state["stack"])}
        recalled = sorted((b for b in branches if b.chain in order), key=lambda branch: order[branch.chain])
        taken = _take_last_branches(state, steps, recalled, runtime)
        return taken or {"decision": "forward" if may_look_again(state, runtime) else "infer"}
    asked: CoGUpdate = {"diagnoses": state["diagnoses"] + 1}
    return {**asked, **await _ask_for_diagnosis(state, _signal(state), steps, branches, runtime)}


@node("diagnose")
async def diagnose_frontier(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model name the decision to blame, and go back to the frontier before it.

    Chains that do not go through that decision stand; what the others led to is no evidence any more. What
    is recalled is followed beside them; if nothing is, the relations there are chosen from again. Where
    nothing is blamed, or every diagnosis is spent, the answer is inferred. An outage or a malformed reply is
    no failure of the search, and ends it too.
    """
    last, failure = state["last_node"], state["last_failure"]
    steps = _frontier_decisions(state, undecided=last in _NODES_BEFORE_CHOICE)[-MAX_DECISIONS_SHOWN:]
    branches = list(_recallable_branches(state, steps))
    over: CoGUpdate = {"candidates": [], "decision": "forward" if may_look_again(state, runtime) else "infer"}
    if not runtime.context.refinement:
        runtime.trace["reason"] = "refinement is off"
        return {**over, "decision": "stop"}
    if failure or state["diagnoses"] >= runtime.context.refinements:
        runtime.trace["reason"] = "no failure of the search" if failure else SPENT
        return over
    if not any(decided.after for decided in steps) and (not branches or _turned_down(last, runtime)):
        runtime.trace["reason"] = "the topics lead nowhere"
        return over
    reply = await _review(state, _signal(state), steps, branches, known_progress(state), runtime)
    asked: CoGUpdate = {"diagnoses": state["diagnoses"] + 1}
    if reply is None:
        return {**over, **asked}
    dropped = _drop_blueprint(reply, state)
    if reply.step == 0:
        return {**over, **asked, **dropped}
    blamed = steps[reply.step - 1]
    recalled = [branches[number - 1].chain for number in reply.recall]
    runtime.trace["recalled"] = [str(chain) for chain in recalled]
    led = blamed.after or blamed.before

    def stands(chain: Chain) -> bool:
        return chain.upto(led.depth) != led

    stand = list(filter(stands, state["frontier"]))
    return {
        **asked,
        **dropped,
        "frontier": stand if recalled else [*stand, blamed.before],
        "found": [each for each in state["found"] if not blamed.after or stands(each.chain)],
        "explored": [each for each in state["explored"] if not blamed.after or stands(each.chain)],
        "stack": recalled[::-1],
        "memory": [],
        "candidates": [],
        "decision": "backtrack",
    }


def _frontier_decisions(state: CoGState, *, undecided: bool) -> list[PastDecision]:
    """Return the decisions that led to the frontier, or to what was last followed; then those not taken."""
    findings = {finding.chain: finding for finding in state["findings"]}
    stand = {(chain.topic, chain.hops) for chain in state["frontier"]}
    followed = (offer.chain for offer in state["offers"])
    chains = [*state["frontier"], *(each for each in followed if (each.topic, each.hops) not in stand)]
    begun = {after: before for chain in chains for before, after in pairwise(decided_chains(chain, state))}
    found = [findings.get(chain, Finding(chain, "")) for chain in begun]
    taken = [
        PastDecision(begun[each.chain], each.chain, each.reached, each.total, each.text) for each in found
    ]
    return [*taken, *(PastDecision(chain, None, (), 0, "") for chain in chains if undecided)]


def _turned_down(last: str, runtime: NodeRuntime) -> bool:
    """Return whether the model was shown all relations and chose none: there is no use in asking again."""
    return last == "prune" and not runtime.context.always_ask


def _signal(state: CoGState) -> Signal:
    if state["last_node"] == "verify":
        return state["signal"]
    return "wrong_type" if state["last_node"] == "filter" else "no_candidates"


async def _review(
    state: CoGState,
    signal: Signal,
    steps: list[PastDecision],
    branches: list[PrunedBranch],
    progress: Progress,
    runtime: NodeRuntime,
) -> Diagnosis | None:
    runtime.trace["signal"] = signal
    shown = fitting_blueprint(state, runtime.context)
    prompt = Diagnose(
        question=state["question"],
        signal=signal,
        progress=progress,
        trajectory=tuple(steps),
        pruned=tuple(branches if shown else (replace(each, relevance=None) for each in branches)),
        blueprint=str(shown or ""),
        topics=tuple(state["topic_entities"]),
    )
    reply = await runtime.ask(prompt)
    if reply is not None:
        runtime.trace |= {"step": reply.step, "blueprint": reply.blueprint, "reason": reply.rationale}
    return reply


def _drop_blueprint(reply: Diagnosis, state: CoGState) -> CoGUpdate:
    """Drop a blueprint that misleads, and with it how relevant it made the pruned branches (appendix K)."""
    if reply.blueprint == "keep":
        return {}
    return {"blueprint": None, "pruned": [replace(each, relevance=None) for each in state["pruned"]]}


async def _ask_for_diagnosis(
    state: CoGState,
    signal: Signal,
    steps: list[PastDecision],
    branches: list[PrunedBranch],
    runtime: NodeRuntime,
) -> CoGUpdate:
    reply = await _review(state, signal, steps, branches, plan_progress(state), runtime)
    if reply is None:
        return _take_last_branches(state, steps, branches, runtime) or _skip_topic(state, runtime)
    dropped = _drop_blueprint(reply, state)
    left = cast(CoGState, {**state, **dropped})
    if reply.step == 0:
        return {**dropped, **_skip_topic(left, runtime)}
    recalled = [branches[number - 1] for number in reply.recall]
    return {**dropped, **_turn_back(left, steps[reply.step - 1], recalled, runtime)}


def _recallable_branches(state: CoGState, steps: Sequence[PastDecision]) -> Iterator[PrunedBranch]:
    """Yield the branches of each decision: those that wait and entities first, then the most relevant."""
    most = min(MAX_RECALLABLE_BRANCHES, MAX_BRANCHES_SHOWN // max(len(steps), 1))
    tried = set(state["tried"])
    for number, decided in enumerate(steps, 1):
        here = [each for each in state["pruned"] if each.before == decided.before and each.chain not in tried]
        here.sort(key=lambda each: (0, 0.0) if each.is_first else (1, -(each.relevance or 0.0)))
        for each in here[:most]:
            yield PrunedBranch(number, each.chain, each.waiting, each.relevance)


def _take_last_branches(
    state: CoGState, steps: list[PastDecision], branches: list[PrunedBranch], runtime: NodeRuntime
) -> CoGUpdate | None:
    """Take the branches of the last decision that has any, of the current topic; None if none has."""
    last = max((b.step for b in branches if b.chain.topic == state["chain"].topic), default=None)
    if last is None:
        return None
    return _turn_back(state, steps[last - 1], [branch for branch in branches if branch.step == last], runtime)


def _turn_back(
    state: CoGState, blamed: PastDecision, recalled: Sequence[PrunedBranch], runtime: NodeRuntime
) -> CoGUpdate:
    """Restore the frontier from before a decision, with the recalled branches on the stack.

    What later topics had led to is forgotten: it has to meet something else now.
    """
    here = topic_index(state, blamed.before.topic)

    def stays(chain: Chain) -> bool:
        return topic_index(state, chain.topic) <= here

    runtime.trace["recalled"] = [str(branch.chain) for branch in recalled]
    waiting = {branch.chain for branch in recalled[1:]}
    pruned = [replace(each, waiting=each.waiting or each.chain in waiting) for each in state["pruned"]]
    return {
        "chain": blamed.before,
        "stack": [branch.chain for branch in reversed(recalled)],
        "memory": [each for each in state["memory"] if topic_index(state, each.chain.topic) < here],
        "findings": [each for each in state["findings"] if stays(each.chain)],
        "pruned": [each for each in pruned if stays(each.chain)],
        "tried": list(filter(stays, state["tried"])),
        "candidates": [],
        "decision": "backtrack",
    }


def _skip_topic(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Do without the current topic: take up the next, or let what is verified stand."""
    update: CoGUpdate = {"stack": [], "candidates": []}
    if next_topic(state):
        return {**update, "decision": "refine"}
    if state["memory"]:
        return {**update, "decision": state["memory"][-1].decision}
    return {**update, "decision": "forward" if may_look_again(state, runtime) else "infer"}
