"""Reads a property graph (Neo4j and what else speaks Bolt and Cypher) as a stream of quads.

| in the property graph | becomes |
|---|---|
| a node | an entity: its ``uri`` if it has one; else ``node/`` and its property of ``?id=``, or its id |
| its property ``name``, ``title`` or ``label``, or what ``?name=`` names | the name: the first that it has |
| a label | a type |
| any other property | a value by a relation of that name, a list as several values |
| a relationship | a relation of its type, from node to node |
| one with properties | also a node without a name between them, by ``TYPE (details)`` and ``TYPE (to)`` |

Two queries are asked, which are constants (`NODES`, `RELATIONSHIPS`): nothing that a graph, a question or a
model says becomes Cypher. What is written meanwhile may be read or not. Lists of more than
`MAX_LIST_VALUES` values (embeddings) and bytes are left out.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

import pyoxigraph as ox

from kgqa.addresses import check_password, drop_user, redact_text, secrets_in
from kgqa.kg.errors import KGError, KGMalformed, KGSilent, KGUnavailable
from kgqa.kg.minting import (
    TYPE,
    LabelOnce,
    class_node,
    graph_node,
    literal,
    relation_node,
    typed_literal,
    web_node,
)
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from neo4j import Driver

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")

NODES, RELATIONSHIPS = "MATCH (n) RETURN n", "MATCH ()-[r]->() RETURN r"

NAME_PROPERTIES = ("name", "title", "label")
MAX_LIST_VALUES = 100
MAX_IN_MEMORY = 1_000_000  # nodes and relationships that are read each time a graph is opened
_BATCH = 1_000
_BATCHES_AHEAD = 4
_TRIES = 3  # to connect, within the deadline

Batches: TypeAlias = "Queue[list[tuple[str, Any]] | KGError | None]"
"""Rows, each with its query, as they are read ahead; None ends them."""


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

    @classmethod
    def read(cls, address: str) -> "BoltAddress":
        """Read ``neo4j://user:password@host:7687/database?id=PROPERTY&name=PROPERTY,PROPERTY``.

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
            raise KGUnavailable(f"{drop_user(address)}: {one_line(said)}") from None
        if not host or parts.path.count("/") > 1 or parts.fragment:
            raise KGUnavailable(f"{drop_user(address)}: write it as neo4j://user:password@host:7687/database")
        if odd := sorted(given.keys() - {"id", "name"}):
            raise KGUnavailable(f"{drop_user(address)}: unknown parameter {one_line(odd[0], 40)!r}; id, name")
        host = f"[{host}]" if ":" in host else host
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(
            uri=f"{parts.scheme.lower()}://{host}:{port or 7687}",
            auth=(user, password) if user or password else None,
            database=unquote(parts.path.strip("/")) or None,
            id=given.get("id") or None,
            names=tuple(filter(None, given.get("name", "").split(","))) or NAME_PROPERTIES,
        )


