"""Asks a server that speaks Bolt, Neo4j's or a relative's, and waits for no answer for ever."""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from kgqa.addresses import check_password, graph_url, redact_text, secrets_in
from kgqa.kg.errors import KGError, KGMalformed, KGSilent, KGUnavailable
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from neo4j import Driver, Session

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
NAME_PROPERTIES = ("name", "title", "label")
HOURS_KEPT = 24.0  # hours that a copy stands for the graph, unless its counts have changed

_BATCH = 1_000
_BATCHES_AHEAD = 4
_TRIES = 6  # to connect, within the deadline

logging.getLogger("neo4j").addHandler(logging.NullHandler())  # an error says what the driver would say, too

Batch: TypeAlias = "list[Any] | KGError"
"""Rows, of which there are none any more after an empty one; or why there are not."""


def is_property_graph(name: str) -> bool:
    """Return whether a name is the address of a property graph.

    >>> is_property_graph("neo4j://host/db"), is_property_graph("http://host/sparql")
    (True, False)
    """
    return name.strip().partition("://")[0].lower() in SCHEMES and "://" in name


@dataclass(frozen=True)
class BoltAddress:
    """Where a property graph is, who asks, and by which properties nodes are told apart and named."""

    uri: str  # without user, password, database and parameters
    auth: tuple[str, str] | None
    database: str | None
    id: str | None
    names: tuple[str, ...]
    keep: float = HOURS_KEPT

    @classmethod
    def read(cls, address: str) -> "BoltAddress":
        """Read ``neo4j://user:password@host:7687/database?id=PROPERTY&name=PROPERTY,PROPERTY&keep=HOURS``.

        Raises:
            KGUnavailable: if it is not written like this.
        """
        address = address.strip()
        try:
            check_password(address)
            parts = urlsplit(address)
            host, port = parts.hostname, parts.port
            given = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        except ValueError as error:
            said = redact_text(str(error), secrets_in(address))
            raise KGUnavailable(f"{graph_url(address)}: {one_line(said)}") from None
        if not host or parts.path.count("/") > 1 or parts.fragment:
            raise KGUnavailable(f"{graph_url(address)}: write it as neo4j://user:password@host:7687/database")
        if odd := sorted(given.keys() - {"id", "name", "keep"}):
            raise KGUnavailable(
                f"{graph_url(address)}: unknown parameter {one_line(odd[0], 40)!r}; id, name, keep"
            )
        host = f"[{host}]" if ":" in host else host
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(
            uri=f"{parts.scheme.lower()}://{host}:{port or 7687}",
            auth=(user, password) if user or password else None,
            database=unquote(parts.path.strip("/")) or None,
            id=given.get("id") or None,
            names=tuple(filter(None, given.get("name", "").split(","))) or NAME_PROPERTIES,
            keep=_read_hours(given["keep"], address) if given.get("keep") else HOURS_KEPT,
        )


def _read_hours(text: str, address: str) -> float:
    with suppress(ValueError):
        if isfinite(hours := float(text)) and hours >= 0:
            return hours
    raise KGUnavailable(
        f"{graph_url(address)}: keep is a number of hours, 0 or more, not {one_line(text, 40)!r}"
    )


class BoltReader:
    """Asks one query after the other, in a thread of its own; connects for the first of them.

    Args:
        address: where the server is.
        shown: what it is called in errors.
        secrets: what is not shown of what the server says.
        deadline: seconds to wait for a connection; twice as many for what comes next.
    """

    def __init__(self, address: BoltAddress, shown: str, secrets: Sequence[str], deadline: float) -> None:
        self._at, self._shown, self._secrets, self._deadline = address, shown, secrets, deadline
        self._asked: Queue[tuple[str, dict[str, Any]] | None] = Queue()
        self._batches: Queue[Batch] = Queue(_BATCHES_AHEAD)
        self._left = threading.Event()  # when nobody reads any more
        self._thread: threading.Thread | None = None
        self._failure: KGError | None = None  # after which nothing can be asked

    def rows(self, query: str, **parameters: Any) -> Iterator[Any]:
        """Go through the values that a query with one column gives; to be read to the end before the next.

        Raises:
            KGError: if the server cannot be asked, breaks off or falls silent; after one that refuses this
                query alone, another may be asked.
            RuntimeError: if the reader is closed.
        """
        if self._left.is_set():
            raise RuntimeError("closed")
        if self._failure:
            raise self._failure
        if self._thread is None:
            self._thread = threading.Thread(target=self._answer, name="kgqa-bolt", daemon=True)
            self._thread.start()
        self._asked.put((query, parameters))
        while True:
            try:
                batch = self._batches.get(timeout=2 * self._deadline)
            except Empty:
                # what comes late is no answer to the next query
                self._failure = KGSilent(f"{self._shown}: no answer within {2 * self._deadline:g} s")
                raise self._failure from None
            if isinstance(batch, KGError):
                raise batch
            if not batch:
                return
            yield from batch

    def close(self) -> None:
        """Let the connection go, whatever is still to come."""
        self._left.set()
        self._asked.put(None)

    def _answer(self) -> None:
        try:
            with self._connect() as driver, driver.session(**self._session()) as session:
                from neo4j.exceptions import Neo4jError

                while asked := self._asked.get():
                    try:
                        self._run(session, *asked)
                    except Neo4jError as error:
                        self._put(self._error(error))
        except Exception as error:
            self._failure = self._error(error)
            self._put(self._failure)

    def _run(self, session: "Session", query: str, parameters: dict[str, Any]) -> None:
        rows = iter(session.run(query, parameters))
        while (batch := [row[0] for row in islice(rows, _BATCH)]) and not self._left.is_set():
            self._put(batch)
        self._put([])

    def _put(self, batch: Batch) -> None:
        while not self._left.is_set():
            with suppress(Full):
                return self._batches.put(batch, timeout=0.1)

    def _connect(self) -> "Driver":
        try:
            from neo4j import GraphDatabase
        except ImportError:
            raise KGUnavailable(
                "property graphs need a package that is missing: pip install 'kgqa[neo4j]'"
            ) from None
        from neo4j.exceptions import ServiceUnavailable

        seconds = self._deadline / _TRIES
        for more in reversed(range(_TRIES)):
            driver = GraphDatabase.driver(
                self._at.uri,
                auth=self._at.auth,
                connection_timeout=seconds,
                connection_acquisition_timeout=seconds,
            )
            try:
                driver.verify_connectivity()
                break
            except ServiceUnavailable:
                driver.close()
                if not more:
                    raise
            except BaseException:
                driver.close()
                raise
        return driver

    def _session(self) -> dict[str, Any]:
        """Return how it is asked; only a cluster is told that nothing is written: others may not know."""
        routed = {"default_access_mode": "READ"} if self._at.uri.startswith("neo4j") else {}
        return {"database": self._at.database, "fetch_size": _BATCH, **routed}

    def _error(self, error: Exception) -> KGError:
        if isinstance(error, KGError):
            return error
        from neo4j.exceptions import AuthError, DriverError, Forbidden, Neo4jError

        text = (error.message if isinstance(error, Neo4jError) else None) or str(error)
        said = one_line(redact_text(text, self._secrets))
        if isinstance(error, AuthError):
            return KGUnavailable(f"{self._shown} refuses user and password: {said}")
        if isinstance(error, Forbidden):
            return KGUnavailable(f"{self._shown} does not let this user read: {said}")
        if isinstance(error, Neo4jError | DriverError | OSError):
            return KGUnavailable(f"{self._shown} cannot be asked: {said}")
        return KGMalformed(f"{self._shown}: its answer cannot be read: {said}")
