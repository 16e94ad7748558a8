"""Runs a method for a plain function: where an app's graph calls it, too, the run is none of that graph's.

LangGraph takes any graph that is invoked within a node for a subgraph: it has the checkpoints of the
app's run, on the app's event loop, and answers from them where the app goes on after an interrupt.
"""

import asyncio
from collections.abc import AsyncIterator
from contextvars import Context as Variables, copy_context
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.constants import TAG_NOSTREAM

from kgqa.runtime.context import Context
from kgqa.runtime.graph_builder import MethodGraph
from kgqa.runtime.state import Input

_END: Any = object()  # what stands after the last state of a run


async def run_apart(graph: MethodGraph, given: Input, context: Context) -> dict[str, Any]:
    """Return the record of a question."""
    return await asyncio.create_task(graph.ainvoke(given, context=context), context=_own_variables())


async def stream_apart(graph: MethodGraph, given: Input, context: Context) -> AsyncIterator[dict[str, Any]]:
    """Yield the state of a run after each step; who stops listening ends the run."""
    states: asyncio.Queue[Any] = asyncio.Queue()

    async def run() -> None:
        try:
            async for state in graph.astream(given, context=context, stream_mode="values"):
                states.put_nowait(state)
        finally:
            states.put_nowait(_END)

    # one task goes through the states: their generator is closed there alone, however the caller ends
    task = asyncio.create_task(run(), context=_own_variables())
    try:
        while (state := await states.get()) is not _END:
            yield state
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _own_variables() -> Variables:
    """Return the variables of the caller without the run of an app; who listens to it hears of ours as well.

    What a model says to us is no message of the app.
    """
    variables, app = copy_context(), var_child_runnable_config.get() or {}
    listeners = (
        RunnableConfig(callbacks=app["callbacks"], tags=[TAG_NOSTREAM]) if "callbacks" in app else None
    )
    variables.run(var_child_runnable_config.set, listeners)
    return variables
