"""Refine: the answer must also be reached from the question's next topic."""

from kgqa.kg.terms import Chain
from kgqa.nodes.topic_conditions import awaited_topics, with_topic
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update, next_topic


@node("refine")
async def refine(state: State, runtime: NodeRuntime) -> Update:
    """Take up the next topic; its chains have to meet those in working memory.

    The public code of CoR explores the first topic entity only; the paper speaks
    of a set (§3), and so the answer is checked against each. A topic that is a neighbour of a node of the
    chain that stands has no chain of its own: it becomes a condition of that one (``topic_conditions``).
    """
    memory, topic = list(state["memory"]), next_topic(state)
    for each in awaited_topics(state, runtime) if memory else ():
        met = await with_topic(memory, each, state, runtime)
        if met:
            memory[-1] = met
        if each == topic:
            if met is None:
                break
            state = {**state, "chain": Chain(each)}
            topic = next_topic(state)
    if topic is None:
        return {"memory": memory, "decision": memory[-1].decision if memory else "stop"}
    runtime.trace["chain"] = str(topic)
    return {"chain": Chain(topic), "memory": memory, "decision": "forward"}
