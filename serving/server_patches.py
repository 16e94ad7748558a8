"""Changes to LangGraph's own server, which it has no settings for; nothing else here touches its insides.

Its in-memory runtime, that of ``langgraph dev``, does some things badly:

- Its queue sleeps half a second whenever it finds no run; a run that comes in waits for it.
- It deletes a thread by its place in a list, which it looks up before it waits for the
  checkpoints: of two deletions at once, the second removes somebody else's thread. Every
  run without a thread ends in a deletion.
- Deleting or rolling back a running run, or deleting its thread, does not stop the run: its steps are
  still written, and its thread stays busy.
- A search for threads by values fails at a thread without values; a copy of a thread has none, and every
  search by values finds it.
- Threads cannot be pruned to their last step, though checkpoints can.
- Values that a thread's state cannot take are answered with status 500, and a thread that was to begin with
  them stays.
- Joining a run that does not exist is answered with status 200.
- Some kilobytes of each run are kept for ever, even after its thread is deleted.

If a later runtime mends these, the patches are harmless. Two more, outside of the runtime: the streaming
protocol's errors span several lines; with a LangSmith key the server reports its usage.
"""

import asyncio
import logging
import sys
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from inspect import signature
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID

from kgqa.kg.terms import one_line
from kgqa.serving.request_checks import RequestRefused

T = TypeVar("T")

POLL_SECONDS = 0.5
"""Seconds between two looks for runs when none comes in: some are put off, or wait for their thread."""

MAX_DELETED_KNOWN = 1_000
"""Deleted threads of which something is kept: those waiting for one of their runs still hear of its end."""

MAX_END_SECONDS = 10.0  # seconds that a run has to end in, once it is told to

_KNOWN_PARAMETERS = {
    "Runs.next": ["wait", "limit"],
    "Threads.delete": ["conn", "thread_id", "ctx"],
    "Runs.delete": ["conn", "run_id", "thread_id", "ctx"],
    "Threads.copy": ["conn", "thread_id", "ctx"],
    "Threads.prune": ["thread_ids", "strategy", "batch_size", "ctx"],
    "Threads.State.bulk": ["conn", "config", "supersteps", "ctx"],
    "Runs.Stream.check_run_stream_auth": ["run_id", "thread_id", "ctx"],
    "is_jsonb_contained": ["superset", "subset"],
}
_UNGIVEN: Any = object()  # what a parameter is where the caller leaves it out
_log = logging.getLogger("kgqa.serving")


def patch_inmem_runtime() -> None:
    """Patch the runtime where it is the one in memory and as it is known; any other is left alone."""
    ops: Any = sys.modules.get("langgraph_runtime_inmem.ops")
    if ops is None:
        return
    for name, parameters in _KNOWN_PARAMETERS.items():
        try:
            known = list(signature(attrgetter(name)(ops)).parameters) == parameters
        except AttributeError:
            known = False
        if not known:
            _log.warning("langgraph-runtime-inmem has changed (%s) and is not mended", name)
            return
    _patch_queue(ops.Runs)
    _patch_deletion(ops, sys.modules["langgraph_runtime_inmem.queue"])
    _patch_states(ops)
    _patch_remains(ops)
    _patch_joins(ops)
    _patch_prune(ops)


def patch_protocol() -> None:
    """Have the streaming protocol refuse in one line."""
    manager: Any = getattr(sys.modules.get("langgraph_api.event_streaming.service"), "ThreadRunManager", None)
    if error := getattr(manager, "_error", None):
        manager._error = staticmethod(lambda id, code, message: error(id, code, one_line(message)))


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


def _patch_deletion(ops: Any, queue: Any) -> None:
    runs, threads = ops.Runs, ops.Threads
    delete_run, delete_thread = runs.delete, threads.delete
    locks: dict[asyncio.AbstractEventLoop, asyncio.Lock] = defaultdict(asyncio.Lock)

    def workers(found: list[Any]) -> set[Any]:
        """Return those who work at some runs, but for one that asks this itself."""
        names = tuple(f"run-{run['run_id']}-" for run in found)
        return {task for task in queue.WORKERS if task.get_name().startswith(names)} - {
            asyncio.current_task()
        }

    async def end(found: list[Any]) -> None:
        """Have runs end, and wait for it; those that wait for their turn will not begin."""
        for run in found:
            run["status"] = "interrupted" if run["status"] == "pending" else run["status"]
        if at_work := workers(found):
            for run in found:
                message = ops.Message(topic=f"run:{run['run_id']}:control".encode(), data=b"rollback")
                await ops.get_stream_manager().put(run["run_id"], run["thread_id"], message)
            await asyncio.wait(at_work, timeout=MAX_END_SECONDS)

    async def delete_ended_run(conn: Any, run_id: Any, *, thread_id: Any, ctx: Any = None) -> Any:
        found = await anext(await runs.get(conn, run_id, thread_id=thread_id, ctx=ctx), None)
        if found is None:
            return await delete_run(conn, run_id, thread_id=thread_id, ctx=ctx)  # which says so
        await end([found])
        if found in conn.store["runs"]:  # it has not deleted itself
            await delete_run(conn, run_id, thread_id=thread_id, ctx=ctx)
            await _show_what_is_kept(ops, conn, thread_id)
        return _just(run_id)

    async def delete_ended_thread(conn: Any, thread_id: Any, ctx: Any = None) -> Any:
        found = [run for run in conn.store["runs"] if str(run["thread_id"]) == str(thread_id)]
        if workers(found):
            await threads.get(conn, thread_id, ctx=ctx)  # nobody ends the runs of another
            await end(found)
        async with locks[asyncio.get_running_loop()]:
            return await delete_thread(conn, thread_id, ctx)

    runs.delete, threads.delete = staticmethod(delete_ended_run), staticmethod(delete_ended_thread)


