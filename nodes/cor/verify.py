"""Verify: is the chain the answer's, in whole or in part? (CoR §4.1, step 4)."""

from kgqa.kg.pages import Candidate
from kgqa.nodes.topic_conditions import awaited_topics
from kgqa.nodes.verdicts import (
    SAID_BEFORE,
    accept_chain,
    rejected_with,
    said_to_unite,
    same_nodes,
    take_as_said,
)
from kgqa.prompts.candidates import without_twins
from kgqa.prompts.verify_chain import Verdict, VerifyChain
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update


@node("verify")
async def verify(state: State, runtime: NodeRuntime) -> Update:
    """Let the model judge the chain by its candidates and decide what is next.

    A chain whose ends have no names cannot be judged, nor one whose ends do not meet the other topics'
    chains: it is extended without a call. What the model has said when it
    chose the chain is done without asking again.
    With ``always_ask`` the model judges the former as well, and what comes back to the topic or has no name
    is a candidate like any other.
    A malformed reply turns back. Where the chain goes on, those beside it that lead to the same nodes are
    taken off the stack.
    """
    always_ask, chain = runtime.context.always_ask, state["chain"]
    found = state["candidates"]
    named = without_twins(c for c in found if c.term.name)
    shown = [Candidate(c.term) for c in found] if always_ask else [*named]
    runtime.trace["chain"] = str(chain)
    if not shown and not always_ask:
        runtime.trace["reason"] = "no named candidate to judge by"
        return _extend_or_backtrack(state, runtime)
    awaited = awaited_topics(state, runtime)
    if (said := state["outright"]) and said.chain == chain:
        runtime.trace["reason"] = SAID_BEFORE
        if said.decision == "forward":
            return _extend_or_backtrack(state, runtime)
        take, united = take_as_said(said, shown), said_to_unite(state)
        return accept_chain(state, Verdict(decision=said.decision, take=take, united=united), shown, awaited)
    prompt = VerifyChain(
        question=state["question"],
        chain=chain,
        candidates=tuple(shown),
        met=tuple(branch.chain for branch in state["memory"]),
        truncated=state["truncated"],
        awaited=awaited,
        siblings=tuple(state["siblings"]),
        filtering=runtime.context.filtering,
        attributes=runtime.context.attributes,
        topics=tuple(state["topic_entities"]),
    )
    verdict = await runtime.ask(prompt)
    if verdict is None:
        return {"candidates": [], "decision": "backtrack"}
    runtime.trace["reason"] = verdict.rationale
    if verdict.decision == "forward":
        return _extend_or_backtrack(state, runtime)
    if verdict.decision == "backtrack":
        rejected = rejected_with(state, verdict)
        stack = [each for each in state["stack"] if each not in rejected]
        return {"stack": stack, "candidates": [], "decision": "backtrack"}
    return accept_chain(state, verdict, shown, awaited)


def _extend_or_backtrack(state: State, runtime: NodeRuntime) -> Update:
    if state["chain"].depth < runtime.context.depth:
        points = [*state["resume_points"], state["chain"]]
        same = same_nodes(state)
        stack = [each for each in state["stack"] if each not in same]
        return {"stack": stack, "candidates": [], "resume_points": points, "decision": "forward"}
    runtime.trace["limit"] = "depth"
    return {"candidates": [], "decision": "backtrack"}
