"""The names of a graph's entities in an SQLite file, or in memory: what is called so, or nearly so.

A name is found as it is, by its key (folded, without article), by the words that its key holds, and by
the three-letter grams that it shares with another. Keys are numbered from the shortest on, so that keys
of like length are neighbours, and what is read of a large index has a limit.
"""

import errno
import os
import sqlite3
import stat
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgqa.kg.errors import KGMalformed
from kgqa.kg.terms import one_line
from kgqa.kg.text import fold, strip_article
from kgqa.locks import ProcessLock

MAX_BEARERS = 1_000
"""Entities of one name that are found at most, those with most triples: a million may share it."""

MAX_KEYS_COMPARED = 50_000
"""Keys of like length up to which all are compared; of more, those that share most grams."""

MAX_KEYS_ALIKE = 1_000  # keys that share most grams with a text, which are compared with it
MAX_KEYS_PER_GRAM = 20_000  # keys, the shortest first, that are looked up by one gram
MAX_KEYS_HOLDING = 10_000  # keys, the shortest first, that are looked through for some words
KEYS_PER_PAGE = 500  # of these, that are read at once: most callers want a few

MAX_NAMESPACES = 50  # namespaces of ids that are kept, in which an id without one is looked for

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
CREATE TABLE names (key TEXT, name TEXT, id TEXT, degree INTEGER);
CREATE TABLE keys (place INTEGER PRIMARY KEY, key TEXT);
CREATE TABLE lengths (length INTEGER PRIMARY KEY, place INTEGER);
CREATE TABLE namespaces (namespace TEXT);
CREATE TABLE longest (words INTEGER);
CREATE TABLE store (identity TEXT);
CREATE VIRTUAL TABLE grams USING fts5
    (key, tokenize = 'trigram case_sensitive 1', detail = none, content = '', columnsize = 0);
