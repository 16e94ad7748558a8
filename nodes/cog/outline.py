"""Outline: subgoals and blueprint by one call, where something would use them (beyond the paper)."""

from collections import Counter

from kgqa.kg.terms import one_line
from kgqa.nodes.cog.blueprint import (
    MAX_EXEMPLARS,
    is_copied,
    nearest_blueprints,
    nearest_relations,
    read_branches,
    solved_questions,
)
from kgqa.nodes.cog.state import CoGState, CoGUpdate
from kgqa.nodes.recall_exemplars import known_relations
from kgqa.prompts.outline_search import OutlineSearch
from kgqa.prompts.progress import MAX_SENTENCE_CHARS
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import node_has_run


@node("outline", option="plans_when_needed")
async def outline(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model write subgoals and adapt the nearest blueprints, the first time that a shortlist is cut.

    Where all relations are shown, no ranking decides anything, and the nearest blueprint is hint enough. One
    that is copied stays as it is. A malformed reply leaves the question itself as the only subgoal.
    """
    if node_has_run(state, "outline") or not _shortlist_is_cut(state, runtime):
        runtime.idle = True
        return {}
    nearest = await nearest_blueprints(state, runtime)
    if nearest and await is_copied(nearest[0], runtime):
        runtime.idle = True
        return {}
    adapts = bool(nearest) and bool(runtime.context.adaptation)
    relations = await known_relations(state, runtime)
    names = await nearest_relations(state["question"], relations.hops, runtime)
    exemplars = solved_questions(nearest[:MAX_EXEMPLARS]) if adapts else ()
    topics = tuple(state["topic_entities"])
    reply = await runtime.ask(OutlineSearch(state["question"], topics, exemplars, tuple(names)))
    if reply is None:
        return {"subgoals": [state["question"]]}
    runtime.trace["subgoals"] = subgoals = [one_line(each, MAX_SENTENCE_CHARS) for each in reply.subgoals]
    if adapts and (found := read_branches(reply.branches, relations, runtime)):
        runtime.trace |= {"source": "adapted", "blueprint": str(found)}
        return {"subgoals": subgoals, "blueprint": found, "fits": True}
    return {"subgoals": subgoals}


def _shortlist_is_cut(state: CoGState, runtime: NodeRuntime) -> bool:
    """Return whether relations are ranked, and there are more of one topic than the model is shown."""
    context, hops = runtime.context, Counter({state["chain"].topic: len(state["extensions"])})
    if context.exploration == "frontier":
        hops = Counter(offer.chain.topic for offer in state["offers"])
    cut: bool = max(hops.values(), default=0) > context.shortlist
    return cut and context.guidance and context.reranking
