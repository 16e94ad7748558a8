"""Verify: is the chain the answer's, in whole or in part? (CoR §4.1, step 4)."""

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.models.errors import MalformedReply
from kgqa.nodes.verdict import accept_chain
from kgqa.prompts.verify_chain import VerifyChain
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update


@node("verify")
async def verify(state: State, runtime: NodeRuntime) -> Update:
    """Let the model judge the chain by its candidates and decide what is next.

    A chain whose ends have no names cannot be judged, nor one whose ends do not
    meet the other topics' chains: it is extended without a call. Nor is there anything
    to judge where the only relation there was leads straight back. A malformed reply turns back.
    """
    chain, named = state["chain"], [c for c in state["candidates"] if c.term.name]
    runtime.trace["chain"] = str(chain)
    if not named:
        runtime.trace["reason"] = "no named candidate to judge by"
        return _extend_or_backtrack(state, runtime)
    if state["hops"] == [chain.hops[-1]] and _leads_straight_back(chain, state["candidates"]):
        runtime.trace["reason"] = "it only leads straight back"
        return {"candidates": [], "decision": "backtrack"}
    try:
        verdict = await runtime.prompt(_prompt(state, runtime, named))
    except MalformedReply as error:
        runtime.record_failure(error)
        return {"candidates": [], "decision": "backtrack"}
    runtime.trace["reason"] = verdict.rationale
    if verdict.decision == "forward":
        return _extend_or_backtrack(state, runtime)
    if verdict.decision == "backtrack":
        return {"candidates": [], "decision": "backtrack"}
    return accept_chain(state, verdict, named)


def _leads_straight_back(chain: Chain, candidates: list[Candidate]) -> bool:
    """Return whether a chain does nothing but go one hop from its topic and back; unnamed nodes count."""
    undone = chain.depth == 2 and chain.hops[1] == chain.hops[0].inverse
    return undone and all(candidate.term == chain.topic for candidate in candidates)


def _prompt(state: State, runtime: NodeRuntime, named: list[Candidate]) -> VerifyChain:
    return VerifyChain(
        question=state["question"],
        chain=state["chain"],
        candidates=tuple(named),
        met=tuple(branch.chain for branch in state["memory"]),
        truncated=state["truncated"],
        filtering=runtime.context.filtering,
        topics=tuple(state["topic_entities"]),
    )


def _extend_or_backtrack(state: State, runtime: NodeRuntime) -> Update:
    """Extend the chain, or turn back where it is as deep as allowed."""
    if state["chain"].depth < runtime.context.depth:
        return {
            "candidates": [],
            "resume_points": [*state["resume_points"], state["chain"]],
            "decision": "forward",
        }
    runtime.trace["limit"] = "depth"
    return {"candidates": [], "decision": "backtrack"}
