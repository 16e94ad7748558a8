"""Diagnose: which decision led astray, and what to try instead? (CoG §3.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from kgqa.models.errors import MalformedReply
from kgqa.nodes.look_again import may_look_again
from kgqa.prompts.diagnose import BRANCHES, DECISIONS, Decided, Diagnose, PrunedBranch, Signal
from kgqa.session.guided import Guided, GuidedUpdate, Pruned, place, progress, trajectory
from kgqa.session.state import next_topic
from kgqa.session.step import Run, step

RECALLABLE = 5
"""Pruned branches of one decision that the model can recall: the most relevant."""

_UNDECIDED = frozenset({"retrieve_relations", "rerank", "prune"})
"""Nodes that fail before a relation is chosen."""


@step("diagnose")
async def diagnose(state: Guided, run: Run) -> GuidedUpdate:
    """Let the model name the decision to blame, and turn back to before it.

    What it recalls of the branches that were pruned there is tried next; if it recalls
    none, the relations there are chosen from again. Where it blames nothing, the topic at
    hand leads no further, and the search does without it. An outage of the graph or a
    malformed reply is no failure of the search: what was chosen and waits is tried, the last
    first, without a call; after a malformed reply, what was set aside as well. When all
    diagnoses are spent, what the last one has recalled is tried, and then the answer is
    inferred from what was verified. Without refinement a failure ends the search from the
    topic at hand (Table 3).
    """
    last = state["trace"][-1]
    run.note["chain"] = str(state["chain"])
    steps = trajectory(state, undecided=last["node"] in _UNDECIDED)[-DECISIONS:]
    branches = list(_branches(state, steps))
    if "failure" in last:
        run.note["reason"] = "no failure of the search"
        outage = last["failure"] != MalformedReply.__name__
        left = [branch for branch in branches if branch.waiting] if outage else branches
        return _next_best(state, steps, left, run) or _pass_over(state, run)
    if not run.context.refinement:
        run.note["reason"] = "refinement is off"
        return _pass_over(state, run)
    if not branches and not any(decided.after for decided in steps):
        run.note["reason"] = f"{state['chain'].topic} leads nowhere"
        return _pass_over(state, run)
    if diagnoses(state) >= run.context.refinements:
        run.note["reason"] = "every diagnosis is spent"
        return _next_recalled(state, steps, branches, run) or _run_dry(state, run)
    signal: Signal = "wrong_type" if last["node"] == "filter" else "no_candidates"
    return await _diagnosed(state, last.get("signal", signal), steps, branches, run)


def diagnoses(state: Guided) -> int:
    """Count the diagnoses that a question has had."""
    return sum(entry["node"] == "diagnose" and "signal" in entry for entry in state["trace"])


async def _diagnosed(
    state: Guided, signal: Signal, steps: list[Decided], branches: list[PrunedBranch], run: Run
) -> GuidedUpdate:
    run.note["signal"] = signal
    blueprint = state["blueprint"]
    prompt = Diagnose(
        question=state["question"],
        signal=signal,
        progress=progress(state),
        trajectory=tuple(steps),
        pruned=tuple(branches),
        blueprint=str(blueprint) if blueprint else "",
        topics=tuple(state["topic_entities"]),
    )
    try:
        reply = await run.ask(prompt)
    except MalformedReply as error:
        run.failed(error)
        return _next_best(state, steps, branches, run) or _pass_over(state, run)
    run.note |= {"step": reply.step, "blueprint": reply.blueprint, "reason": reply.rationale}
    dropped = _without_blueprint(state) if reply.blueprint == "drop" else GuidedUpdate()
    left = cast(Guided, {**state, **dropped})
    if reply.step == 0:
        return {**dropped, **_pass_over(left, run)}
    recalled = [branches[number - 1] for number in reply.recall]
    return {**dropped, **_turn_back(left, steps[reply.step - 1], recalled, run)}


def _without_blueprint(state: Guided) -> GuidedUpdate:
    """Drop the blueprint, and how relevant it made the pruned branches look (appendix K)."""
    return {"blueprint": None, "pruned": [replace(each, relevance=None) for each in state["pruned"]]}


def _branches(state: Guided, steps: Sequence[Decided]) -> Iterator[PrunedBranch]:
    """Give the branches of each decision: those that wait and entities first, then the most relevant."""
    most = min(RECALLABLE, BRANCHES // max(len(steps), 1))
    tried = set(state["tried"])
    for number, decided in enumerate(steps, 1):
        here = [each for each in state["pruned"] if each.before == decided.before and each.chain not in tried]
        here.sort(key=_order)
        for each in here[:most]:
            yield PrunedBranch(number, each.chain, each.waiting, each.relevance)


def _order(each: Pruned) -> tuple[bool, float]:
    first = each.waiting or each.of_entities
    return not first, 0.0 if first else -(each.relevance or 0.0)


def _next_best(
    state: Guided, steps: list[Decided], branches: list[PrunedBranch], run: Run
) -> GuidedUpdate | None:
    """Take the branches of the last decision that has any, of the topic at hand; None if none has."""
    topic = state["chain"].topic
    numbers = [branch.step for branch in branches if branch.chain.topic == topic]
    if not numbers:
        return None
    last = max(numbers)
    return _turn_back(state, steps[last - 1], [branch for branch in branches if branch.step == last], run)


def _next_recalled(
    state: Guided, steps: list[Decided], branches: list[PrunedBranch], run: Run
) -> GuidedUpdate | None:
    """Take what was recalled and not tried yet, at a decision that stands; None if there is nothing."""
    order = {chain: -place for place, chain in enumerate(state["stack"])}
    recalled = [branch for branch in branches if branch.chain in order]
    return _next_best(state, steps, sorted(recalled, key=lambda branch: order[branch.chain]), run)


def _turn_back(state: Guided, blamed: Decided, recalled: Sequence[PrunedBranch], run: Run) -> GuidedUpdate:
    """Give the frontier back that was there before a decision, with the recalled branches on the stack.

    What later topics had led to is forgotten: it has to meet something else now.
    """
    here = place(state, blamed.before.topic)
    run.note["recalled"] = [str(branch.chain) for branch in recalled]
    waiting = {branch.chain for branch in recalled[1:]}
    pruned = [replace(each, waiting=each.waiting or each.chain in waiting) for each in state["pruned"]]
    return {
        "chain": blamed.before,
        "stack": [branch.chain for branch in reversed(recalled)],
        "memory": [each for each in state["memory"] if place(state, each.chain.topic) < here],
        "findings": [each for each in state["findings"] if place(state, each.chain.topic) <= here],
        "pruned": [each for each in pruned if place(state, each.chain.topic) <= here],
        "tried": [each for each in state["tried"] if place(state, each.topic) <= here],
        "candidates": [],
        "decision": "backtrack",
    }


def _pass_over(state: Guided, run: Run) -> GuidedUpdate:
    """Do without the topic at hand: take up the next, or let what is verified stand."""
    update: GuidedUpdate = {"stack": [], "candidates": []}
    if next_topic(state):
        return {**update, "decision": "refine"}
    if state["memory"]:
        return {**update, "decision": "filter" if state["memory"][-1].verdict == "filter" else "stop"}
    return {**update, **_run_dry(state, run)}


def _run_dry(state: Guided, run: Run) -> GuidedUpdate:
    """Infer the answer, unless the method may look again."""
    return {"decision": "forward" if may_look_again(state, run) else "infer"}
