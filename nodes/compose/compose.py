"""Compose: which query of what was retrieved answers the question?"""

from dataclasses import replace

from kgqa.nodes.compose.state import ComposeState, ComposeUpdate, otherwise, with_meanings
from kgqa.nodes.record import failure_outcome
from kgqa.prompts.compose_query import ComposedQuery, ComposeQuery
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import VerifiedChain, node_count


@node("compose")
async def compose(state: ComposeState, runtime: NodeRuntime) -> ComposeUpdate:
    """Let the model compose a query of the chains and attributes that were retrieved.

    What it misses is looked for, and where it takes no chain, others are offered: ``refines`` times at most.
    Then, and where a reply is malformed, the query before stands, if it gives anything and nothing was
    cut short since; else the search explores instead.
    """
    asked, topics = node_count(state, "compose"), state["topic_entities"]
    meanings = with_meanings(state, topics)
    order = [entity for topic, others in meanings.items() for entity in (topic, *others)]
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
        final=asked >= runtime.context.refines,
        topics=tuple(topics),
        meanings=tuple(meaning for others in meanings.values() for meaning in others),
    )
    stands = asked and not state["empty"] and not failure_outcome(state)
    standing = state["draft"] if stands else []
    reply = await runtime.ask(prompt)
    if reply is None:
        return {"draft": standing, "decision": "filter" if standing else otherwise(state, runtime)}
    draft = _draft(prompt, reply) or (standing if prompt.final else [])
    runtime.trace |= {"reason": reply.rationale, "composed": [str(each.chain) for each in draft]}
    update: ComposeUpdate = {"draft": draft, "missing": reply.missing, "empty": ""}
    if reply.missing:
        runtime.trace["missing"] = reply.missing
    if (reply.missing or not draft) and not prompt.final:
        return {**update, "decision": "refine"}
    return {**update, "decision": "filter" if draft else otherwise(state, runtime)}


def _draft(prompt: ComposeQuery, reply: ComposedQuery) -> list[VerifiedChain]:
    """Return the branches of a query; what is chosen is picked from the last, what is missing left open."""
    chosen = tuple(prompt.chosen(reply))
    draft = [
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
    if draft and chosen:
        draft[-1] = replace(draft[-1], ends=chosen, picked=reply.words or reply.rationale)
    elif draft and reply.missing:
        draft[-1] = replace(draft[-1], verdict="filter")
    return draft
