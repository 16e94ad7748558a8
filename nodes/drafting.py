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


MAX_PROPERTIES_SHOWN = 300
"""Properties of all classes, up to which a draft is shown what may lie far from the topics of a question."""


async def can_draft(runtime: NodeRuntime, *, far: bool = False) -> bool:
    """Return whether a query can be drafted: the model writes SPARQL, and the graph's classes are counted.

    What is ``far`` from the topics can be, where the graph has so few properties that they can be shown.
    """
    if not (runtime.context.drafts and await runtime.writes_sparql()):
        return False
    size: int = await runtime.call_tool("schema_size")
    return 0 < size <= MAX_PROPERTIES_SHOWN if far else size > 0
