"""Reflect: where does the search go on, and has it gone astray? (PoG: reflection; EGP §4.4)."""

from collections.abc import Sequence

from kgqa.kg.terms import Chain, Entity
from kgqa.nodes.frontier.state import (
    FrontierState,
    FrontierUpdate,
    continue_from,
    explores_entities,
    held_chains,
    prompt_context,
    steers,
)
from kgqa.prompts.candidates import ChainFindings
from kgqa.prompts.recall_entities import JudgeDirection, RecallEntities
from kgqa.prompts.reflect import Reflect
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import node_count

MAX_HISTORY_CHAINS = 12
"""Earlier chains that the model can come back to at most: the topics and the last ones."""


@node("reflect")
async def reflect(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model choose what to go on from, and what of all that was explored to come back to.

    After a malformed reply the search goes on from all that was found. Where nothing is left to
    go on from, the answer is inferred from what is known. Where one chain only is left to come back to, and
    nothing to go on from, nobody is asked, unless ``reflection`` says so.
    Of an entity frontier the model says whether something is missing, and then which of all entities that
    were ever reached are added; after the last round it is asked for an answer from memory.
    """
    last, depth, steered = state["last_node"], runtime.context.depth, steers(runtime.context)
    dry = state["decision"] == "backtrack" and last != "filter"
    dry = dry or (steered and last == "verify")  # none of what was found leads on
    if explores_entities(runtime.context):
        return await _reflect_on_entities(state, dry, runtime)
    found = [] if dry else [each for each in state["found"] if each.chain.depth < depth]
    if not dry and len(found) < len(state["found"]):
        runtime.trace["limit"] = "depth"
    recalls = node_count(state, "backtrack")
    history: list[ChainFindings] = []
    topics = [ChainFindings(Chain(topic), ()) for topic in state["topic_entities"]]
    every = [*topics, *(state["found"] if dry else []), *state["explored"]]
    spent = tuple(each for each in every if each.chain.hops and each.chain in state["spent"])
    if recalls < runtime.context.reflections:  # of the topics and what was explored, what still has choices
        history = [each for each in every if each.chain not in state["spent"]][:MAX_HISTORY_CHAINS]
    if not (found or history):
        runtime.trace["reason"] = "nothing is left to come back to"
        return continue_from(state, [], [])
    if steered and not found and len(history) == 1:
        runtime.trace["recalled"] = [str(history[0].chain)]
        return continue_from(state, [], [history[0].chain])
    prompt = Reflect(state["question"], tuple(found), tuple(history), spent, **prompt_context(state))
    reply = await runtime.ask(prompt)
    if reply is None:
        return continue_from(state, [each.chain for each in found], [])
    runtime.trace["reason"] = reply.rationale
    recalled = [history[number - 1].chain for number in reply.recall]
    runtime.trace["recalled"] = [str(chain) for chain in recalled]
    return continue_from(state, held_chains(found, reply.go_on, reply.keep), recalled)


async def _reflect_on_entities(state: FrontierState, dry: bool, runtime: NodeRuntime) -> FrontierUpdate:
    if not dry and node_count(state, "retrieve_relations") >= runtime.context.depth:
        runtime.trace["limit"] = "depth"
        return {"memory": [], "candidates": [], "decision": "stop"}
    following = state["frontier"]
    recalled: list[Chain] = []
    if not dry and node_count(state, "backtrack") < runtime.context.reflections:
        recalled = await _recall(state, following, runtime)
    return continue_from(state, [] if dry else following, recalled)


async def _recall(state: FrontierState, following: Sequence[Chain], runtime: NodeRuntime) -> list[Chain]:
    """Let the model say whether to come back, and to which entities of the whole search (E_add)."""
    question, shown = state["question"], prompt_context(state)
    chains = (*state["found"], *state["explored"])
    judged = await runtime.ask(JudgeDirection(question, tuple(following), chains, **shown))
    if judged is None or not judged.add:
        return []
    reached: dict[Entity, Chain] = {topic: Chain(topic) for topic in state["topic_entities"]}
    for group in state["reached"]:
        for end in group.named:
            if isinstance(end.term, Entity):
                reached.setdefault(end.term, group.chain.constrained_to([end.term]))
    offered = tuple(chain for chain in reached.values() if chain not in following)
    runtime.trace |= {"reason": judged.rationale, "offered": len(offered)}
    reply = (
        await runtime.ask(RecallEntities(question, offered, judged.rationale, **shown)) if offered else None
    )
    recalled = [offered[number - 1] for number in reply.recall] if reply else []
    runtime.trace["recalled"] = [str(chain) for chain in recalled]
    return recalled
