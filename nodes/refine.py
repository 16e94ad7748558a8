"""Refine: the answer must also be reached from the question's next topic."""

from kgqa.kg.terms import Chain
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update, next_topic


@node("refine")
async def refine(state: State, runtime: NodeRuntime) -> Update:
    """Take up the next topic; its chains have to meet those in working memory.

    The public code of CoR explores the first topic entity only; the paper speaks
    of a set (§3), and so the answer is checked against each.
    """
    topic = next_topic(state)
    runtime.trace["chain"] = str(topic)
    return {"chain": Chain(topic), "decision": "forward"} if topic else {"decision": "stop"}
