"""Infer: what do the verified segments carry, although not all is verified? (CoG §3.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Term
from kgqa.models.errors import MalformedReply
from kgqa.nodes.cog.state import CoGState, CoGUpdate, plan_progress, standing_findings
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, aggregate
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import VerifiedChain
from kgqa.tools.arguments import chain_arguments

MAX_SEGMENTS = 4
"""Verified segments that are shown at most: the last ones."""


@node("infer")
async def infer(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model choose an answer from verified segments and unmet constraints only.

    What it chooses is labelled ``grounded_inference``; if it chooses nothing, nothing was
    found. A malformed reply leaves what working memory holds, so labelled.
    """
    if not runtime.context.refinement:
        runtime.trace["reason"] = "refinement is off"
        return {"decision": "stop"}
    segments = await _verified_segments(state, runtime)
    if not segments:
        runtime.trace["reason"] = "nothing was verified"
        return {"memory": [], "decision": "stop"}
    findings = plan_progress(state).findings
    try:
        reply = await runtime.prompt(
            InferFromEvidence(
                state["question"],
                segments,
                findings,
                _unmet_constraints(state, segments),
                tuple(state["topic_entities"]),
            )
        )
    except MalformedReply as error:
        runtime.record_failure(error)
        left = [replace(branch, verdict="infer") for branch in state["memory"][-1:]]
        return {"memory": [*state["memory"][:-1], *left], "decision": "stop"}
    runtime.trace |= {"chosen": len(reply.chosen), "reason": reply.rationale}
    return {"memory": _branches_from_segments(state, segments, reply.chosen), "decision": "stop"}


async def _verified_segments(state: CoGState, runtime: NodeRuntime) -> tuple[Segment, ...]:
    """Return what working memory holds, else the chains that stand and have established something."""
    if state["memory"]:
        last = state["memory"][-1]
        return (Segment(last.chain, tuple(map(Candidate, last.ends[:MAX_CANDIDATES_SHOWN]))),)
    chains = dict.fromkeys(finding.chain for finding in reversed(standing_findings(state)) if finding.text)
    segments: list[Segment] = []
    for chain in islice(chains, MAX_SEGMENTS):
        shown = sum(len(segment.ends) for segment in segments)
        ends = (await _follow_segment(chain, runtime))[: MAX_CANDIDATES_SHOWN - shown]
        segments += [Segment(chain, tuple(ends))] if ends else []
    return tuple(segments)


async def _follow_segment(chain: Chain, runtime: NodeRuntime) -> list[Candidate]:
    try:
        page: Page[Candidate] = await runtime.call_tool("follow_chain", **chain_arguments(chain))
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        return []
    return [candidate for candidate in page if candidate.term.name]


def _unmet_constraints(state: CoGState, segments: Sequence[Segment]) -> tuple[str, ...]:
    """Return what is left of the plan, and the topics that were not met."""
    done = plan_progress(state)
    open_ = done.subgoals[done.at :]
    met = {segment.chain.topic for segment in segments} | {each.chain.topic for each in state["memory"]}
    topics = (topic for topic in state["topic_entities"] if topic not in met)
    return (*open_, *(f"it has to do with {topic}" for topic in topics))


def _branches_from_segments(
    state: CoGState, segments: Sequence[Segment], chosen: Sequence[int]
) -> list[VerifiedChain]:
    """Put what was chosen from the segment of the best choice into working memory."""
    if not chosen:
        return []
    numbered = list(_numbered_ends(segments))
    chain = numbered[chosen[0] - 1][0]
    ends = tuple(end for number in chosen for of, end in [numbered[number - 1]] if of == chain)
    earlier = [branch for branch in state["memory"] if branch.chain != chain]
    counted = any(
        each.chain == chain and each.value == aggregate("count", each.ends) for each in state["memory"]
    )
    return [*earlier, VerifiedChain(chain, ends, "infer", aggregate("count", ends) if counted else None)]


def _numbered_ends(segments: Sequence[Segment]) -> Iterator[tuple[Chain, Term]]:
    return ((segment.chain, candidate.term) for segment in segments for candidate in segment.ends)
