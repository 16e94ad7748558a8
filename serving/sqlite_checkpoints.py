"""Checkpoints in SQLite for an event loop: one trip to a thread for each step.

LangGraph's own asynchronous saver makes several, under a lock that all threads share; where
the loop is busy each waits for its turn, and a step took 20 ms that takes 1 ms here.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from json import JSONDecodeError
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver

T = TypeVar("T")

RUN_ID = (
    "CASE WHEN json_valid(CAST(metadata AS TEXT)) THEN json_extract(CAST(metadata AS TEXT), '$.run_id') END"
)
"""The run that has made a step; none where what is kept about it was tampered with."""

_STEPS = f"SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints WHERE {RUN_ID} = ?"  # noqa: S608
FORGET_RUN = (
    f"DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN ({_STEPS})",  # noqa: S608 - words of our own
    f"DELETE FROM checkpoints WHERE {RUN_ID} = ?",  # noqa: S608
)

CHECKPOINT_FIELDS = {
    "v": int,
    "id": str,
    "ts": str,
    "channel_values": dict,
    "channel_versions": dict,
    "versions_seen": dict,
}
"""What a checkpoint has (`langgraph.checkpoint.base.Checkpoint`)."""


class SqliteCheckpoints(SqliteSaver):
    """LangGraph's saver, whose work is done in one thread that a caller on a loop waits for."""

    def __init__(self, connection: sqlite3.Connection, serde: SerializerProtocol, thread: Executor) -> None:
        super().__init__(connection, serde=serde)
        self._thread = thread

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a step, the last one if none is named; ValueError if it was tampered with."""
        found = await self._done(_read_valid, lambda: filter(None, [self.get_tuple(config)]))
        return found[0] if found else None

    async def alist(self, config: RunnableConfig | None, **named: Any) -> AsyncIterator[CheckpointTuple]:
        """Return steps, the last one first; raise ValueError in one line, if one was tampered with."""
        for step in await self._done(_read_valid, lambda: self.list(config, **named)):
            yield step

    async def aput(self, *given: Any) -> RunnableConfig:
        """Keep a step."""
        return await self._done(self.put, *given)

    async def aput_writes(self, *given: Any) -> None:
        """Keep what a step writes."""
        await self._done(self.put_writes, *given)

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget the steps of a thread."""
        await self._done(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the steps that runs have made."""
        await self._done(self._delete_for_runs, run_ids)

    def _delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.cursor() as cursor:
            for run in run_ids:
                for statement in FORGET_RUN:
                    cursor.execute(statement, (str(run),))

    async def _done(self, work: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)


def _read_valid(read: Callable[[], Iterable[CheckpointTuple]]) -> list[CheckpointTuple]:
    """Read steps; what they are made of is as LangGraph takes it for granted."""
    try:
        steps = list(read())
        fit = all(map(_is_valid, steps))
    except (TypeError, RecursionError, UnicodeDecodeError, JSONDecodeError):  # metadata that is no JSON
        fit = False
    if not fit:
        raise ValueError("a step that is kept was changed by somebody else; begin a new thread")
    return steps


def _is_valid(step: CheckpointTuple) -> bool:
    about: Any = step.metadata
    if not isinstance(about, dict) or not isinstance(about.get("step"), int):
        return False
    held: Any = step.checkpoint
    if not isinstance(held, dict) or not all(
        isinstance(held.get(key), kind) for key, kind in CHECKPOINT_FIELDS.items()
    ):
        return False
    return all(isinstance(seen, dict) for seen in held["versions_seen"].values())


@contextmanager
def open_sqlite(path: Path, serde: SerializerProtocol) -> Iterator[SqliteCheckpoints]:
    """Open a file, made if it is not there (blocking); OSError or sqlite3.Error if it is something else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        closing(sqlite3.connect(path, check_same_thread=False)) as connection,
        ThreadPoolExecutor(1, thread_name_prefix="checkpoints") as thread,
    ):
        # What a killed process wrote is kept; only a power cut may cost the last steps.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        saver = SqliteCheckpoints(connection, serde, thread)
        saver.setup()
        connection.execute(f"CREATE INDEX IF NOT EXISTS steps_of_runs ON checkpoints ({RUN_ID})")
        yield saver
