"""How IRIs are written in a query and in what is said of it: by prefixes that a graph is given.

>>> names = Names.of(["http://x/shop-vocab/hasPart", "http://x/shop-vocab/Tool", "http://x/items/saw.1"])
>>> dict(names.prefixes)["sv"], names.write("http://x/shop-vocab/hasPart"), names.write("http://x/items/saw.1")
('http://x/shop-vocab/', 'sv:hasPart', '<http://x/items/saw.1>')
>>> print(names.declare("SELECT ?x { ?x a sv:Tool }"))
PREFIX sv: <http://x/shop-vocab/>
SELECT ?x { ?x a sv:Tool }
>>> names.declare("SELECT (SUM(?a) / COUNT(?b) AS ?c) { ?a (<p>|<q>)/<r> ?b FILTER(?a / 2 > ?b) }")
'SELECT (SUM(?a) * 1.0 / COUNT(?b) AS ?c) { ?a (<p>|<q>)/<r> ?b FILTER(?a * 1.0 / 2 > ?b) }'
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kgqa.kg.dialects import DCTERMS, FOAF, OWL, RDF, RDFS, SCHEMA_ORG, SCHEMA_ORG_HTTPS, SKOS, VCARD, XSD
from kgqa.kg.drafts.reading import shown_name, write_path
from kgqa.kg.drafts.schema import NUMERIC
from kgqa.kg.sparql.guard import with_whole_names
from kgqa.kg.sparql.nodes import Node, is_open
from kgqa.kg.sparql.parsing import PREFIXES
from kgqa.kg.terms import local_name, one_line
from kgqa.kg.text import in_words

MAX_PREFIXES = 12
MAX_NODE_CHARS = 80

_WELL_KNOWN = {
    namespace: prefix
    for prefix, namespace in {
        **PREFIXES,
        **{"foaf": FOAF, "schema": SCHEMA_ORG, "dct": DCTERMS, "vcard": VCARD, "sdo": SCHEMA_ORG_HTTPS},
        **{"geo": "http://www.w3.org/2003/01/geo/wgs84_pos#", "dbr": "http://dbpedia.org/resource/"},
        "dbo": "http://dbpedia.org/ontology/",
    }.items()
}
_ALWAYS = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD, "skos": SKOS}
_LOCAL = re.compile(r"[A-Za-z_](?:[\w-]*\w)?", re.ASCII)
_DECLARED = re.compile(r"\bPREFIX\s+([\w.-]*):", re.IGNORECASE)
_DIVIDED = re.compile(
    r"(?:[?$]\w+|(?<![\w:.-])\d[\d.]*|\))(?=\s*/[\s(]*(?:[?$]|\d|(?:[A-Za-z][\w-]*:)?[A-Za-z]\w*\s*\())"
)
_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|<[^<>\s]*>|#[^\n]*")


@dataclass(frozen=True)
class Names:
    """The prefixes of a graph, each with the beginning of IRIs that it stands for."""

    prefixes: Mapping[str, str]

    @classmethod
    def of(cls, ids: Iterable[str]) -> "Names":
        """Return prefixes for the commonest beginnings of some IRIs."""
        counts = Counter(namespace for id in ids if (namespace := _namespace(id)))
        made: dict[str, str] = {}
        for namespace in sorted(counts, key=lambda each: (-counts[each], each))[:MAX_PREFIXES]:
            wanted = _WELL_KNOWN.get(namespace) or _initials(namespace)
            free = (f"{wanted}{at or ''}" for at in range(len(counts) + 1))
            name = next(
                each for each in free if each not in made and _ALWAYS.get(each, namespace) == namespace
            )
            made[name] = namespace
        return cls(made)

    def write(self, id: str) -> str:
        """Return an IRI as a query writes it, short where a prefix stands for its beginning."""
        for prefix, namespace in (*self.prefixes.items(), *_ALWAYS.items()):
            local = id.removeprefix(namespace)
            if local != id and _LOCAL.fullmatch(local):
                return f"{prefix}:{local}"
        return f"<{id}>"

    def words(self, id: str) -> str:
        """Return the local part of an IRI in words, to compare it with others."""
        return in_words(local_name(id)).casefold()

    def node(self, node: Node) -> str:
        """Return a node of a pattern, or a path, as a query writes it."""
        from rdflib import BNode, URIRef
        from rdflib.paths import Path

        if isinstance(node, BNode):
            return "[]"
        if is_open(node):
            return shown_name(node)
        if isinstance(node, URIRef):
            return "a" if str(node) == f"{RDF}type" else self.write(str(node))
        if isinstance(node, Path):
            return re.sub(r"<([^<>]*)>", lambda found: self.write(found[1]), write_path(node)) or "…"
        plain = str(node.datatype or "") in NUMERIC
        return one_line(str(node) if plain else node.n3(), MAX_NODE_CHARS)

    def declare(self, query: str) -> str:
        """Return a query with a declaration of each prefix that it uses and does not declare.

        Names with escapes are written whole, which not every client reads, and what is divided is multiplied
        by 1.0: Virtuoso divides integers to integers.
        """
        bare = blank_texts(query)
        declared = {*_DECLARED.findall(bare)}
        known = {**_ALWAYS, **self.prefixes}
        used = [each for each in known if each not in declared and re.search(rf"(?<![\w.?$-]){each}:", bare)]
        masked = _QUOTED.sub(lambda found: "_" * len(found[0]), query)
        for each in reversed([*_DIVIDED.finditer(masked)]):
            query = f"{query[: each.end()]} * 1.0{query[each.end() :]}"
        return with_whole_names("".join(f"PREFIX {each}: <{known[each]}>\n" for each in used) + query)


def blank_texts(query: str) -> str:
    """Return a query with spaces in place of its strings, full IRIs and comments.

    >>> blank_texts("SELECT ?x { ?x <a> 'b' }")
    'SELECT ?x { ?x         }'
    """
    return _QUOTED.sub(lambda found: " " * len(found[0]), query)


def _namespace(id: str) -> str:
    local = local_name(id)
    return id.removesuffix(local) if _LOCAL.fullmatch(local) and id != local else ""


def _initials(namespace: str) -> str:
    """Return a short name for the beginning of IRIs: the initials of its last part, or its only word."""
    last = local_name(namespace)
    words = re.findall(r"[a-z]+", last.casefold())
    return "".join(word[0] for word in words) if len(words) > 1 else (words or ["ns"])[0][:8]
