"""Infer: what does all that was found carry, although nothing was enough? (PoG and ToG: half stop)."""

from collections.abc import Sequence

from kgqa.models.errors import MalformedReply
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate
from kgqa.nodes.verdict import group_findings
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, ChainFindings
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import VerifiedChain

MAX_EXPLORED_CHAINS = 40
"""Chains that are looked at for where they meet at most: the last ones."""

MAX_GROUPS = 8
"""Chains that are shown at most: what several topics lead to first, then the last that were followed."""


@node("infer")
async def infer_from_frontier(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model choose an answer from what the chains of the search have led to.

    What it chooses is labelled ``grounded_inference``; if it chooses nothing, or its reply is
    malformed, nothing was found.
    """
    every = [*state.get("found", []), *state.get("explored", [])] if state["tried"] else []
    groups = group_findings(every[:MAX_EXPLORED_CHAINS], (), state["topic_entities"])[:MAX_GROUPS]
    if not groups:
        runtime.trace["reason"] = "nothing with a name was reached"
        return {"memory": [], "candidates": [], "decision": "stop"}
    segments = tuple(
        Segment(each.chain, each.named[: MAX_CANDIDATES_SHOWN // len(groups)]) for each in groups
    )
    known = tuple(state["known"])
    unmet = tuple(state.get("subgoals", []))[len(known) :]
    prompt = InferFromEvidence(state["question"], segments, known, unmet, tuple(state["topic_entities"]))
    try:
        reply = await runtime.prompt(prompt)
    except MalformedReply as error:
        runtime.record_failure(error)
        return {"memory": [], "candidates": [], "decision": "stop"}
    runtime.trace |= {"chosen": len(reply.chosen), "reason": reply.rationale}
    return {
        "memory": _branches_from_groups(groups, segments, reply.chosen),
        "candidates": [],
        "decision": "stop",
    }


def _branches_from_groups(
    groups: Sequence[ChainFindings], segments: Sequence[Segment], chosen: Sequence[int]
) -> list[VerifiedChain]:
    """Put what was chosen from the group of the best choice into working memory."""
    if not chosen:
        return []
    numbered = [(place, end.term) for place, segment in enumerate(segments) for end in segment.ends]
    place = numbered[chosen[0] - 1][0]
    ends = tuple(end for at, end in (numbered[number - 1] for number in chosen) if at == place)
    met = [VerifiedChain(chain, ends, "stop") for chain in groups[place].met]
    return [*met, VerifiedChain(groups[place].chain, ends, "infer")]
