"""Checkpoints in PostgreSQL: LangGraph's saver, which outlasts a restart of its server."""

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import InterfaceError, OperationalError

from kgqa.serving.checkpoint_outages import outlast

T = TypeVar("T")


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

    async def aput(self, *given: Any) -> RunnableConfig:
        """Keep a step."""
        return await _outlast(partial(super().aput, *given))

    async def aput_writes(self, *given: Any) -> None:
        """Keep what a step writes."""
        await _outlast(partial(super().aput_writes, *given))

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget the steps of a thread."""
        await _outlast(partial(super().adelete_thread, thread_id))


async def _outlast(work: Callable[[], Awaitable[T]]) -> T:
    return await outlast(work, (OperationalError, InterfaceError), lambda error: None)
