"""Verify: is the chain the answer's, in whole or in part? (CoR §4.1, step 4)."""

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.models.errors import MalformedReply
from kgqa.nodes.verified import accept
from kgqa.prompts.verify_chain import VerifyChain
from kgqa.session.state import State, Update
from kgqa.session.step import Run, step


@step("verify")
async def verify(state: State, run: Run) -> Update:
    """Let the model judge the chain by its candidates and decide what is next.

    A chain whose ends have no names cannot be judged, nor one whose ends do not
    meet the other topics' chains: it is extended without a call. Nor is there anything
    to judge where the only relation there was leads straight back. A malformed reply turns back.
    """
    chain, named = state["chain"], [c for c in state["candidates"] if c.term.name]
    run.note["chain"] = str(chain)
    if not named:
        run.note["reason"] = "no named candidate to judge by"
        return _go_on(state, run)
    if state["hops"] == [chain.hops[-1]] and _leads_back(chain, state["candidates"]):
        run.note["reason"] = "it only leads straight back"
        return {"candidates": [], "decision": "backtrack"}
    try:
        verdict = await run.ask(_prompt(state, run, named))
    except MalformedReply as error:
        run.failed(error)
        return {"candidates": [], "decision": "backtrack"}
    run.note["reason"] = verdict.rationale
    if verdict.decision == "forward":
        return _go_on(state, run)
    if verdict.decision == "backtrack":
        return {"candidates": [], "decision": "backtrack"}
    return accept(state, verdict, named)


def _leads_back(chain: Chain, candidates: list[Candidate]) -> bool:
    """Tell whether a chain does nothing but go one hop from its topic and back; unnamed nodes count."""
    undone = chain.depth == 2 and chain.hops[1] == chain.hops[0].inverse
    return undone and all(candidate.term == chain.topic for candidate in candidates)


def _prompt(state: State, run: Run, named: list[Candidate]) -> VerifyChain:
    return VerifyChain(
        question=state["question"],
        chain=state["chain"],
        candidates=tuple(named),
        met=tuple(branch.chain for branch in state["memory"]),
        truncated=state["truncated"],
        filtering=run.context.filtering,
        topics=tuple(state["topic_entities"]),
    )


def _go_on(state: State, run: Run) -> Update:
    """Extend the chain, or turn back where it is as deep as allowed."""
    if state["chain"].depth < run.context.depth:
        return {"candidates": [], "points": [*state["points"], state["chain"]], "decision": "forward"}
    run.note["limit"] = "depth"
    return {"candidates": [], "decision": "backtrack"}