"""

_INDEX = """
CREATE INDEX names_by_key ON names (key);
CREATE INDEX names_by_name ON names (name);
INSERT INTO keys (key) SELECT DISTINCT key FROM names WHERE key <> '' ORDER BY length(key), key;
INSERT INTO lengths SELECT length(key), min(place) FROM keys GROUP BY 1;
INSERT INTO longest SELECT coalesce(max(length(key) - length(replace(key, ' ', '')) + 2), 0) FROM keys;
INSERT INTO grams (rowid, key) SELECT place, ' ' || key || ' ' FROM keys;
"""

MAX_PATH_BYTES = 500  # of a file that SQLite opens and writes a journal beside

_CROWDED = "FROM names WHERE key IN (SELECT key FROM names GROUP BY key HAVING count(*) > ?)"

Facts = Callable[[Sequence[str]], Mapping[str, Mapping[Any, int]]]
"""Returns the numbers of facts of those entities that the graph knows."""


class NameTable:
    """What is called how; read by many threads.

    Raises:
        KGMalformed: with any look, if the file cannot be read; it says why.
    """

    def __init__(self, connection: sqlite3.Connection, place: str = "names") -> None:
        self._connection, self._place = connection, place
        self._lock = ProcessLock()  # a connection serves one thread at a time, from the query to its last row
        weakref.finalize(self, connection.close)
        [(self.longest,)] = self._rows("SELECT words FROM longest")
        [(size,)] = self._rows("SELECT coalesce(max(place), 0) FROM keys")
        self.size: int = size

    @classmethod
    def open(cls, path: Path, identity: str) -> "NameTable":
        """Open a file that `build` made for the store that is called so.

        Raises:
            KGMalformed: if it cannot be read, is of another store, or no regular file.
        """
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise OSError("no regular file")
            address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
            table = cls(sqlite3.connect(address, uri=True, check_same_thread=False), str(path))
        except (OSError, ValueError, sqlite3.Error) as error:
            raise _unreadable(str(path), error) from None
        if table._rows("SELECT identity FROM store") != [(identity,)]:
            raise KGMalformed(f"{path} is of another store than the triples beside it; build the store again")
        return table

    @classmethod
    def build(
        cls, names: Iterable[tuple[str, str]], facts: Facts, path: Path | None = None, identity: str = ""
    ) -> "NameTable":
        """Make a table of (id, name) pairs for the store that is called so, in memory if no path is given.

        The triples of those are counted that have a name with more than `MAX_BEARERS` others.

        Raises:
            OSError: if there is no room, or the path is too long for SQLite.
        """
        if path and len(os.fsencode(path.absolute())) > MAX_PATH_BYTES:
            raise OSError(
                errno.ENAMETOOLONG,
                f"longer than {MAX_PATH_BYTES} bytes, too long for SQLite; choose a shorter one",
                str(path),
            )
        connection = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
        try:
            connection.executescript(f"{_SCHEMA} BEGIN;")
            namespaces = Counter[str]()

            def as_row(named: tuple[str, str]) -> tuple[str, str, str]:
                id, name = named
                namespaces[id[: max(id.rfind("/"), id.rfind("#")) + 1]] += 1
                return strip_article(fold(name)), name, id

            connection.executemany("INSERT INTO names VALUES (?, ?, ?, 0)", map(as_row, names))
            spaces = [(each,) for each, _ in namespaces.most_common(MAX_NAMESPACES) if each]
            connection.executemany("INSERT INTO namespaces VALUES (?)", spaces)
            connection.execute("INSERT INTO store VALUES (?)", (identity,))
            connection.executescript(_INDEX)
            ids = [id for (id,) in connection.execute(f"SELECT DISTINCT id {_CROWDED}", (MAX_BEARERS,))]
            if counted := {id: sum(n.values()) for id, n in facts(ids).items()} if ids else {}:
                connection.execute("CREATE TEMP TABLE counted (id TEXT PRIMARY KEY, degree INTEGER)")
                connection.executemany("INSERT INTO counted VALUES (?, ?)", counted.items())
                connection.execute(
                    "UPDATE names SET degree = counted.degree FROM counted WHERE counted.id = names.id"
                )
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.OperationalError):
                raise OSError(None, str(error)) from error
            raise
        return cls(connection)

    @property
    def namespaces(self) -> list[str]:
        """The namespaces of most ids."""
        return [space for (space,) in self._rows("SELECT namespace FROM namespaces")]

    def sample_ids(self, most: int) -> list[str]:
        """Return the ids of names at even distances; sorted."""
        [(names,)] = self._rows("SELECT coalesce(max(rowid), 0) FROM names")
        step = max(1, -(-names // most))
        text = "SELECT DISTINCT id FROM names WHERE rowid = ?"
        return sorted({id for at in range(1, names + 1, step) for (id,) in self._rows(text, at)})

    def called(self, name: str) -> list[str]:
        """Return the ids of those with this name, as it is."""
        text = "SELECT DISTINCT id FROM names WHERE name = ? ORDER BY degree DESC, id LIMIT ?"
        return [id for (id,) in self._rows(text, name, MAX_BEARERS)]

    def bearers(self, key: str) -> list[tuple[str, str]]:
        """Return the (id, name) of those whose name has this key."""
        text = "SELECT id, name FROM names WHERE key = ? ORDER BY degree DESC, id LIMIT ?"
        return self._rows(text, key, MAX_BEARERS) if key else []

    def has_key(self, key: str) -> bool:
        """Return whether a name has this key."""
        return bool(key and self._rows("SELECT 1 FROM names WHERE key = ? LIMIT 1", key))

    def keys_like(self, key: str, least: float, most: float, limit: int = MAX_KEYS_ALIKE) -> list[str]:
        """Return the keys that may be spelt like another: of ``least`` to ``most`` characters; sorted."""
        first, last = self._first_place(least), self._first_place(most + 1) - 1
        if last - first < MAX_KEYS_COMPARED:
            text = "SELECT key FROM keys WHERE place BETWEEN ? AND ?"
            return sorted(key for (key,) in self._rows(text, first, last))
        shared = Counter[int]()
        text = "SELECT rowid FROM grams WHERE grams MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?"
        for gram in sorted(_grams(key)):
            shared.update(
                place for (place,) in self._rows(text, _quoted(gram), first, last, MAX_KEYS_PER_GRAM)
            )
        best = sorted(shared, key=lambda place: (-shared[place], place))[:limit]
        return sorted(self._key_at(place) for place in best)

    def keys_without_gaps(self, texts: tuple[str, str]) -> list[str]:
        """Return the keys of two or three words that are one of two texts but for the gaps; sorted."""
        least, most = min(map(len, texts)) + 1, max(map(len, texts)) + 2
        first, last = self._first_place(least), self._first_place(most + 1) - 1
        if last - first < MAX_KEYS_COMPARED:
            text = "SELECT key FROM keys WHERE place BETWEEN ? AND ? AND replace(key, ' ', '') IN (?, ?)"
            alike = sorted(key for (key,) in self._rows(text, first, last, *texts))
        else:
            alike = self.keys_like(max(texts, key=len), least, most)
        return [key for key in alike if " " in key and key.replace(" ", "") in texts]

    def keys_beginning(self, text: str, limit: int) -> list[str]:
        """Return some keys that begin with a text; sorted."""
        query = "SELECT DISTINCT key FROM names WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
        return [key for (key,) in self._rows(query, text, f"{text}\U0010ffff", limit)]

    def keys_holding(self, words: Iterable[str]) -> Iterator[str]:
        """Return the keys that hold all of some words, the shortest first."""
        wanted = set(words)
        grams = sorted({gram for word in wanted for gram in _grams(word)})
        if not grams:
            return
        match, last = " AND ".join(map(_quoted, grams)), 0
        text = (
            "SELECT place, keys.key FROM grams CROSS JOIN keys ON place = grams.rowid "
            "WHERE grams MATCH ? AND grams.rowid > ? ORDER BY grams.rowid LIMIT ?"
        )
        for _ in range(0, MAX_KEYS_HOLDING, KEYS_PER_PAGE):
            page = self._rows(text, match, last, KEYS_PER_PAGE)
            yield from (key for _, key in page if wanted.issubset(key.split()))
            if len(page) < KEYS_PER_PAGE:
                return
            last = page[-1][0]

    def _key_at(self, place: int) -> str:
        return next((key for (key,) in self._rows("SELECT key FROM keys WHERE place = ?", place)), "")

    def _first_place(self, length: float) -> int:
        """Return the place of the first key that is not shorter."""
        [(place,)] = self._rows("SELECT min(place) FROM lengths WHERE length >= ?", length)
        return self.size + 1 if place is None else int(place)

    def _rows(self, text: str, *values: object) -> list[Any]:
        try:
            with self._lock:
                return self._connection.execute(text, values).fetchall()
        except (sqlite3.Error, ValueError) as error:
            raise _unreadable(self._place, error) from None


def _unreadable(place: str, error: Exception) -> KGMalformed:
    reason = one_line(getattr(error, "strerror", None) or str(error))
    return KGMalformed(f"{place} cannot be read ({reason}); build the store again")


def _grams(key: str) -> set[str]:
    text = f" {key} "
    return {text[at : at + 3] for at in range(len(text) - 2)} - {"   "}


def _quoted(gram: str) -> str:
    return f'"{gram}"'
