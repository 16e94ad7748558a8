"""Checkpoints in PostgreSQL: LangGraph's saver, which outlasts a restart, and forgets the steps of a run."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from functools import partial, wraps
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import InterfaceError, OperationalError

from kgqa.serving.checkpoint_outages import outlast

T = TypeVar("T")

FORGET_WRITES = """
DELETE FROM checkpoint_writes AS held USING checkpoints AS step
WHERE step.metadata->>'run_id' = ANY(%s) AND held.thread_id = step.thread_id
AND held.checkpoint_ns = step.checkpoint_ns AND held.checkpoint_id = step.checkpoint_id"""

FORGET_STEPS = "DELETE FROM checkpoints WHERE metadata->>'run_id' = ANY(%s) RETURNING thread_id"

FORGET_VALUES = """
DELETE FROM checkpoint_blobs AS held WHERE thread_id = ANY(%s) AND NOT EXISTS (
SELECT FROM checkpoints AS step WHERE step.thread_id = held.thread_id
AND step.checkpoint_ns = held.checkpoint_ns
AND step.checkpoint->'channel_versions'->>held.channel = held.version)"""
"""Values of channels that no step has any more."""

_COPIED = {
    "checkpoints": "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
    "checkpoint_blobs": "checkpoint_ns, channel, version, type, blob",
    "checkpoint_writes": "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob",
}
COPY_THREAD = tuple(
    f"INSERT INTO {table} (thread_id, {columns})"  # noqa: S608 - words of our own
    f" SELECT %(target)s, {columns} FROM {table} WHERE thread_id = %(source)s ON CONFLICT DO NOTHING"
    for table, columns in _COPIED.items()
)


def _outlasting(work: Callable[..., Awaitable[T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    """Have work done again that a restart, or a lost connection, has cut off."""

    @wraps(work)
    async def done(*given: Any, **named: Any) -> T:
        again = partial(work, *given, **named)
        return await outlast(again, (OperationalError, InterfaceError), lambda error: None)

    return done


class PostgresCheckpoints(AsyncPostgresSaver):
    """LangGraph's saver, which does again what a restart, or a lost connection, has cut off."""

    aget_tuple = _outlasting(AsyncPostgresSaver.aget_tuple)
    aput = _outlasting(AsyncPostgresSaver.aput)
    aput_writes = _outlasting(AsyncPostgresSaver.aput_writes)
    adelete_thread = _outlasting(AsyncPostgresSaver.adelete_thread)
    aprune = _outlasting(AsyncPostgresSaver.aprune)

    async def alist(self, config: RunnableConfig | None, **named: Any) -> AsyncIterator[CheckpointTuple]:
        """Return steps, the last one first."""
        find = super().alist

        @_outlasting
        async def listed() -> list[CheckpointTuple]:
            return [step async for step in find(config, **named)]

        for step in await listed():
            yield step

    @_outlasting
    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the steps that runs have made."""
        runs = [str(run) for run in run_ids]
        async with self._cursor() as cursor, cursor.connection.transaction():
            await cursor.execute(FORGET_WRITES, (runs,))
            await cursor.execute(FORGET_STEPS, (runs,))
            threads = list({row["thread_id"] for row in await cursor.fetchall()})
            await cursor.execute(FORGET_VALUES, (threads,))

    @_outlasting
    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Keep the steps of a thread, and what they write, for another thread as well."""
        async with self._cursor() as cursor, cursor.connection.transaction():
            for statement in COPY_THREAD:
                await cursor.execute(statement, {"source": source_thread_id, "target": target_thread_id})
