"""Makes IRIs for what has none: names in tables, rows, and what is in a property graph.

All of them begin with `NAMESPACE`, which nothing else has, and end with the name, percent-encoded:

>>> mint("name", "Ada Lovelace"), mint("row", "films", "7"), relation_node("born in")
(<NamedNode value=https://kgqa.example/name/Ada%20Lovelace>, \
<NamedNode value=https://kgqa.example/row/films/7>, <NamedNode value=https://kgqa.example/relation/born_in>)
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from urllib.parse import quote

import pyoxigraph as ox

from kgqa.kg.dialects import RDF, RDFS, SKOS, XSD
from kgqa.kg.terms import is_iri

NAMESPACE = "https://kgqa.example/"
LABEL, ALIAS = ox.NamedNode(f"{RDFS}label"), ox.NamedNode(f"{SKOS}altLabel")
TYPE = ox.NamedNode(f"{RDF}type")

MAX_NAME_CHARS = 1_000  # of what an IRI is made from

Node = ox.NamedNode | ox.BlankNode


def mint(kind: str, *path: str) -> ox.NamedNode:
    """Return the node of a kind: "name", "row" of a table by its key, "node" of a property graph, "class"."""
    return ox.NamedNode(NAMESPACE + "/".join((kind, *(quote(part, safe="") for part in path))))


def relation_node(name: str) -> ox.NamedNode:
    """Return a relation by its name, which it is shown by: with ``_`` for space, as in RDF, and letters kept.

    >>> relation_node("größer/so groß").value
    'https://kgqa.example/relation/größer%2Fso_groß'
    """
    local = _ODD.sub(lambda found: quote(found[0], safe=""), "_".join(name.split()))
    return ox.NamedNode(f"{NAMESPACE}relation/{local}")


_ODD = re.compile(r"[^\w.~!$&'()*+,;=:@-]")  # what does not stand in an IRI as it is


def web_node(text: str) -> ox.NamedNode | None:
    """Return the node of an IRI on the web; None for any other text."""
    return ox.NamedNode(text) if re.match("https?://.", text) and is_iri(text) else None


def literal(text: str, kind: str = "string") -> ox.Literal:
    """Return a value of an XSD datatype."""
    return ox.Literal(text) if kind == "string" else ox.Literal(text, datatype=ox.NamedNode(XSD + kind))


def typed_literal(value: object) -> ox.Literal | None:
    """Return the literal of a typed value; None for one without a datatype, such as a list.

    >>> typed_literal(1978), typed_literal(True).datatype.value[-7:]
    (<Literal value=1978 datatype=<NamedNode value=http://www.w3.org/2001/XMLSchema#integer>>, 'boolean')
    """
    if isinstance(value, bool):
        return literal(str(value).lower(), "boolean")
    if isinstance(value, Decimal) and not value.is_finite():
        value = float(value)  # no decimal of XML Schema
    for kind, datatype in _DATATYPES.items():
        if isinstance(value, kind):
            if isinstance(value, date | time):
                return literal(value.isoformat(), datatype)
            text = f"{value:f}" if isinstance(value, Decimal) else str(value)
            return literal(_XSD_FLOATS.get(text, text), datatype)
    return ox.Literal(value) if isinstance(value, str) else None


_DATATYPES: dict[type, str] = {
    int: "integer",
    float: "double",
    Decimal: "decimal",
    datetime: "dateTime",
    date: "date",
    time: "time",
}
_XSD_FLOATS = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}


VALUE_PATTERNS = {
    "integer": re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})"),
    "decimal": re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,18}"),
    "double": re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?[eE][+-]?[0-9]{1,3}"),
    "date": re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"),
    "dateTime": re.compile(
        r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
        r"(?:\.[0-9]{1,9})?(?:Z|[+-][01][0-9]:[0-5][0-9])?"
    ),
    "boolean": re.compile(r"true|false|True|False|TRUE|FALSE"),
}
"""How texts of values are written, by datatype. A number that begins with 0 may be a code, and is text."""


def value_kind(text: str) -> str | None:
    """Return the datatype that a text is written in; None for any other text.

    >>> [value_kind(each) for each in ("1978", "007", "1.5", "1999-12-31", "True", "Ada", "1999-13-01")]
    ['integer', None, 'decimal', 'date', 'boolean', None, None]
    """
    return next((kind for kind, pattern in VALUE_PATTERNS.items() if pattern.fullmatch(text)), None)


def value_literal(text: str, kind: str) -> ox.Literal:
    """Return the value of a text that is written in a datatype."""
    if kind == "boolean":
        text = text.lower()
    return literal(text.replace(" ", "T") if kind == "dateTime" else text, kind)


class LabelOnce:
    """Names entities, each but once as far as it remembers: the store takes a triple twice as well."""

    MAX_REMEMBERED = 1 << 20

    def __init__(self) -> None:
        self._named: set[tuple[str, str]] = set()

    def __call__(self, node: Node, name: str, by: ox.NamedNode = LABEL) -> Iterator[ox.Quad]:
        """Yield what names an entity, if that was not said of late."""
        if (node.value, name) in self._named:
            return
        if len(self._named) >= self.MAX_REMEMBERED:
            self._named.clear()
        self._named.add((node.value, name))
        yield ox.Quad(node, by, ox.Literal(name))
