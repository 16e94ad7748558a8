"""Infer: what does all that was found carry, although nothing was enough? (PoG and ToG: half stop)."""

from collections.abc import Sequence

from kgqa.models.errors import MalformedReply
from kgqa.nodes.meeting import groups_of
from kgqa.prompts.candidates import SHOWN
from kgqa.prompts.found import Found
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.session.frontier import Frontier, FrontierUpdate
from kgqa.session.state import Branch
from kgqa.session.step import Run, step

EXPLORED = 40
"""Chains that are looked at for where they meet at most: the last ones."""

GROUPS = 8
"""Chains that are shown at most: what several topics lead to first, then the last that were followed."""


@step("infer")
async def conclude(state: Frontier, run: Run) -> FrontierUpdate:
    """Let the model choose an answer from what the chains of the search have led to.

    What it chooses is labelled ``grounded_inference``; if it chooses nothing, or its reply is
    malformed, nothing was found.
    """
    every = [*state.get("found", []), *state.get("explored", [])] if state["tried"] else []
    groups = groups_of(every[:EXPLORED], (), state["topic_entities"])[:GROUPS]
    if not groups:
        run.note["reason"] = "nothing with a name was reached"
        return {"memory": [], "candidates": [], "decision": "stop"}
    segments = tuple(Segment(each.chain, each.named[: SHOWN // len(groups)]) for each in groups)
    known = tuple(state["known"])
    unmet = tuple(state.get("subgoals", []))[len(known) :]
    prompt = InferFromEvidence(state["question"], segments, known, unmet, tuple(state["topic_entities"]))
    try:
        reply = await run.ask(prompt)
    except MalformedReply as error:
        run.failed(error)
        return {"memory": [], "candidates": [], "decision": "stop"}
    run.note |= {"chosen": len(reply.chosen), "reason": reply.rationale}
    return {"memory": _inferred(groups, segments, reply.chosen), "candidates": [], "decision": "stop"}


def _inferred(groups: Sequence[Found], segments: Sequence[Segment], chosen: Sequence[int]) -> list[Branch]:
    """Put what was chosen from the group of the best choice into working memory."""
    if not chosen:
        return []
    numbered = [(place, end.term) for place, segment in enumerate(segments) for end in segment.ends]
    place = numbered[chosen[0] - 1][0]
    ends = tuple(end for at, end in (numbered[number - 1] for number in chosen) if at == place)
    met = [Branch(chain, ends, "stop") for chain in groups[place].met]
    return [*met, Branch(groups[place].chain, ends, "infer")]
