"""Refine: the answer must also be reached from the question's next topic."""

from kgqa.kg.terms import Chain
from kgqa.session.state import State, Update, next_topic
from kgqa.session.step import Run, step


@step("refine")
async def refine(state: State, run: Run) -> Update:
    """Take up the next topic; its chains have to meet those in working memory.

    The public code of CoR explores the first topic entity only; the paper speaks
    of a set (§3), and so the answer is checked against each.
    """
    topic = next_topic(state)
    run.note["chain"] = str(topic)
    return {"chain": Chain(topic), "decision": "forward"} if topic else {"decision": "stop"}
