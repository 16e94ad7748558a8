"""Drafting: is a query to be drafted, and can it be?"""

from kgqa.kg.terms import Literal, plain_term
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import State


def names_no_entity(state: State) -> bool:
    """Return whether a question is about no single thing: it names classes and values alone, or nothing."""
    return all(
        topic.id in state["classes"] or isinstance(plain_term(topic), Literal)
        for topic in state["topic_entities"]
    )


async def can_draft(runtime: NodeRuntime) -> bool:
    """Return whether a query can be drafted: the model writes SPARQL, and the graph's classes are counted."""
    able = runtime.context.drafts and await runtime.writes_sparql()
    return able and bool(await runtime.call_tool("is_counted"))
