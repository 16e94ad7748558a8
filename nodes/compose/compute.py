"""Compute: what does the graph give for the query?"""

from collections.abc import Sequence
from dataclasses import replace

from kgqa.kg.terms import ANY, Entity
from kgqa.kg.text import fold
from kgqa.nodes.compose.state import (
    ComposeState,
    ComposeUpdate,
    has_drafted,
    leading_topics,
    otherwise,
    with_alternative_entities,
)
from kgqa.nodes.proof import query_of_memory
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import ComputedQuery, State, VerifiedChain, node_count

MAX_NAMES = 5

TOO_LONG = "it takes too long"


@node("compute")
async def compute(state: ComposeState, runtime: NodeRuntime) -> ComposeUpdate:
    """Ask the graph what the composed query gives; one that gives nothing is composed anew, or explored.

    So is one that makes no sense or takes too long, and the model is told why. Nothing is counted or compared
    of what a condition is missing from: unlike a list, no part of that would be right.

    Where the answer is on the way of a chain, others lead there, or else to the end. What is to be counted is
    looked up as it is: the record's query counts it.
    """
    *others, last = composed = state["composed"]
    if last.aggregate and state["missing"]:
        runtime.trace["reason"] = "a condition is missing from what is counted or compared"
        return {"decision": otherwise(state, runtime)}
    topics = _set_out_from(composed, state)
    try:
        computed = await _run(composed, topics, runtime)
        if others and computed and not computed.proof.answers and last.met_at and last.place:
            last = replace(last, met_at=None)
            computed = await _run([*others, last], topics, runtime)
    except ValueError as error:
        computed, why = None, f"it makes no sense: {error}"
    else:
        why = "" if computed else TOO_LONG
    runtime.trace["computed"] = len(computed.proof.answers) if computed else 0
    if computed and (found := computed.proof.answers):
        answers = {*found}
        ends = tuple(term for term in last.ends if term in answers) or found.items
        return {
            "topic_entities": topics,
            "memory": [*others, replace(last, ends=ends, truncated=found.truncated)],
            "computed": computed,
            "decision": "stop",
        }
    if has_drafted(state) or node_count(state, "compose") > runtime.context.refines:
        return {"decision": otherwise(state, runtime)}
    return {"empty": why or await _why_empty(composed, topics, runtime), "missing": "", "decision": "refine"}


def _set_out_from(composed: Sequence[VerifiedChain], state: State) -> list[Entity]:
    """Return the topics as a query means them, or the classes that it sets out from."""
    starts = [*dict.fromkeys(branch.chain.topic for branch in composed if branch.chain.topic != ANY)]
    topics = state["topic_entities"]
    if not leading_topics(state):  # what is a class by name is a topic no more
        classes = {fold(str(start)) for start in starts}
        return [*dict.fromkeys([*(each for each in topics if fold(str(each)) not in classes), *starts])]
    meant = (
        next((each for each in others if each in starts and each not in topics), topic)
        for topic, others in with_alternative_entities(state, topics).items()
    )
    return [*dict.fromkeys(meant)]


async def _run(
    composed: Sequence[VerifiedChain], topics: Sequence[Entity], runtime: NodeRuntime
) -> ComputedQuery | None:
    """Return what a query gives, before it is counted; None where it takes too long."""
    *others, last = composed
    counts = last.aggregate is not None and last.aggregate.function == "count"
    query = query_of_memory([*others, replace(last, aggregate=None) if counts else last], topics)
    proof = await runtime.try_tool("prove_answers", query=query)
    return ComputedQuery(query, proof) if proof else None


async def _why_empty(
    composed: Sequence[VerifiedChain], topics: Sequence[Entity], runtime: NodeRuntime
) -> str:
    """Say what of a query gives something: its chains, or each chain alone."""
    free = [replace(each, conditions=(), aggregate=None, picked=None) for each in composed]
    computed = await _run(free, topics, runtime)
    if computed is None:
        return TOO_LONG
    if found := computed.proof.answers:
        names = [str(term) for term in found.items[:MAX_NAMES]]
        more = [f"{len(found) - MAX_NAMES} more"] * (len(found) > MAX_NAMES)
        return f"without its conditions it gives {', '.join([*names, *more])}"
    return "its chains do not meet" if len(composed) > 1 else "the chain leads to no such node"
