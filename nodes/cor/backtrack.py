"""Backtrack: which alternative is next? (CoR §4.1, relation-level backtracking)."""

from kgqa.nodes.look_again import may_look_again
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update, next_topic


@node("backtrack")
async def backtrack(state: State, runtime: NodeRuntime) -> Update:
    """Take the next chain of the current topic from the stack.

    Where it has none left, the next topic is taken up. After the last, what is in working memory stands: it
    goes on to be filtered, or is the answer. With nothing in memory, an alternative of an earlier topic is
    next. Where none is left, the method may look again from where it was.
    """
    stack, memory = state["stack"], state["memory"]
    here = bool(stack) and stack[-1].topic == state["chain"].topic
    if not here and next_topic(state):
        runtime.trace["reason"] = f"no other chain from {state['chain'].topic}"
        return {"candidates": [], "decision": "refine"}
    if not here and memory:
        runtime.trace["reason"] = "no other chain meets what is verified"
        return {"decision": memory[-1].decision}
    if not stack:
        runtime.trace["reason"] = "the stack is empty"
        return {"decision": "backtrack" if may_look_again(state, runtime) else "stop"}
    runtime.trace["chain"] = str(stack[-1])
    return {"chain": stack[-1], "stack": stack[:-1], "candidates": [], "decision": "forward"}
