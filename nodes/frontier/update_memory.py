"""Update memory: what is known of the subgoals now? (PoG: memory; EGP §4.4)."""

from kgqa.kg.terms import one_line
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate, prompt_context
from kgqa.prompts.progress import MAX_SENTENCE_CHARS
from kgqa.prompts.update_memory import UpdateMemory
from kgqa.runtime.node import NodeRuntime, node


@node("update_memory", option="explores_entities")
async def update_memory(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model write down what the round has found; after a malformed reply the memory stays."""
    prompt = UpdateMemory(state["question"], tuple(state["found"]), **prompt_context(state))
    reply = await runtime.ask(prompt)
    known = [one_line(text, MAX_SENTENCE_CHARS) for text in reply.known] if reply else []
    runtime.trace["known"] = known
    return {"known": known or state["known"]}
