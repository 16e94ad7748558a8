"""Reads a property graph (Neo4j and what else speaks Bolt and Cypher) as a stream of quads.

| in the property graph | becomes |
|---|---|
| a node | an entity: its ``uri`` if it has one; else ``node/`` and its property of ``?id=``, or its id |
| its property ``name``, ``title`` or ``label``, or what ``?name=`` names | the name: the first that it has |
| a label | a type |
| any other property | a value by a relation of that name, a list as several values |
| a relationship | a relation of its type, from node to node |
| one with properties | also a node without a name between them, by ``TYPE (details)`` and ``TYPE (to)`` |

The queries are constants; two names of properties are parameters, and where a server does not know
``elementId`` it is asked by ``id``. Nothing that a graph, a question or a model says becomes Cypher. What is
written meanwhile may be read or not. Lists of more than `MAX_LIST_VALUES` values (embeddings) and bytes are
left out. They give plain values: the driver would keep each node that it is given as one in memory.
"""

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from typing import Any

import pyoxigraph as ox

from kgqa.addresses import graph_url, secrets_in
from kgqa.kg.bolt import BoltAddress, BoltReader
from kgqa.kg.errors import KGMalformed, KGSilent, KGUnavailable
from kgqa.kg.minting import (
    LABEL,
    TYPE,
    LabelOnce,
    literal,
    mint,
    relation_node,
    typed_literal,
    web_node,
)
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.store.loading import fill_store

COUNT_NODES, COUNT_RELATIONSHIPS = "MATCH (n) RETURN count(n)", "MATCH ()-[r]->() RETURN count(r)"
PROBE = "MATCH (n) RETURN elementId(n) LIMIT 1"
NODES = "MATCH (n) RETURN [elementId(n), labels(n), properties(n)]"
RELATIONSHIPS = (
    "MATCH (a)-[r]->(b) RETURN [elementId(r), type(r), properties(r), "
    "elementId(a), a[$web], a[$id], elementId(b), b[$web], b[$id]]"
)
LABELS = (
    "MATCH (n) WITH labels(n) AS labels, count(n) AS nodes, sum(size(keys(n))) AS properties "
    "RETURN [labels, nodes, properties]"
)
TYPES = (
    "MATCH ()-[r]->() WITH type(r) AS type, count(r) AS relationships, sum(size(keys(r))) AS properties "
    "RETURN [type, relationships, properties]"
)

WEB_PROPERTY = "uri"
MAX_LIST_VALUES = 100
_TOLD_EVERY = 1_000  # of what is read


