"""Compose: which query of what was retrieved answers the question?"""

from dataclasses import replace

from kgqa.nodes.compose.state import (
    ComposeState,
    ComposeUpdate,
    has_drafted,
    otherwise,
    with_alternative_entities,
)
from kgqa.nodes.drafting import can_draft
from kgqa.nodes.record import failure_outcome
from kgqa.prompts.compose_query import ComposedQuery, ComposeQuery
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import VerifiedChain, node_count


@node("compose")
async def compose(state: ComposeState, runtime: NodeRuntime) -> ComposeUpdate:
    """Let the model compose a query of the chains and attributes that were retrieved.

    What it misses is looked for, and where it takes no chain, others are offered: ``refines`` times at most.
    Then, and where a reply is malformed, the query before stands, if it gives anything and nothing was
    cut short since; else the search explores instead. So it does without chains where something is missing
    that is not found. What chains do not say is drafted, once.
    """
    asked, topics = node_count(state, "compose"), state["topic_entities"]
    alternative_entities = with_alternative_entities(state, topics)
    order = [entity for topic, others in alternative_entities.items() for entity in (topic, *others)]
    order = [*dict.fromkeys([*order, *(each.chain.topic for each in state["offered"])])]
    prompt = ComposeQuery(
        state["question"],
        tuple(sorted(state["offered"], key=lambda each: (order.index(each.chain.topic), each.chain.depth))),
        tuple(state["attributes"]),
        tuple(state["types"]),
        tuple(state["mentions"]),
        state["naming"],
        tuple(state["exemplars"]),
        state["empty"],
        state["missing"],
        final=has_drafted(state) or asked >= runtime.context.refines,
        drafts=not has_drafted(state) and await can_draft(runtime),
        topics=tuple(topics),
        alternative_entities=tuple(meaning for others in alternative_entities.values() for meaning in others),
    )
    stands = asked and not state["empty"] and not failure_outcome(state)
    standing = state["composed"] if stands else []
    reply = await runtime.ask(prompt)
    if reply is None:
        return {"composed": standing, "decision": "filter" if standing else otherwise(state, runtime)}
    composed = _branches(prompt, reply) or ([] if reply.missing or not prompt.final else standing)
    runtime.trace |= {"reason": reply.rationale, "composed": [str(each.chain) for each in composed]}
    update: ComposeUpdate = {"composed": composed, "missing": reply.missing, "empty": ""}
    if reply.missing:
        runtime.trace["missing"] = reply.missing
    if reply.draft and prompt.drafts:
        return {**update, "decision": "draft"}
    if (reply.missing or not composed) and not prompt.final:
        return {**update, "decision": "refine"}
    return {**update, "decision": "filter" if composed else otherwise(state, runtime)}


def _branches(prompt: ComposeQuery, reply: ComposedQuery) -> list[VerifiedChain]:
    """Return the branches of a query; what is chosen is picked from the last, what is not said left open."""
    chosen = tuple(prompt.chosen(reply))
    composed = [
        VerifiedChain(
            each.chain,
            (),
            "stop",
            each.fresh,
            each.conditions,
            aggregate=each.aggregate,
            others=each.others,
            place=each.place,
            met_at=each.met_at,
        )
        for each in prompt.branches(reply)
    ]
    if composed and chosen:
        composed[-1] = replace(composed[-1], ends=chosen, picked=reply.words or reply.rationale)
    elif composed and (reply.missing or reply.draft):
        composed[-1] = replace(composed[-1], verdict="filter")
    return composed
