"""Checkpoints in PostgreSQL: LangGraph's saver, which forgets the steps of a run as well."""

from collections.abc import Sequence

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

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


class PostgresCheckpoints(AsyncPostgresSaver):
    """LangGraph's saver."""

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the steps that runs have made."""
        runs = [str(run) for run in run_ids]
        async with self._cursor() as cursor, cursor.connection.transaction():
            await cursor.execute(FORGET_WRITES, (runs,))
            await cursor.execute(FORGET_STEPS, (runs,))
            threads = list({row["thread_id"] for row in await cursor.fetchall()})
            await cursor.execute(FORGET_VALUES, (threads,))