class PropertyGraphReader:
    """Reads a property graph into quads and, having read them, knows its fingerprint.

    Args:
        address: as `BoltAddress.read` takes it.
        watch: told the share of nodes and relationships that is read, from time to time.
        deadline: seconds to wait for a connection; twice as many for what comes next.

    Raises:
        KGUnavailable: for an address that is none; while reading, if the server cannot be asked.
    """

    def __init__(
        self, address: str, watch: Callable[[float], None] | None = None, *, deadline: float = 30.0
    ) -> None:
        self.at = BoltAddress.read(address)
        self.source = graph_url(address)
        self.inferred: dict[str, str] = {}  # it states its relations itself
        self._watch = watch
        self._server = BoltReader(self.at, self.source, secrets_in(address), deadline)
        self._size: int | None = None
        self._label_class = LabelOnce()
        self._content = 0

    @property
    def fingerprint(self) -> str:
        """A hash of the facts, in whatever order they came."""
        return hashlib.sha256(f"{self._content:x}".encode()).hexdigest()[:16]

    def close(self) -> None:
        """Let the server go."""
        self._server.close()

    def size(self) -> int:
        """Return how many nodes and relationships there are, which is asked once.

        Raises:
            KGUnavailable: if there is no node.
        """
        if self._size is None:
            self._size = self._count()
        return self._size

    def _count(self) -> int:
        answers = [[*self._server.rows(query)] for query in (COUNT_NODES, COUNT_RELATIONSHIPS)]
        match answers:
            case [[0], _]:
                raise KGUnavailable(f"{self.source} has no nodes, or none that this user may read")
            case [[int(nodes)], [int(relationships)]]:
                return nodes + relationships
        raise self._malformed("no numbers")

    def state(self) -> str:
        """Return a hash of how many nodes of each label there are, relationships of each type, properties.

        It costs a look at each, and tells what was added or removed; not a value in place of another.
        """
        counts: list[str] = []
        for query in (LABELS, TYPES):
            for row in self._server.rows(query):
                match row:
                    case [list() | str() as kind, int(n), int(properties) | float(properties)]:
                        name = kind if isinstance(kind, str) else sorted(kind)
                        counts.append(f"{name!r} {n} {properties:.0f}")
                    case _:
                        raise self._malformed("no counts")
        return hashlib.sha256("\n".join(sorted(counts)).encode()).hexdigest()

    def load(self, store: ox.Store) -> None:
        """Put the graph into a store."""
        fill_store(store, self.quads())
        if self._watch:
            self._watch(1.0)

    def quads(self) -> Iterator[ox.Quad]:
        """Go through the graph once: its nodes, then its relationships; then let the server go."""
        with closing(self._server):
            size, read = self.size(), 0
            for read, made in enumerate(self._read(), 1):
                if self._watch and not read % _TOLD_EVERY:
                    self._watch(min(0.999, read / size))
                for quad in made:
                    self._content += int.from_bytes(hashlib.sha256(str(quad).encode()).digest()[:16])
                    yield quad
            if read < (size := min(size, self._count())):
                raise KGMalformed(f"{self.source} gave {read:,} of {size:,} nodes and relationships")
        self._content %= 1 << 128

    def _read(self) -> Iterator[Iterator[ox.Quad]]:
        """Go through the quads of each node, then of each relationship."""
        function = self._id_function()
        for row in self._server.rows(NODES.replace("elementId", function)):
            match row:
                case [str() | int() as id, list(labels), dict(values)]:
                    yield self._node(str(id), labels, values)
                case _:
                    raise self._malformed("no nodes")
        keys = {"web": WEB_PROPERTY, "id": self.at.id or WEB_PROPERTY}
        for row in self._server.rows(RELATIONSHIPS.replace("elementId", function), **keys):
            match row:
                case [id, str(kind), dict(values), start, start_web, start_key, end, end_web, end_key]:
                    ends = self._iri(start, start_web, start_key), self._iri(end, end_web, end_key)
                    yield self._relationship(str(id), kind, values, *ends)
                case _:
                    raise self._malformed("no relationships")

    def _id_function(self) -> str:
        """Return the function by which this server tells nodes apart."""
        try:
            deque(self._server.rows(PROBE), maxlen=0)
        except KGSilent:
            raise
        except KGUnavailable:
            return "id"
        return "elementId"

    def _malformed(self, lacks: str) -> KGMalformed:
        return KGMalformed(f"{self.source}: its answer cannot be read: {lacks}")

    def _node(self, id: str, labels: Sequence[str], values: dict[str, Any]) -> Iterator[ox.Quad]:
        web = values.get(WEB_PROPERTY)
        iri = self._iri(id, web, values.get(self.at.id or ""))
        if _web_node(web):
            del values[WEB_PROPERTY]
        for label in sorted(labels):
            kind = mint("class", label)
            yield ox.Quad(iri, TYPE, kind)
            yield from self._label_class(kind, label)
        named = next((key for key in self.at.names if isinstance(values.get(key), str) and values[key]), None)
        if named:
            yield ox.Quad(iri, LABEL, ox.Literal(values.pop(named)))
        yield from self._values(iri, values)

    def _iri(self, id: str, web: Any, key: Any) -> ox.NamedNode:
        """Return the entity of a node, by its property of the web, or that of ``?id=``, or its id."""
        return _web_node(web) or mint("node", str(id if key is None or not self.at.id else key))

    def _relationship(
        self, id: str, kind: str, values: Mapping[str, Any], start: ox.NamedNode, end: ox.NamedNode
    ) -> Iterator[ox.Quad]:
        yield ox.Quad(start, _relation(kind), end)
        if values:
            between = ox.NamedNode(f"{BLANK_NAMESPACE}b{_ODD_IN_ID.sub('_', id)}")
            yield ox.Quad(start, _relation(f"{kind} (details)"), between)
            yield ox.Quad(between, _relation(f"{kind} (to)"), end)
            yield from self._values(between, values)

    @staticmethod
    def _values(node: ox.NamedNode, values: Mapping[str, Any]) -> Iterator[ox.Quad]:
        for key, value in values.items():
            many = value if isinstance(value, list) else [value]
            for each in many if len(many) <= MAX_LIST_VALUES else ():
                if (found := _literal(each)) is not None:
                    yield ox.Quad(node, _relation(key), found)


_relation = lru_cache(10_000)(relation_node)
_ODD_IN_ID = re.compile(r"[^A-Za-z0-9_]")


def _web_node(value: Any) -> ox.NamedNode | None:
    return web_node(value) if isinstance(value, str) else None


def _literal(value: Any) -> ox.Literal | None:
    """Return a value of a property; None for bytes and what else says nothing."""
    if value is None or isinstance(value, bytes | bytearray | list | dict):
        return None
    if (found := typed_literal(value)) is not None:
        return found
    kind = {"Date": "date", "DateTime": "dateTime", "Time": "time", "Duration": "duration"}
    name = type(value).__name__
    return literal(value.iso_format(), kind[name]) if name in kind else ox.Literal(str(value))
