"""Infer: what do the verified segments carry, although not all is verified? (CoG §3.3)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Term
from kgqa.models.errors import MalformedReply
from kgqa.prompts.candidates import SHOWN, aggregate
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.session.guided import Guided, GuidedUpdate, progress, standing
from kgqa.session.state import Branch
from kgqa.session.step import Run, step
from kgqa.tools.arguments import chain_arguments

SEGMENTS = 4
"""Verified segments that are shown at most: the last ones."""


@step("infer")
async def infer(state: Guided, run: Run) -> GuidedUpdate:
    """Let the model choose an answer from verified segments and unmet constraints only.

    What it chooses is labelled ``grounded_inference``; if it chooses nothing, nothing was
    found. A malformed reply leaves what working memory holds, so labelled.
    """
    if not run.context.refinement:
        run.note["reason"] = "refinement is off"
        return {"decision": "stop"}
    segments = await _segments(state, run)
    if not segments:
        run.note["reason"] = "nothing was verified"
        return {"memory": [], "decision": "stop"}
    findings = progress(state).findings
    try:
        reply = await run.ask(
            InferFromEvidence(
                state["question"],
                segments,
                findings,
                _unmet(state, segments),
                tuple(state["topic_entities"]),
            )
        )
    except MalformedReply as error:
        run.failed(error)
        left = [replace(branch, verdict="infer") for branch in state["memory"][-1:]]
        return {"memory": [*state["memory"][:-1], *left], "decision": "stop"}
    run.note |= {"chosen": len(reply.chosen), "reason": reply.rationale}
    return {"memory": _inferred(state, segments, reply.chosen), "decision": "stop"}


async def _segments(state: Guided, run: Run) -> tuple[Segment, ...]:
    """Give what working memory holds, else the chains that stand and have established something."""
    if state["memory"]:
        last = state["memory"][-1]
        return (Segment(last.chain, tuple(map(Candidate, last.ends[:SHOWN]))),)
    chains = dict.fromkeys(finding.chain for finding in reversed(standing(state)) if finding.text)
    segments: list[Segment] = []
    for chain in islice(chains, SEGMENTS):
        shown = sum(len(segment.ends) for segment in segments)
        ends = (await _ends(chain, run))[: SHOWN - shown]
        segments += [Segment(chain, tuple(ends))] if ends else []
    return tuple(segments)


async def _ends(chain: Chain, run: Run) -> list[Candidate]:
    try:
        page: Page[Candidate] = await run.use("follow_chain", **chain_arguments(chain))
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return []
    return [candidate for candidate in page if candidate.term.name]


def _unmet(state: Guided, segments: Sequence[Segment]) -> tuple[str, ...]:
    """Give what is left of the plan, and the topics that were not met."""
    done = progress(state)
    open_ = done.subgoals[done.at :]
    met = {segment.chain.topic for segment in segments} | {each.chain.topic for each in state["memory"]}
    topics = (topic for topic in state["topic_entities"] if topic not in met)
    return (*open_, *(f"it has to do with {topic}" for topic in topics))


def _inferred(state: Guided, segments: Sequence[Segment], chosen: Sequence[int]) -> list[Branch]:
    """Put what was chosen from the segment of the best choice into working memory."""
    if not chosen:
        return []
    numbered = list(_numbered(segments))
    chain = numbered[chosen[0] - 1][0]
    ends = tuple(end for number in chosen for of, end in [numbered[number - 1]] if of == chain)
    earlier = [branch for branch in state["memory"] if branch.chain != chain]
    counted = any(
        each.chain == chain and each.value == aggregate("count", each.ends) for each in state["memory"]
    )
    return [*earlier, Branch(chain, ends, "infer", aggregate("count", ends) if counted else None)]


def _numbered(segments: Sequence[Segment]) -> Iterator[tuple[Chain, Term]]:
    return ((segment.chain, candidate.term) for segment in segments for candidate in segment.ends)