def _patch_states(ops: Any) -> None:
    threads, contained = ops.Threads, ops.is_jsonb_contained
    copy, write_many = threads.copy, threads.State.bulk

    def refusing(work: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
        async def done(*given: Any, **named: Any) -> T:
            try:
                return await work(*given, **named)
            except (AttributeError, LookupError, NotImplementedError, TypeError) as error:
                raise RequestRefused(
                    f"the thread cannot take this ({type(error).__name__}: {error})"
                ) from None

        return done

    async def write_all_or_none(conn: Any, *, config: Any, supersteps: Any, ctx: Any = None) -> Any:
        saver, thread_id = await ops._get_checkpointer(), config["configurable"]["thread_id"]
        begun = await saver.aget_tuple({"configurable": {"thread_id": str(thread_id), "checkpoint_ns": ""}})
        try:
            return await refusing(write_many)(conn, config=config, supersteps=supersteps, ctx=ctx)
        except Exception as error:
            if begun is None:
                await threads.delete(conn, thread_id, ctx)
            raise RequestRefused(getattr(error, "detail", str(error))) from None

    async def copy_with_values(conn: Any, thread_id: Any, ctx: Any = None) -> Any:
        copied = await anext(await copy(conn, thread_id, ctx), None)
        if copied is None:
            raise ops.HTTPException(404, f"Thread with ID {thread_id} not found")
        await _show_what_is_kept(ops, conn, copied["thread_id"])
        return _just(copied)

    ops.is_jsonb_contained = lambda held, sought: contained(held or {}, sought)
    threads.copy, threads.State.bulk = staticmethod(copy_with_values), staticmethod(write_all_or_none)
    for name in ("get", "post", "list"):
        setattr(threads.State, name, staticmethod(refusing(getattr(threads.State, name))))


async def _show_what_is_kept(ops: Any, conn: Any, thread_id: Any) -> None:
    """Have a thread show its last step."""
    config = {"configurable": {"thread_id": str(thread_id), "checkpoint_ns": ""}}
    state = await ops.Threads.State.get(conn, config)
    tasks = [{"id": task.id, "interrupts": list(task.interrupts)} for task in state.tasks]
    kept = {"next": list(state.next), "values": state.values, "tasks": tasks}
    await ops.Threads.set_status(conn, thread_id, kept, None)


async def _just(item: Any) -> AsyncIterator[Any]:
    yield item


def _patch_joins(ops: Any) -> None:
    stream = ops.Runs.Stream
    check = stream.check_run_stream_auth

    async def check_run_is_there(run_id: Any, thread_id: Any, ctx: Any = _UNGIVEN) -> None:
        """Check as the server does; for `join_run`, which alone gives no ``ctx``, also that there is a run.

        `Stream.join` gives one: its answer has begun, and a status can no longer be sent.
        """
        if ctx is not _UNGIVEN:
            await check(run_id, thread_id, ctx)
            return
        await check(run_id, thread_id)
        async with ops.connect() as conn:
            if await anext(await ops.Runs.get(conn, run_id, thread_id=thread_id), None) is None:
                raise ops.HTTPException(404, "Run not found")

    stream.check_run_stream_auth = staticmethod(check_run_is_there)


def _patch_prune(ops: Any) -> None:
    prune = ops.Threads.prune

    async def prune_to_last_step(
        thread_ids: Any, strategy: str = "delete", batch_size: int = 100, ctx: Any = None
    ) -> Any:
        if strategy != "keep_latest":
            return await prune(thread_ids, strategy, batch_size, ctx)
        async with ops.connect() as conn:
            for thread in thread_ids:
                await ops.Threads.get(conn, thread, ctx=ctx)  # nobody prunes the threads of another
        await (await ops._get_checkpointer()).aprune(thread_ids, strategy=strategy)
        return len(thread_ids)

    ops.Threads.prune = staticmethod(prune_to_last_step)


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
