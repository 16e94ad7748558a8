"""Replies kept in a file: what was asked before costs nothing.

A row is keyed by everything that shapes a reply: the messages, LangChain's
account of the model and call, and a ``scope`` (server, parameters, sample). Rows
are JSON; a row that cannot be read is a miss. Each operation opens the file for
itself, so that threads and processes may share it. One that another process keeps
locked is waited for once; then hardly, until it is free.
"""

import asyncio
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from copy import copy
from hashlib import sha256
from pathlib import Path
from typing import Any

from langchain_core.caches import BaseCache
from langchain_core.messages import AIMessage, message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, Generation
from tenacity import Retrying, retry_if_exception_message, stop_after_delay, wait_random

from kgqa.kg.terms import one_line
from kgqa.models.errors import UnknownModel

CACHED_FIELD = "cached"  # key in ``response_metadata`` that is True where a message came from the cache

ROW_KEY_FIELD = "cache_key"
"""Key in ``response_metadata`` that names the row of a message, for `SqliteCache.discard`."""

_VERSION = 1
_OPEN_WAIT_SECONDS = 10.0
_LOCK_WAIT_SECONDS = 3.0
_SHORT_LOCK_WAIT_SECONDS = 0.2
_MAX_WORK_SECONDS = 1.0
"""Seconds that an operation may work: somebody may have put a view without end into the file."""
_PROGRESS_INSTRUCTIONS = 10_000
_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
_log = logging.getLogger(__name__)


_retry_locked = Retrying(  # SQLite does not wait where two processes begin a file at once
    retry=retry_if_exception_message(match=".*locked"),
    wait=wait_random(0.01, 0.1),
    stop=stop_after_delay(_OPEN_WAIT_SECONDS),
    reraise=True,
)


class SqliteCache(BaseCache):
    """LangChain's cache of chat models on one SQLite file.

    Only failures to open it are raised; later ones are misses and are logged.

    Args:
        path: the file; made, with its folder, if it is not there.
        scope: told apart from every other scope.

    Raises:
        UnknownModel: the file cannot be made, or is something else.
    """

    def __init__(self, path: Path, scope: str = "") -> None:
        self.path, self.scope = path, scope
        self._free = threading.Event()
        self._free.set()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _retry_locked(self._begin)
        except (OSError, sqlite3.Error) as error:
            raise UnknownModel(f"cannot use {path} as a cache ({error}); name another file") from None

    def _begin(self) -> None:
        with self._open(_OPEN_WAIT_SECONDS) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(_TABLE)

    def scoped(self, scope: str) -> "SqliteCache":
        """Return the same file under another scope."""
        other = copy(self)
        other.scope = scope
        return other

    def key(self, prompt: str, llm_string: str) -> str:
        """Name the row of a call."""
        return sha256(json.dumps([self.scope, llm_string, prompt]).encode()).hexdigest()

    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        """Return the reply to a call, marked as `CACHED_FIELD`; None if there is none that can be read."""
        key = self.key(prompt, llm_string)
        rows = self._run("SELECT reply FROM replies WHERE key = ?", key)
        return _read_row(rows[0][0], key) if rows else None

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        """Keep the reply to a call, and mark its messages with `ROW_KEY_FIELD`."""
        messages = [g.message for g in return_val if isinstance(g, ChatGeneration)]
        key = self.key(prompt, llm_string)
        try:
            row = json.dumps({"version": _VERSION, "messages": [message_to_dict(m) for m in messages]})
        except (TypeError, ValueError) as error:
            _log.warning("a reply is not kept: %s", error)
            return
        self._run("INSERT OR REPLACE INTO replies VALUES (?, ?)", key, row)
        for message in messages:
            message.response_metadata[ROW_KEY_FIELD] = key

    def discard(self, *keys: str) -> None:
        """Forget rows, so that their calls are made anew."""
        for key in keys:
            self._run("DELETE FROM replies WHERE key = ?", key)

    def clear(self, **kwargs: Any) -> None:
        """Forget everything, in every scope."""
        self._run("DELETE FROM replies")

    async def adiscard(self, *keys: str) -> None:
        """Discard in a thread."""
        await asyncio.to_thread(self.discard, *keys)

    def _run(self, sql: str, *values: str) -> list[Any]:
        wait = _LOCK_WAIT_SECONDS if self._free.is_set() else _SHORT_LOCK_WAIT_SECONDS
        try:
            with self._open(wait) as database:
                rows = database.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            if "locked" in str(error):
                self._free.clear()
            _log.warning("the cache %s cannot be used: %s", self.path, error)
            return []
        if not sql.startswith("SELECT"):  # who writes may let others read
            self._free.set()
        return rows

    @contextmanager
    def _open(self, seconds: float) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=seconds)) as database, database:
            database.execute("PRAGMA synchronous=NORMAL")
            database.execute("PRAGMA trusted_schema=OFF")
            end = time.monotonic() + seconds + _MAX_WORK_SECONDS
            database.set_progress_handler(lambda: time.monotonic() > end, _PROGRESS_INSTRUCTIONS)
            yield database


def _read_row(row: str, key: str) -> list[ChatGeneration] | None:
    try:
        content = json.loads(row)
        if content["version"] != _VERSION:
            return None
        messages = messages_from_dict(content["messages"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _log.warning("a row of the cache cannot be read: %s", one_line(str(error)))
        return None
    if not messages or not all(isinstance(message, AIMessage) for message in messages):
        return None
    for message in messages:
        message.response_metadata |= {CACHED_FIELD: True, ROW_KEY_FIELD: key}
    return [ChatGeneration(message=message) for message in messages]
