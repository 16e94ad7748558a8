"""Checkpoints in PostgreSQL: LangGraph's saver, which outlasts a restart, and forgets the steps of a run."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
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


class PostgresCheckpoints(AsyncPostgresSaver):
    """LangGraph's saver, which does again what a restart, or a lost connection, has cut off."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a step, the last one if none is named."""
        return await _outlast(partial(super().aget_tuple, config))

    async def alist(self, config: RunnableConfig | None, **named: Any) -> AsyncIterator[CheckpointTuple]:
        """Return steps, the last one first."""
        find = super().alist

        async def listed() -> list[CheckpointTuple]:
            return [step async for step in find(config, **named)]

        for step in await _outlast(listed):
            yield step

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a step."""
        return await _outlast(partial(super().aput, config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a step writes."""
        await _outlast(partial(super().aput_writes, config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget the steps of a thread."""
        await _outlast(partial(super().adelete_thread, thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the steps that runs have made."""
        runs = [str(run) for run in run_ids]
        await _outlast(partial(self._forget, runs))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Keep the steps of a thread, and what they write, for another thread as well."""
        await _outlast(partial(self._copy, {"source": source_thread_id, "target": target_thread_id}))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget steps of threads: all but the last of each graph, or all of them ("delete")."""
        await _outlast(partial(super().aprune, thread_ids, strategy=strategy))

    async def _copy(self, threads: dict[str, str]) -> None:
        async with self._cursor() as cursor, cursor.connection.transaction():
            for statement in COPY_THREAD:
                await cursor.execute(statement, threads)

    async def _forget(self, runs: list[str]) -> None:
        async with self._cursor() as cursor, cursor.connection.transaction():
            await cursor.execute(FORGET_WRITES, (runs,))
            await cursor.execute(FORGET_STEPS, (runs,))
            threads = list({row["thread_id"] for row in await cursor.fetchall()})
            await cursor.execute(FORGET_VALUES, (threads,))


async def _outlast(work: Callable[[], Awaitable[T]]) -> T:
    return await outlast(work, (OperationalError, InterfaceError), lambda error: None)
