"""Backtrack: which alternative is next? (CoR §4.1, relation-level backtracking)."""

from kgqa.session.state import State, Update
from kgqa.session.step import Run, step


@step("backtrack")
async def backtrack(state: State, run: Run) -> Update:
    """Take the next chain from the stack.

    Where a topic's chain is verified and no chain of the other topics meets it,
    what is in working memory stands: it goes on to be filtered, or is the answer.
    """
    memory, stack = state["memory"], state["stack"]
    if memory and (not stack or stack[-1].topic in {branch.chain.topic for branch in memory}):
        run.note["reason"] = "no chain of another topic meets the verified one"
        return {"decision": memory[-1].verdict}
    if not stack:
        run.note["reason"] = "the stack is empty"
        return {"decision": "stop"}
    run.note["chain"] = str(stack[-1])
    return {"chain": stack[-1], "stack": stack[:-1], "candidates": [], "decision": "forward"}
