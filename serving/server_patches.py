"""Changes to LangGraph's own server, which it has no settings for; nothing else here touches its insides.

Its in-memory runtime, that of ``langgraph dev``, does two things badly under load:

- Its queue sleeps half a second whenever it finds no run; a run that comes in waits for it.
- It deletes a thread by its place in a list, which it looks up before it waits for the
  checkpoints: of two deletions at once, the second removes somebody else's thread. Every
  run without a thread ends in a deletion.

Of each run it keeps some kilobytes for ever, even where its thread is deleted: of threads deleted long ago
nothing is kept here.

Where the runtime does better one day, the changes affect nothing but who waits for whom.
And it reports to LangSmith how much it has run, as soon as it has read a key of LangSmith.
"""

import asyncio
import logging
import sys
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import suppress
from inspect import signature
from typing import Any
from uuid import UUID

POLL_SECONDS = 0.5
"""Seconds between two looks for runs when none comes in: some are put off, or wait for their thread."""

MAX_DELETED_KNOWN = 1_000
"""Deleted threads of which something is kept: whoever waits for one of their runs still hears of its end."""

_KNOWN_PARAMETERS = {("Runs", "next"): ["wait", "limit"], ("Threads", "delete"): ["conn", "thread_id", "ctx"]}
_log = logging.getLogger("kgqa.serving")


def patch_inmem_runtime() -> None:
    """Patch the runtime where it is the one in memory and as it is known; any other is left alone."""
    ops: Any = sys.modules.get("langgraph_runtime_inmem.ops")
    if ops is None:
        return
    for (owner, name), parameters in _KNOWN_PARAMETERS.items():
        if list(signature(getattr(getattr(ops, owner), name)).parameters) != parameters:
            _log.warning("langgraph-runtime-inmem has changed (%s.%s) and is not mended", owner, name)
            return
    _patch_queue(ops.Runs)
    _patch_deletion(ops.Threads)
    _patch_remains(ops)


def _patch_queue(runs: Any) -> None:
    put, next_run, arrived = runs.put, runs.next, asyncio.Event()

    async def put_and_wake(*args: Any, **kwargs: Any) -> Any:
        made = await put(*args, **kwargs)
        arrived.set()
        return made

    async def next_on_arrival(wait: bool, limit: int = 1) -> AsyncIterator[Any]:
        if wait:
            with suppress(TimeoutError):
                await asyncio.wait_for(arrived.wait(), POLL_SECONDS)
        arrived.clear()
        async for run in next_run(wait=False, limit=limit):
            yield run

    runs.put, runs.next = staticmethod(put_and_wake), staticmethod(next_on_arrival)


def _patch_deletion(threads: Any) -> None:
    delete = threads.delete
    locks: dict[asyncio.AbstractEventLoop, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def delete_one_at_a_time(conn: Any, thread_id: Any, ctx: Any = None) -> Any:
        async with locks[asyncio.get_running_loop()]:
            return await delete(conn, thread_id, ctx)

    threads.delete = staticmethod(delete_one_at_a_time)


def _patch_remains(ops: Any) -> None:
    delete, deleted = ops.Threads.delete, deque[Any]()

    async def delete_and_forget(conn: Any, thread_id: Any, ctx: Any = None) -> Any:
        gone = await delete(conn, thread_id, ctx)
        deleted.append(thread_id)
        if len(deleted) > MAX_DELETED_KNOWN:
            _forget(deleted.popleft(), ops.get_stream_manager(), conn.retry_counter)
        return gone

    ops.Threads.delete = staticmethod(delete_and_forget)


def _forget(thread_id: Any, streams: Any, counter: Any) -> None:
    """Forget what is kept of the runs of a thread, for those who stream them and for another try."""
    thread = UUID(str(thread_id))
    for run in streams.control_keys.pop(thread, ()):
        counter._counters.pop(run, None)
        counter._locks.pop(run, None)
    for held in (streams.queues, streams.control_queues, streams.message_stores):
        held.pop(thread, None)
    if not streams.thread_streams.get(thread):
        streams.thread_streams.pop(thread, None)


def stop_usage_reports() -> None:
    """Have the server forget the key by which it would report how much it has run."""
    metadata: Any = sys.modules.get("langgraph_api.metadata")
    if metadata:
        metadata.LANGSMITH_CONTROL_PLANE_API_KEY = ""
