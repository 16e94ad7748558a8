"""What LangGraph's in-memory runtime, that of ``langgraph dev``, does badly under load, mended.

- Its queue sleeps half a second whenever it finds no run; a run that comes in waits for it.
- It deletes a thread by its place in a list, which it looks up before it waits for the
  checkpoints: of two deletions at once, the second removes somebody else's thread. Every
  run without a thread ends in a deletion.

Where the runtime is mended one day, this changes nothing but who waits for whom.
"""

import asyncio
import logging
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import suppress
from inspect import signature
from typing import Any

POLL_SECONDS = 0.5
"""Seconds between two looks for runs when none comes in: some are put off, or wait for their thread."""

_KNOWN_PARAMETERS = {("Runs", "next"): ["wait", "limit"], ("Threads", "delete"): ["conn", "thread_id", "ctx"]}
_log = logging.getLogger("kgqa.serving")


def patch_inmem_runtime() -> None:
    """Mend the runtime where it is the one in memory and as it is known; any other is left alone."""
    ops: Any = sys.modules.get("langgraph_runtime_inmem.ops")
    if ops is None:
        return
    for (owner, name), parameters in _KNOWN_PARAMETERS.items():
        if list(signature(getattr(getattr(ops, owner), name)).parameters) != parameters:
            _log.warning("langgraph-runtime-inmem has changed (%s.%s) and is not mended", owner, name)
            return
    _patch_queue(ops.Runs)
    _patch_deletion(ops.Threads)


def _patch_queue(runs: Any) -> None:
    put, found, came = runs.put, runs.next, asyncio.Event()

    async def put_and_told(*given: Any, **named: Any) -> Any:
        made = await put(*given, **named)
        came.set()
        return made

    async def next_run(wait: bool, limit: int = 1) -> AsyncIterator[Any]:
        if wait:
            with suppress(TimeoutError):
                await asyncio.wait_for(came.wait(), POLL_SECONDS)
        came.clear()
        async for run in found(wait=False, limit=limit):
            yield run

    runs.put, runs.next = staticmethod(put_and_told), staticmethod(next_run)


def _patch_deletion(threads: Any) -> None:
    deleted = threads.delete
    turns: dict[asyncio.AbstractEventLoop, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def delete(conn: Any, thread_id: Any, ctx: Any = None) -> Any:
        async with turns[asyncio.get_running_loop()]:
            return await deleted(conn, thread_id, ctx)

    threads.delete = staticmethod(delete)
