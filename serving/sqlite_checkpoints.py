"""Checkpoints in SQLite for an event loop: one trip to a thread for each step.

LangGraph's own asynchronous saver makes several, under a lock that all threads share; where
the loop is busy each waits for its turn, and a step took 20 ms that takes 1 ms here.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import product
from json import JSONDecodeError
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver

from kgqa.serving.checkpoint_outages import outlast

T = TypeVar("T")

RUN_ID = (
    "CASE WHEN json_valid(CAST(metadata AS TEXT)) THEN json_extract(CAST(metadata AS TEXT), '$.run_id') END"
)
"""The run that has made a step; none where what is kept about it was tampered with."""

_STEPS = f"SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints WHERE {RUN_ID} = :run"  # noqa: S608
FORGET_RUN = (
    f"DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN ({_STEPS})",  # noqa: S608 - words of our own
    f"DELETE FROM checkpoints WHERE {RUN_ID} = :run",  # noqa: S608
)

_LATEST = "SELECT checkpoint_ns, MAX(checkpoint_id) FROM checkpoints WHERE thread_id = :thread GROUP BY 1"
KEEP_LATEST = tuple(
    f"DELETE FROM {table} WHERE thread_id = :thread AND (checkpoint_ns, checkpoint_id) NOT IN ({_LATEST})"  # noqa: S608
    for table in ("writes", "checkpoints")
)

_COPIED = {
    "checkpoints": "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
    "writes": "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value",
}
COPY_THREAD = tuple(
    f"INSERT OR REPLACE INTO {table} (thread_id, {columns})"  # noqa: S608 - words of our own
    f" SELECT :target, {columns} FROM {table} WHERE thread_id = :source"
    for table, columns in _COPIED.items()
)

HAS_DELTA = (
    "SELECT 1 FROM checkpoints WHERE thread_id = ?"
    " AND instr(CAST(metadata AS TEXT), 'counters_since_delta_snapshot') LIMIT 1"
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

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a step."""
        return await self._done(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a step writes."""
        await self._done(self.put_writes, config, writes, task_id, task_path)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Keep the steps of a thread, and what they write, for another thread as well."""
        await self._done(self._execute, COPY_THREAD, {"source": source_thread_id, "target": target_thread_id})

    def _execute(self, statements: Sequence[str], given: Mapping[str, str]) -> None:
        with self.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement, given)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget steps of threads: all but the last of each graph, or all of them ("delete").

        Raises:
            ValueError: if no strategy is called so.
            NotImplementedError: if a thread has a DeltaChannel, whose value is spread over its steps.
        """
        prune = {"keep_latest": self._keep_latest, "delete": self.delete_thread}.get(strategy)
        if prune is None:
            raise ValueError(f"no strategy is called {strategy!r}; there are: keep_latest, delete")
        for thread in thread_ids:
            await self._done(prune, str(thread))

    def _keep_latest(self, thread: str) -> None:
        with self.cursor() as cursor:
            if cursor.execute(HAS_DELTA, (thread,)).fetchone():
                raise NotImplementedError(f"thread {thread} has a DeltaChannel; delete it as a whole")
        self._execute(KEEP_LATEST, {"thread": thread})

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget the steps of a thread."""
        await self._done(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the steps that runs have made."""
        await self._done(self._forget_runs, run_ids)

    def _forget_runs(self, run_ids: Sequence[str]) -> None:
        with self.cursor() as cursor:
            for run, statement in product(run_ids, FORGET_RUN):
                cursor.execute(statement, {"run": str(run)})

    async def _done(self, work: Callable[..., T], *given: Any) -> T:
        loop = asyncio.get_running_loop()
        work_aside = partial(loop.run_in_executor, self._thread, work, *given)
        return await outlast(work_aside, (sqlite3.Error,), _lasting_reason)


def _lasting_reason(error: Exception) -> str | None:
    """Say why an error of SQLite lasts; None where somebody else has the file locked for the time being."""
    locked = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return None if locked else str(error)


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
