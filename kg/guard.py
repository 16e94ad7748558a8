"""Lets through SPARQL that only reads, and reads nothing but this graph.

A query is parsed with rdflib before the store sees it: SELECT or ASK, without
SERVICE, FROM, FROM NAMED or update. The prefixes rdf, rdfs, owl, xsd and skos need no declaration.
"""

import re
import threading
from collections.abc import Iterator
from typing import Any

from kgqa.kg.dialect import OWL, RDF, RDFS, SKOS, XSD
from kgqa.kg.errors import KGRejected

LONGEST = 20_000
"""Characters of a query at most."""

DEEPEST = 40
"""Brackets within brackets at most: parsing time grows fast with them."""

_PREFIXES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD, "skos": SKOS}
_PROLOGUE = " ".join(f"PREFIX {prefix}: <{iri}>" for prefix, iri in _PREFIXES.items())
_FORMS = {"SelectQuery", "AskQuery"}
_FORBIDDEN = {"ServiceGraphPattern": "SERVICE", "DatasetClause": "FROM"}

parsing = threading.Lock()
"""Held while rdflib parses, which no two threads can do at once."""


def guard(query: str, rows: int) -> str:
    """Give the query as it may be sent, with a LIMIT of ``rows`` if it has none.

    The reader must still stop after ``rows`` rows: a query may set a higher limit.

    Raises:
        KGRejected: for everything else.
    """
    check_text(query)
    text = f"{_PROLOGUE}\n{query}"
    if _has_one_row(_check(text)):  # a LIMIT would do no good; Virtuoso cuts what is counted by it
        return text
    limited = f"{text}\nLIMIT {rows:d}"
    try:
        _check(limited)
    except KGRejected:
        return text
    return limited


def check_text(query: str) -> None:
    """Refuse what would take too long to parse, or not say what it seems to.

    Raises:
        KGRejected: naming which.
    """
    if len(query) > LONGEST:
        raise KGRejected(f"query longer than {LONGEST} characters")
    if re.search(r"\\[uU]", query):
        raise KGRejected("write characters themselves instead of \\u escapes")
    depth = deepest = 0
    for char in query:
        depth += (char in "({[") - (char in ")}]")
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise KGRejected(f"more than {DEEPEST} brackets within each other")


def _has_one_row(algebra: Any) -> bool:
    """Tell whether a query gives one row whatever it finds: an ASK, or numbers of all that is found."""
    if algebra.name == "AskQuery":
        return True
    node = algebra.p
    while node.name != "AggregateJoin" and "p" in node:
        node = node.p
    return bool(node.name == "AggregateJoin" and node.p.expr is None)


def _check(text: str) -> Any:
    """Give the algebra of a query that only reads."""
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    try:
        with parsing:
            tree = parseQuery(text)
            _check_tree(tree)
            return translateQuery(tree).algebra
    except KGRejected:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise KGRejected(f"not a SPARQL query that may be run: {reason or type(error).__name__}") from error


def _check_tree(tree: Any) -> None:
    form = str(getattr(tree[1], "name", ""))
    if form not in _FORMS:
        raise KGRejected("only SELECT and ASK are answered")
    for name in _names(tree[1]):
        if name in _FORBIDDEN:
            raise KGRejected(f"{_FORBIDDEN[name]} is not allowed: a query reads this graph only")


def _names(node: Any) -> Iterator[str]:
    from pyparsing import ParseResults
    from rdflib.plugins.sparql.parserutils import CompValue

    if isinstance(node, CompValue):
        yield node.name
        for value in node.values():
            yield from _names(value)
    elif isinstance(node, ParseResults | list | tuple | set):
        for value in node:
            yield from _names(value)
