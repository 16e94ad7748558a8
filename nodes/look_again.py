"""Look again, infer: where the search runs dry, where else to go; else, what does the evidence carry?"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import cast

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Term
from kgqa.nodes.cog.state import CoGState, CoGUpdate, plan_progress, standing_findings
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate, open_subgoals, uses_own_knowledge
from kgqa.nodes.record import parametric_answers
from kgqa.nodes.verdicts import group_findings
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Inferred, Segment
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update, VerifiedChain
from kgqa.tools.arguments import chain_arguments

MAX_SECOND_LOOKS = 4
"""Second looks at one question at most; one at a point from which nothing is left does not count."""


@node("look_again")
async def look_again(state: State, runtime: NodeRuntime) -> Update:
    """Ask again from the most promising point of the search, with what was tried left out.

    Points are the chains that the search went on from, the topics first among them. Where
    something is in working memory, that stands.
    """
    if not may_look_again(state, runtime):
        runtime.trace["reason"] = "no point is left to look from again"
        return {"decision": "stop"}
    chain = state["resume_points"][-1]
    runtime.trace["chain"] = str(chain)
    return {"chain": chain, "stack": [], "candidates": [], "decision": "refine"}


@node("look_again")
async def look_again_from_frontier(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the most promising point of the search be the frontier, with what was tried left out."""
    points = [chain for chain in state["resume_points"] if chain not in state.get("spent", [])]
    update = cast(FrontierUpdate, await look_again.body({**state, "resume_points": points}, runtime))
    return {**update, "frontier": [update["chain"]]} if "chain" in update else update


def may_look_again(state: State, runtime: NodeRuntime) -> bool:
    """Return whether the method looks again, and there is somewhere to look from."""
    looks = sum(
        entry["node"] == "look_again" and after["decision"] == "forward"
        for entry, after in pairwise(state["trace"])
    )
    dry = bool(state["resume_points"]) and not state["memory"]
    return runtime.context.retry_search and dry and looks < MAX_SECOND_LOOKS


def remaining_points(state: State) -> list[Chain]:
    """Return the points without the current chain, from which nothing more is chosen."""
    return [point for point in state["resume_points"] if point != state["chain"]]


MAX_SEGMENTS = 4  # verified segments that are shown at most: the last ones
MAX_EXPLORED_CHAINS = 40  # chains that are looked at for where they meet at most: the last ones

MAX_GROUPS = 8
"""Chains that are shown at most: what several topics lead to first, then the last that were followed."""


@node("infer")
async def infer(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model choose an answer from verified segments and unmet constraints.

    What it chooses is labelled ``grounded_inference``; if it chooses nothing, nothing was found, but with
    ``own_knowledge`` it may answer from what it knows, labelled ``parametric``. A malformed reply leaves what
    working memory holds, as inferred.
    """
    if not runtime.context.refinement:
        runtime.trace["reason"] = "refinement is off"
        return {"decision": "stop"}
    memory, segments = state["memory"], await _verified_segments(state, runtime)
    if not segments and not uses_own_knowledge(runtime.context):
        runtime.trace["reason"] = "nothing was verified"
        return {"memory": [], "decision": "stop"}
    done, topics = plan_progress(state), tuple(state["topic_entities"])
    met = {each.chain.topic for each in segments} | {each.chain.topic for each in memory}
    unmet = (
        *done.subgoals[done.at :],
        *(f"it has to do with {topic}" for topic in topics if topic not in met),
    )
    own = uses_own_knowledge(runtime.context)
    prompt = InferFromEvidence(state["question"], segments, done.findings, unmet, own, topics=topics)
    reply = await runtime.ask(prompt)
    if reply is None:
        left = [replace(branch, verdict="infer") for branch in memory[-1:]]
        return {"memory": [*memory[:-1], *left], "decision": "stop"}
    runtime.trace |= {"chosen": len(reply.chosen), "reason": reply.rationale}
    if not reply.chosen:
        return cast(CoGUpdate, {"memory": [], **_own_answers(reply), "decision": "stop"})
    place, ends = _best_choice(segments, reply.chosen)
    chain = segments[place].chain
    counted = next((each.aggregate for each in memory if each.chain == chain and each.aggregate), None)
    branch = VerifiedChain(chain, ends, "infer", picked=reply.rationale, aggregate=counted)
    return {"memory": [*(each for each in memory if each.chain != chain), branch], "decision": "stop"}


@node("infer")
async def infer_from_frontier(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model choose an answer from what the chains of the search have led to.

    What it chooses is labelled ``grounded_inference``, an answer from what it knows, where it may give one,
    ``parametric``; otherwise, or if its reply is malformed, nothing was found.
    """
    every = [*state.get("found", []), *state.get("explored", [])] if state["tried"] else []
    groups = group_findings(every[:MAX_EXPLORED_CHAINS], (), state["topic_entities"])[:MAX_GROUPS]
    nothing: FrontierUpdate = {"memory": [], "candidates": [], "decision": "stop"}
    if not groups and not uses_own_knowledge(runtime.context):
        runtime.trace["reason"] = "nothing with a name was reached"
        return nothing
    share = MAX_CANDIDATES_SHOWN // max(1, len(groups))
    segments = tuple(Segment(each.chain, each.named[:share]) for each in groups)
    known, topics = tuple(filter(None, state["known"])), tuple(state["topic_entities"])
    unmet = tuple(state["subgoals"][at] for at in open_subgoals(state))
    own = uses_own_knowledge(runtime.context)
    reply = await runtime.ask(
        InferFromEvidence(state["question"], segments, known, unmet, own, topics=topics)
    )
    if reply is None:
        return nothing
    runtime.trace |= {"chosen": len(reply.chosen), "reason": reply.rationale}
    if not reply.chosen:
        return cast(FrontierUpdate, {**nothing, **_own_answers(reply)})
    place, ends = _best_choice(segments, reply.chosen)
    met = [VerifiedChain(chain, ends, "stop") for chain in groups[place].met]
    return {
        **nothing,
        "memory": [*met, VerifiedChain(groups[place].chain, ends, "infer", picked=reply.rationale)],
    }


def _own_answers(reply: Inferred) -> Update:
    """Return what a model answers from what it knows, labelled so; nothing where it does not."""
    known = parametric_answers(reply.answers)
    return {"answers": known, "outcome": "parametric"} if known else {}


async def _verified_segments(state: CoGState, runtime: NodeRuntime) -> tuple[Segment, ...]:
    """Return what working memory holds, else the chains that stand and have established something."""
    if state["memory"]:
        last = state["memory"][-1]
        return (Segment(last.chain, tuple(map(Candidate, last.ends[:MAX_CANDIDATES_SHOWN]))),)
    chains = dict.fromkeys(finding.chain for finding in reversed(standing_findings(state)) if finding.text)
    segments: list[Segment] = []
    for chain in islice(chains, MAX_SEGMENTS):
        shown = sum(len(segment.ends) for segment in segments)
        page = await runtime.try_tool("follow_chain", **chain_arguments(chain)) or ()
        ends = [candidate for candidate in page if candidate.term.name][: MAX_CANDIDATES_SHOWN - shown]
        segments += [Segment(chain, tuple(ends))] if ends else []
    return tuple(segments)


def _best_choice(segments: Sequence[Segment], chosen: Sequence[int]) -> tuple[int, tuple[Term, ...]]:
    """Return the place of the segment of the best choice, and what was chosen from it."""
    numbered = [(place, end.term) for place, segment in enumerate(segments) for end in segment.ends]
    picked = [numbered[number - 1] for number in chosen]
    return picked[0][0], tuple(end for place, end in picked if place == picked[0][0])
