"""What LangGraph's in-memory runtime, that of ``langgraph dev``, does badly under load, mended.

- Its queue sleeps half a second whenever it finds no run; a run that comes in waits for it.
- It deletes a thread by its place in a list, which it looks up before it waits for the
  checkpoints: of two deletions at once, the second removes somebody else's thread.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

PAUSE = 0.02
"""Seconds between two looks for runs."""


def mend() -> None:
    """Mend the runtime where it is the one in memory; any other is left alone."""
    ops: Any = sys.modules.get("langgraph_runtime_inmem.ops")
    if ops is None:
        return
    found, deleted, turn = ops.Runs.next, ops.Threads.delete, asyncio.Lock()

    async def next_run(wait: bool, limit: int = 1) -> AsyncIterator[Any]:
        await asyncio.sleep(PAUSE if wait else 0)
        async for run in found(wait=False, limit=limit):
            yield run

    async def delete(*given: Any, **named: Any) -> Any:
        async with turn:
            return await deleted(*given, **named)

    ops.Runs.next, ops.Threads.delete = staticmethod(next_run), staticmethod(delete)
