"""Retrieve relations: what leads on from the whole frontier? (PoG, ToG: relation exploration)."""

from typing import cast

from kgqa.kg.terms import Chain
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate, explores_entities, spent_chains
from kgqa.nodes.look_again import count_second_look
from kgqa.nodes.retrieve_relations import MAX_OFFERED_RELATIONS, limit_extensions, list_extensions
from kgqa.prompts.chain import Extension
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import node_has_run
from kgqa.tools.arguments import chain_arguments


@node("retrieve_relations")
async def retrieve_relations(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Offer every hop that leads on from the frontier, at first from the topic entities.

    What was visited already is not asked again, and what was tried is left out. One query
    is enough for all chains of the frontier, each of which has its share of what is offered. An
    entity has all of it, and what was tried as well.
    """
    begun: FrontierUpdate = {}
    if not node_has_run(state, "retrieve_relations"):
        topics = [Chain(topic) for topic in state["topic_entities"]]
        begun = {"frontier": topics, "found": [], "explored": [], "reached": [], "spent": [], "known": []}
        if not node_has_run(state, "plan"):
            begun["subgoals"] = []
    state = cast(FrontierState, {**state, **begun})
    open_ = [chain for chain in state["frontier"] if chain.depth < runtime.context.depth]
    if len(open_) < len(state["frontier"]):
        runtime.trace["limit"] = "depth"
    known, tried = {lead.chain: lead.hops for lead in state["leads"]}, set(state["tried"])
    asked = [chain for chain in dict.fromkeys(open_) if chain not in known]
    arguments = [chain_arguments(chain) for chain in asked]
    visits = await runtime.try_tool("visit_chains", chains=arguments, ends=False) if asked else ()
    offers: list[Extension] = []
    if visits is not None:
        known |= {chain: visit.hops.items for chain, visit in zip(asked, visits, strict=True)}
        share = max(1, MAX_OFFERED_RELATIONS // max(1, len(open_)))
        if explores_entities(runtime.context):  # each entity has a prompt of its own
            tried, share = set(), MAX_OFFERED_RELATIONS
        every, hidden = await list_extensions({chain: known[chain] for chain in open_}, runtime)
        every, hidden = ([x for x in some if x.chain not in tried] for some in (every, hidden))
        begun["hidden"] = hidden if every else []
        for chain in open_:
            shown, others = limit_extensions([x for x in every or hidden if x.start == chain], share)
            offers += shown
            begun["hidden"] += others
        runtime.trace |= {"frontier": [str(chain) for chain in open_], "relations": len(offers)}
    if offers:
        return {**begun, **count_second_look(state), "offers": offers}
    return {**begun, "offers": [], "spent": spent_chains(state), "decision": "backtrack"}