class PropertyGraphReader:
    """Reads a property graph into quads and, having read them, knows its fingerprint.

    Args:
        address: as `BoltAddress.read` takes it.
        watch: told how much is read, which nobody knows before the end.
        most: nodes and relationships that are read; None for all.
        deadline: seconds to wait for a connection, or for what comes next.

    Raises:
        KGUnavailable: for an address that is none; while reading, if the server cannot be asked.
    """

    def __init__(
        self,
        address: str,
        watch: Callable[[float], None] | None = None,
        *,
        most: int | None = None,
        deadline: float = 30.0,
    ) -> None:
        self._at = BoltAddress.read(address)
        self._secrets = secrets_in(address)
        self._watch, self._most, self._deadline = watch, most, deadline
        self.source = drop_user(address)
        self._ids: dict[str, ox.NamedNode] = {}  # nodes that are not called by their element id
        self._label = LabelOnce()
        self._details = 0
        self._content = 0

    @property
    def fingerprint(self) -> str:
        """A hash of the facts, in whatever order they came."""
        return hashlib.sha256(f"{self._content:x}".encode()).hexdigest()[:16]

    def load(self, store: ox.Store) -> None:
        """Put the graph into a store."""
        store.bulk_extend(self.quads())
        if self._watch:
            self._watch(1.0)

    def quads(self) -> Iterator[ox.Quad]:
        """Go through the graph: its nodes, then its relationships."""
        for read, (query, each) in enumerate(self._rows(), 1):
            if self._most is not None and read > self._most:
                raise KGUnavailable(
                    f"{self.source} has more than {self._most:,} nodes and relationships; load it once: "
                    "kgqa kg load ADDRESS --out FOLDER, then --kg FOLDER"
                )
            for quad in self._node(each) if query == NODES else self._relationship(each):
                self._content += int.from_bytes(hashlib.sha256(str(quad).encode()).digest()[:16])
                yield quad
        self._content %= 1 << 128

    def _node(self, node: Any) -> Iterator[ox.Quad]:
        values = dict(node)
        iri = self._iri(node.element_id, values)
        for label in sorted(node.labels):
            kind = class_node(label)
            yield ox.Quad(iri, TYPE, kind)
            yield from self._label(kind, label)
        named = next(
            (key for key in self._at.names if isinstance(values.get(key), str) and values[key]), None
        )
        if named:
            yield from self._label(iri, values.pop(named))
        yield from self._values(iri, values)

    def _iri(self, element_id: str, values: dict[str, Any]) -> ox.NamedNode:
        key, web = values.get(self._at.id or ""), values.get("uri")
        node = web_node(web) if isinstance(web, str) else None
        if node:
            del values["uri"]
        if node is None and key is not None:
            node = graph_node(str(key))
        if node is None:
            return graph_node(element_id)
        self._ids[element_id] = node
        return node

    def _relationship(self, relationship: Any) -> Iterator[ox.Quad]:
        ends = (relationship.start_node, relationship.end_node)
        start, end = (self._ids.get(each.element_id) or graph_node(each.element_id) for each in ends)
        kind = relationship.type
        yield ox.Quad(start, relation_node(kind), end)
        if values := dict(relationship):
            self._details += 1
            between = ox.NamedNode(f"{BLANK_NAMESPACE}b{self._details}")
            yield ox.Quad(start, relation_node(f"{kind} (details)"), between)
            yield ox.Quad(between, relation_node(f"{kind} (to)"), end)
            yield from self._values(between, values)

    @staticmethod
    def _values(node: ox.NamedNode, values: Mapping[str, Any]) -> Iterator[ox.Quad]:
        for key, value in values.items():
            many = value if isinstance(value, list) else [value]
            for each in many if len(many) <= MAX_LIST_VALUES else ():
                if (found := _literal(each)) is not None:
                    yield ox.Quad(node, relation_node(key), found)

    def _rows(self) -> Iterator[tuple[str, Any]]:
        """Go through what the queries give; a thread reads ahead, and is not waited for for ever."""
        batches: Batches = Queue(_BATCHES_AHEAD)
        left = threading.Event()  # when nobody reads any more
        threading.Thread(target=self._read, args=(batches, left), name="kgqa-bolt", daemon=True).start()
        try:
            while True:
                try:
                    batch = batches.get(timeout=2 * self._deadline)
                except Empty:
                    raise KGSilent(f"{self.source}: no answer within {2 * self._deadline:g} s") from None
                if batch is None:
                    return
                if isinstance(batch, KGError):
                    raise batch
                yield from batch
        finally:
            left.set()

    def _read(self, batches: Batches, left: threading.Event) -> None:
        def put(batch: list[tuple[str, Any]] | KGError | None) -> bool:
            while not left.is_set():
                with suppress(Full):
                    batches.put(batch, timeout=0.1)
                    return True
            return False

        try:
            with self._connect() as driver, driver.session(**self._session()) as session:
                for query in (NODES, RELATIONSHIPS):
                    rows = iter(session.run(query))
                    while batch := [(query, row[0]) for row in islice(rows, _BATCH)]:
                        self._check(batch)
                        if not put(batch):
                            return
            put(None)
        except Exception as error:
            put(self._error(error))

    def _check(self, batch: Sequence[tuple[str, Any]]) -> None:
        from neo4j.graph import Node, Relationship

        kinds = {NODES: Node, RELATIONSHIPS: Relationship}
        if not all(isinstance(each, kinds[query]) for query, each in batch):
            raise KGMalformed(f"{self.source}: its answer cannot be read: no nodes and relationships")

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
        from neo4j.exceptions import AuthError, DriverError, Neo4jError

        said = one_line(redact_text(str(error), self._secrets))
        if isinstance(error, AuthError):
            return KGUnavailable(f"{self.source} refuses user and password: {said}")
        if isinstance(error, Neo4jError | DriverError | OSError):
            return KGUnavailable(f"{self.source} cannot be asked: {said}")
        return KGMalformed(f"{self.source}: its answer cannot be read: {said}")


def _literal(value: Any) -> ox.Literal | None:
    """Return a value of a property; None for bytes and what else says nothing."""
    if value is None or isinstance(value, bytes | bytearray | list | dict):
        return None
    if (found := typed_literal(value)) is not None:
        return found
    kind = {"Date": "date", "DateTime": "dateTime", "Time": "time", "Duration": "duration"}
    name = type(value).__name__
    return literal(value.iso_format(), kind[name]) if name in kind else ox.Literal(str(value))
