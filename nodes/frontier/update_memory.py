"""Update memory: what is known of the subgoals now? (PoG: memory; EGP §4.4; CoG §3.2.2, A.2.3)."""

from collections.abc import Sequence

from kgqa.nodes.frontier.state import (
    FrontierState,
    FrontierUpdate,
    prompt_context,
    updated_memory,
    uses_own_knowledge,
)
from kgqa.prompts.candidates import ChainFindings
from kgqa.prompts.update_memory import UpdateMemory
from kgqa.runtime.node import NodeRuntime, node


@node("update_memory", option="explores_entities")
async def update_memory(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model write down what the round has found; after a malformed reply the memory stays."""
    return {"known": await write_memory(state["found"], state, runtime)}


async def write_memory(
    found: Sequence[ChainFindings], state: FrontierState, runtime: NodeRuntime
) -> list[str]:
    """Return the memory as the model writes it after what was ``found``."""
    own = uses_own_knowledge(runtime.context)
    prompt = UpdateMemory(state["question"], tuple(found), own, **prompt_context(state))
    reply = await runtime.ask(prompt)
    runtime.trace["known"] = known = updated_memory(reply.known if reply else [], state)
    return known
