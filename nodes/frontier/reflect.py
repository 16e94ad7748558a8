"""Reflect: where does the search go on, and has it gone astray? (PoG: reflection; EGP §4.4)."""

from collections.abc import Sequence

from kgqa.kg.terms import Chain, Entity
from kgqa.models.errors import MalformedReply
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate, prompt_context
from kgqa.prompts.candidates import MAX_GROUPS_SHOWN, ChainFindings, numbered_candidates
from kgqa.prompts.reflect import Reflect, Reflection
from kgqa.runtime.node import NodeRuntime, node

MAX_HISTORY_CHAINS = 12
"""Earlier chains that the model can come back to at most: the topics and the last ones."""


@node("reflect")
async def reflect(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model choose what to go on from, and what of all that was explored to come back to.

    After a malformed reply the search goes on from all that was found. Where nothing is left to
    go on from, the answer is inferred from what is known.
    """
    last = state["trace"][-1]
    dry = last["decision"] == "backtrack" and last["node"] != "filter"
    found = [] if dry else [each for each in state["found"] if each.chain.depth < runtime.context.depth]
    if not dry and len(found) < len(state["found"]):
        runtime.trace["limit"] = "depth"
    history = _recallable_history(state, dry) if _count_recalls(state) < runtime.context.reflections else []
    if not (found or history):
        runtime.trace["reason"] = "nothing is left to come back to"
        return _continue_from(state, [], [])
    try:
        reply = await runtime.prompt(
            Reflect(state["question"], tuple(found), tuple(history), **prompt_context(state))
        )
    except MalformedReply as error:
        runtime.record_failure(error)
        return _continue_from(state, [each.chain for each in found], [])
    runtime.trace["reason"] = reply.rationale
    recalled = [history[number - 1].chain for number in reply.recall]
    runtime.trace["recalled"] = [str(chain) for chain in recalled]
    unseen = [each.chain for each in found[MAX_GROUPS_SHOWN:]]
    return _continue_from(state, [*_constrained_chains(found, reply), *unseen], recalled)


def _recallable_history(state: FrontierState, dry: bool) -> list[ChainFindings]:
    """Return the topics, and the last chains that were explored before; none from which nothing is chosen."""
    earlier = [*state["found"], *state["explored"]] if dry else state["explored"]
    topics = [ChainFindings(Chain(topic), ()) for topic in state["topic_entities"]]
    return [each for each in [*topics, *earlier] if each.chain not in state["spent"]][:MAX_HISTORY_CHAINS]


def _constrained_chains(found: Sequence[ChainFindings], reply: Reflection) -> list[Chain]:
    """Return the chains to go on along, held to the candidates that are kept where some of them are."""
    chains = []
    for number in reply.go_on:
        numbers = {
            each.number: each.candidate.term for each in numbered_candidates(found) if each.group == number
        }
        kept = [end for n in reply.keep if isinstance(end := numbers.get(n), Entity)]
        whole = found[number - 1]
        chains.append(whole.chain.constrained_to(kept) if 0 < len(kept) < len(whole.ends) else whole.chain)
    return chains


def _continue_from(
    state: FrontierState, chains: Sequence[Chain], recalled: Sequence[Chain]
) -> FrontierUpdate:
    return {
        "frontier": list(chains),
        "stack": list(reversed(recalled)),
        "resume_points": [
            *state["resume_points"],
            *(chain for chain in chains if chain not in state["resume_points"]),
        ],
        "memory": [],
        "candidates": [],
        "decision": "backtrack" if recalled else "forward" if chains else "infer",
    }


def _count_recalls(state: FrontierState) -> int:
    """Count how often the search has come back to something."""
    return sum(entry["node"] == "backtrack" for entry in state["trace"])
