"""Where the steps of runs are kept: a file of SQLite, or PostgreSQL.

KGQA_CHECKPOINTS names a folder or a ``postgresql://`` address; unset, it is the folder in
which ``langgraph dev`` keeps its threads. What is kept is plain JSON: nothing else is read back.
"""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

DEFAULT_FOLDER = ".langgraph_api"
SQLITE_FILE = "checkpoints.sqlite"

MAX_CONNECTIONS = 10  # connections to PostgreSQL at most, of one server
CONNECT_TIMEOUT_SECONDS = 30.0  # seconds to wait for PostgreSQL at the start

READABLE_TYPES = frozenset({"null", "bytes", "bytearray", "msgpack"})
"""How LangGraph writes steps today; of the others, ``json`` may name classes of LangChain to be made."""

CheckpointSaver = BaseCheckpointSaver[Any]

_open_savers: dict[asyncio.AbstractEventLoop, CheckpointSaver] = {}


class PlainSerializer(JsonPlusSerializer):
    """LangGraph's serializer, held to the types it takes for safe: dates, messages, its own."""

    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Read a value; raise ValueError if it is damaged or was not written by `dumps_typed`."""
        if data[0] not in READABLE_TYPES:
            raise ValueError("a step that is kept was not written by kgqa; begin a new thread")
        try:
            return super().loads_typed(data)
        except Exception as error:  # whatever msgpack and the constructors of safe types raise
            why = f"a step that is kept cannot be read ({type(error).__name__})"
            raise ValueError(f"{why}; begin a new thread") from None


@asynccontextmanager
async def checkpointer() -> AsyncIterator[CheckpointSaver]:
    """Open what KGQA_CHECKPOINTS names, for a ``with`` block; RuntimeError says why it cannot be opened."""
    where = os.environ.get("KGQA_CHECKPOINTS") or DEFAULT_FOLDER
    is_address = where.startswith(("postgresql://", "postgres://"))
    if "://" in where and not is_address:  # its password would become the name of a folder
        raise RuntimeError("KGQA_CHECKPOINTS names a folder, or an address that begins with postgresql://")
    async with _postgres(where) if is_address else _sqlite(where) as saver:
        loop = asyncio.get_running_loop()
        _open_savers[loop] = saver
        try:
            yield saver
        finally:
            del _open_savers[loop]


async def belongs_to_another(thread: str, owner: str) -> bool:
    """Return whether steps of a thread are kept that somebody else's runs have made.

    A server that was killed may have forgotten a thread whose steps are kept. Where they
    cannot be read, nobody can say whose they are, and they are not given away.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    try:
        async for step in _open_savers[asyncio.get_running_loop()].alist(config):
            maker = (step.metadata or {}).get("owner")
            if maker:
                return maker != owner
    except ValueError:
        return True
    return False


@asynccontextmanager
async def _sqlite(folder: str) -> AsyncIterator[CheckpointSaver]:
    try:
        from kgqa.serving.sqlite_checkpoints import open_sqlite
    except ImportError:
        raise RuntimeError("checkpoints need a package that is missing; pip install 'kgqa[studio]'") from None
    path = Path(folder).expanduser()
    opening = open_sqlite(path / SQLITE_FILE, PlainSerializer())
    try:
        saver = await asyncio.to_thread(opening.__enter__)
    except (OSError, sqlite3.Error) as error:
        raise RuntimeError(f"KGQA_CHECKPOINTS: {path} cannot be used ({error}); name a folder") from None
    try:
        yield saver
    finally:
        await asyncio.to_thread(opening.__exit__, None, None, None)


@asynccontextmanager
async def _postgres(address: str) -> AsyncIterator[CheckpointSaver]:
    try:
        from psycopg import AsyncConnection
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool, PoolTimeout

        from kgqa.serving.postgres_checkpoints import PostgresCheckpoints
    except ImportError:
        raise RuntimeError("PostgreSQL needs a package that is missing; pip install 'kgqa[serve]'") from None
    pool: AsyncConnectionPool[AsyncConnection[dict[str, Any]]] = AsyncConnectionPool(
        address,
        min_size=1,
        max_size=MAX_CONNECTIONS,
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        open=False,
    )
    try:
        await pool.open(wait=True, timeout=CONNECT_TIMEOUT_SECONDS)
    except PoolTimeout:
        await pool.close()
        raise RuntimeError("KGQA_CHECKPOINTS: PostgreSQL does not answer; check its address") from None
    async with pool:
        saver = PostgresCheckpoints(pool, serde=PlainSerializer())
        await saver.setup()
        yield saver
