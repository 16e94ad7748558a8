"""Act: a language model calls the tools of the graph as it likes, until it answers."""

import asyncio
from importlib import import_module

from kgqa.nodes.link import link
from kgqa.prompts.act import opening
from kgqa.session.acting import Acting, ActingUpdate
from kgqa.session.speaking import speaker
from kgqa.session.state import Update
from kgqa.session.step import BudgetExceeded, Run, step

TOOLS = (
    "find_entities",
    "describe_entity",
    "list_relations",
    "follow_relation",
    "extend_chain",
    "follow_chain",
)
"""What an agent is given: all that reads the graph in its own terms, and no SPARQL."""


@step("link", opens=True)
async def link_if_any(state: Acting, run: Run) -> Update:
    """Link as every method does, where there is an agent; what is not found it looks up by its own tool."""
    await speaker(run)
    return {**await link.body(state, run), "decision": "forward"}


@step("act")
async def act(state: Acting, run: Run) -> ActingUpdate:
    """Let the agent work; where the budget ends, what it has seen so far is at hand.

    The trace tells each turn of the model and each call of a tool (``turns``).
    """
    chat = await speaker(run)
    loops = await asyncio.to_thread(import_module, "kgqa.nodes.act_loop")
    tools = (await run.opened()).tools
    topics, seen = state["topic_entities"], loops.Seen()
    loop = loops.Loop(run, topics, seen)
    run.note["turns"] = seen.turns
    update: ActingUpdate = {"said": None}
    try:
        opened = opening(state["question"], topics)
        update["said"] = await loops.acted(chat, [tools[name] for name in TOOLS], opened, loop)
    except BudgetExceeded as error:
        run.note["reason"] = str(error)
        update["stopped_by"] = error.limit
    if update["said"] is not None:
        run.note["answers"] = [each.name for each in update["said"]]
    update["ways"] = seen.ways
    return update
