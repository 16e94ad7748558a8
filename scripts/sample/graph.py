"""A graph under construction, and its canonical form on disk.

Terms are Python values: an `Iri` is a node, anything else a literal whose datatype
follows from its type. Canonical means one triple per line, lines sorted, no duplicates,
so that the same facts always give the same bytes.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import NamedTuple, TypeAlias

BASE = "https://kgqa.example/"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SKOS_ALT_LABEL = "http://www.w3.org/2004/02/skos/core#altLabel"
XSD = "http://www.w3.org/2001/XMLSchema#"


class Iri(NamedTuple):
    """A node or relation of the graph, by its full address."""

    value: str


class Year(NamedTuple):
    """A calendar year, written as xsd:gYear."""

    value: int


class Text(NamedTuple):
    """A name in a stated language."""

    value: str
    language: str


Value: TypeAlias = Iri | Year | Text | int | Decimal | date | str


def relation(name: str) -> Iri:
    """The relation with this local name.

    >>> relation("capital").value
    'https://kgqa.example/r/capital'
    """
    return Iri(f"{BASE}r/{name}")


def fold(name: str) -> str:
    """A name without case, accents and punctuation, for matching across sources.

    >>> fold("Sao Tome") == fold("São Tomé")
    True
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    return " ".join(re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c))))


def slug(name: str) -> str:
    """The readable part of an entity's address, in ASCII.

    >>> slug("São Tomé and Príncipe")
    'Sao_Tome_and_Principe'
    """
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9-]+", "_", ascii_name).strip("_-")


def decimal(number: float | str, places: int = 6) -> Decimal:
    """A decimal rounded to so many places, without trailing zeros or an exponent."""
    exact = round(Decimal(str(number)), places).normalize()
    return exact.quantize(Decimal(1)) if exact == exact.to_integral() else exact


def to_ntriples(value: Value) -> str:
    """One term in N-Triples.

    >>> to_ntriples(Year(1999))
    '"1999"^^<http://www.w3.org/2001/XMLSchema#gYear>'
    """
    match value:
        case Iri(address):
            return f"<{address}>"
        case Text(text, language):
            return f"{_quote(text)}@{language}"
        case Year(year):
            return f'"{year:04d}"^^<{XSD}gYear>'
        case str():
            return _quote(value)
        case int():
            return f'"{value}"^^<{XSD}integer>'
        case Decimal():
            return f'"{value:f}"^^<{XSD}decimal>'
        case date():
            return f'"{value.isoformat()}"^^<{XSD}date>'


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


class Graph:
    """Facts, and a register of entities by the code their source knows them by.

    An entity's address is made from its English label; the first to claim a label gets
    the plain one and later namesakes carry their code, so the order in which entities are
    added decides who is `Georgia` and who is `Georgia_US-GA`.
    """

    def __init__(self) -> None:
        """Start without facts."""
        self._lines: set[str] = set()
        self._by_code: dict[tuple[str, str], Iri] = {}
        self._addresses: set[Iri] = set()
        self._labels: dict[Iri, str] = {}

    def fact(self, subject: Iri, name: str, value: Value | None) -> None:
        """Add one fact; a value the source does not have (None, empty) adds nothing."""
        if value is not None and value != "":
            self._add(subject, relation(name), value)

    def entity(self, kind: str, code: str, label: str) -> Iri:
        """Add an entity of a class with its English label, or find it if its code is known."""
        known = self._by_code.get((kind, code))
        if known:
            return known
        address = self._free_address(slug(label) or slug(code), code)
        self._by_code[kind, code] = address
        self._add(address, Iri(RDF_TYPE), self._class(kind))
        self._labels[address] = label
        self.label(address, label, "en")
        return address

    def find(self, kind: str, code: str) -> Iri | None:
        """The entity of this class with this code, if it has been added."""
        return self._by_code.get((kind, code))

    def label(self, subject: Iri, text: str, language: str) -> None:
        """Name an entity in one language."""
        self._add(subject, Iri(RDFS_LABEL), Text(text, language))

    def alias(self, subject: Iri, text: str) -> None:
        """Add a further English or international name, unless it is the label itself."""
        if text != self._labels.get(subject):
            self._add(subject, Iri(SKOS_ALT_LABEL), Text(text, "en"))

    def mediator(self, owner: Iri, name: str, *key: object) -> Iri:
        """Hang an unnamed node on its owner; the key tells apart the nodes of one owner."""
        digest = hashlib.sha256(repr((owner.value, name, *key)).encode()).hexdigest()
        node = Iri(f"{BASE}n/x{digest[:10]}")
        self._add(owner, relation(name), node)
        return node

    def lines(self) -> Iterator[str]:
        """Every triple as one line of N-Triples, in sorted order."""
        yield from sorted(self._lines)

    def __len__(self) -> int:
        """The number of triples, names and classes included."""
        return len(self._lines)

    def _add(self, subject: Iri, predicate: Iri, value: Value) -> None:
        self._lines.add(f"{to_ntriples(subject)} {to_ntriples(predicate)} {to_ntriples(value)} .\n")

    def _class(self, kind: str) -> Iri:
        address = Iri(f"{BASE}c/{kind}")
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", kind).lower()
        self._add(address, Iri(RDFS_LABEL), Text(words, "en"))
        return address

    def _free_address(self, readable: str, code: str) -> Iri:
        for local in (readable, f"{readable}_{slug(code)}"):
            address = Iri(f"{BASE}e/{local}")
            if address not in self._addresses:
                self._addresses.add(address)
                return address
        raise ValueError(f"two entities want the address {readable}_{slug(code)}")
