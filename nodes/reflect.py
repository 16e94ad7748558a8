"""Reflect: where does the search go on, and has it gone astray? (PoG: reflection; EGP §4.4)."""

from collections.abc import Sequence

from kgqa.kg.terms import Chain, Entity
from kgqa.models.errors import MalformedReply
from kgqa.prompts.found import GROUPS, Found, shown
from kgqa.prompts.reflect import Reflect, Reflection
from kgqa.session.frontier import Frontier, FrontierUpdate, shown_of
from kgqa.session.step import Run, step

HISTORY = 12
"""Earlier chains that the model can come back to at most: the topics and the last ones."""


@step("reflect")
async def reflect(state: Frontier, run: Run) -> FrontierUpdate:
    """Let the model choose what to go on from, and what of all that was explored to come back to.

    After a malformed reply the search goes on from all that was found. Where nothing is left to
    go on from, the answer is inferred from what is known.
    """
    last = state["trace"][-1]
    dry = last["decision"] == "backtrack" and last["node"] != "filter"
    found = [] if dry else [each for each in state["found"] if each.chain.depth < run.context.depth]
    if not dry and len(found) < len(state["found"]):
        run.note["limit"] = "depth"
    history = _history(state, dry) if _recalls(state) < run.context.reflections else []
    if not (found or history):
        run.note["reason"] = "nothing is left to come back to"
        return _on(state, [], [])
    try:
        reply = await run.ask(Reflect(state["question"], tuple(found), tuple(history), **shown_of(state)))
    except MalformedReply as error:
        run.failed(error)
        return _on(state, [each.chain for each in found], [])
    run.note["reason"] = reply.rationale
    recalled = [history[number - 1].chain for number in reply.recall]
    run.note["recalled"] = [str(chain) for chain in recalled]
    unseen = [each.chain for each in found[GROUPS:]]
    return _on(state, [*_kept(found, reply), *unseen], recalled)


def _history(state: Frontier, dry: bool) -> list[Found]:
    """Give the topics, and the last chains that were explored before; none from which nothing is chosen."""
    earlier = [*state["found"], *state["explored"]] if dry else state["explored"]
    topics = [Found(Chain(topic), ()) for topic in state["topic_entities"]]
    return [each for each in [*topics, *earlier] if each.chain not in state["spent"]][:HISTORY]


def _kept(found: Sequence[Found], reply: Reflection) -> list[Chain]:
    """Give the chains to go on along, held to the candidates that are kept where some of them are."""
    chains = []
    for number in reply.go_on:
        numbers = {each.number: each.candidate.term for each in shown(found) if each.group == number}
        kept = [end for n in reply.keep if isinstance(end := numbers.get(n), Entity)]
        whole = found[number - 1]
        chains.append(whole.chain.holding(kept) if 0 < len(kept) < len(whole.ends) else whole.chain)
    return chains


def _on(state: Frontier, chains: Sequence[Chain], recalled: Sequence[Chain]) -> FrontierUpdate:
    return {
        "frontier": list(chains),
        "stack": list(reversed(recalled)),
        "points": [*state["points"], *(chain for chain in chains if chain not in state["points"])],
        "memory": [],
        "candidates": [],
        "decision": "backtrack" if recalled else "forward" if chains else "infer",
    }


def _recalls(state: Frontier) -> int:
    """Count how often the search has come back to something."""
    return sum(entry["node"] == "backtrack" for entry in state["trace"])
