"""Act: a language model calls the tools of the graph as it likes, until it answers."""

import asyncio
from importlib import import_module

from kgqa.models.errors import MalformedReply
from kgqa.nodes.agent.state import AgentState, AgentUpdate
from kgqa.nodes.link import link
from kgqa.prompts.act import INSTRUCTIONS, opening
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.chat_model import budgeted_chat_model
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Update


@node("link", opens=True)
async def link_if_any(state: AgentState, runtime: NodeRuntime) -> Update:
    """Link as every method does, where there is an agent; what is not found it looks up by its own tool."""
    await budgeted_chat_model(runtime)
    return {**await link.body(state, runtime), "decision": "forward"}


@node("act")
async def act(state: AgentState, runtime: NodeRuntime) -> AgentUpdate:
    """Let the agent work; where the budget ends, what it has seen so far can still be the answer."""
    chat = await budgeted_chat_model(runtime)
    module = await asyncio.to_thread(import_module, "kgqa.nodes.agent.loop")
    tools = (await runtime.open_resources()).tools
    loop = module.AgentLoop(runtime, state["topic_entities"])
    runtime.trace["turns"] = loop.entries
    update: AgentUpdate = {"said": None, "ways": loop.followed}
    try:
        begin = opening(state["question"], state["topic_entities"])
        said = await loop.run(chat, tools, begin, await runtime.wording("act", INSTRUCTIONS))
        update["said"] = said
        if said is not None:
            runtime.trace["answers"] = [each.name for each in said]
        elif not {"limit", "failure"} & runtime.trace.keys():
            runtime.record_failure(MalformedReply("the model gives no answer, though it was reminded"))
    except BudgetExceeded as error:
        runtime.trace["reason"] = str(error)
        update["stopped_by"] = error.limit
    return update
