"""Verify: what is known now, and is it enough? (PoG: memory update and evaluation; EGP §4.4)."""

from typing import cast

from kgqa.kg.terms import one_line
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate, explores_entities, prompt_context
from kgqa.nodes.verdicts import accept_group, group_findings, unite_groups
from kgqa.prompts.assess_found import AssessFound, Evaluate
from kgqa.prompts.progress import MAX_SENTENCE_CHARS
from kgqa.runtime.node import NodeRuntime, node


@node("verify")
async def verify(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model write down what is known, and say whether one of the groups is the answer.

    Groups are the named ends of each chain that was just followed, and what of them chains from other topics
    lead to as well, followed now or before. After a malformed reply the search goes on.
    Of an entity frontier the memory was written before, and groups stand as they were found; where the
    model says that it knows the answer besides, it is asked for it from memory.
    """
    if explores_entities(runtime.context):
        return await _evaluate(state, runtime)
    groups = group_findings(state["found"], state["explored"], state["topic_entities"])
    prompt = AssessFound(state["question"], tuple(groups), **prompt_context(state))
    reply = await runtime.ask(prompt)
    if reply is None:
        return {"decision": "forward"}
    known = [one_line(text, MAX_SENTENCE_CHARS) for text in reply.known] or state["known"]
    runtime.trace |= {"groups": len(groups), "known": known, "reason": reply.rationale}
    if reply.decision == "forward":
        return {"known": known, "candidates": [], "decision": "forward"}
    return cast(FrontierUpdate, {**accept_group(groups, reply, runtime), "known": known})


async def _evaluate(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    found = state["found"]
    groups = unite_groups(found)
    triples = tuple(found) if len(groups) < len(found) else ()
    prompt = Evaluate(state["question"], tuple(groups), triples=triples, **prompt_context(state))
    reply = await runtime.ask(prompt)
    runtime.trace |= {"groups": len(groups)} | ({"reason": reply.rationale} if reply else {})
    if reply and reply.decision == "stop" and not reply.group and runtime.context.allow_parametric:
        return {"memory": [], "candidates": [], "decision": "stop"}
    if reply is None or reply.decision == "forward" or not reply.group:
        return {"candidates": [], "decision": "forward"}
    return cast(FrontierUpdate, accept_group(groups, reply, runtime))
