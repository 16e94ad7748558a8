"""Parses SPARQL as question sets write it, which rdflib alone would refuse in places."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kgqa.kg.dialects import FB, OWL, PROP, RDF, RDFS, SCHEMA_ORG, SKOS, WD, WDT, XSD
from kgqa.kg.sparql.guard import RDFLIB_LOCK, check_pattern_count, check_query_text

PREFIXES = {
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "skos": SKOS,
    "schema": SCHEMA_ORG,
    "ns": FB,
    "fb": FB,
    "wd": WD,
    "wdt": WDT,
    "p": PROP,
    "ps": f"{PROP}statement/",
    "psv": f"{PROP}statement/value/",
    "pq": f"{PROP}qualifier/",
    "pqv": f"{PROP}qualifier/value/",
    "pr": f"{PROP}reference/",
    "wikibase": "http://wikiba.se/ontology#",
    "bd": "http://www.bigdata.com/rdf#",
}
"""Prefixes that a query need not declare: Wikidata's service knows its own, and so does Virtuoso."""

_NONSTANDARD = re.compile(
    r"""(?P<name> (?<![\w.-]) [\w-]* : [\w.-]* \w ) \s+ (?P<times> [*+?] ) (?= \s )
      | (?P<kept> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | <[^<>\s]*> | \#[^\n]* )
      | (?P<word> \b(?:OR|AND)\b )
      | \s+ (?P<typed> \^\^ ) \s*
      | (?<=["']) \s+ (?P<tag> @ )""",
    re.VERBOSE,
)

_USED_PREFIX = re.compile(r"(?<![\w.-])[a-z]+(?=:)")


def parse_query(query: str) -> tuple[Any, Any]:
    """Return the tree of a query and its algebra, both rdflib's.

    Raises:
        KGRejected: if the query is too long or too deep to be read.
        Exception: whatever rdflib and pyparsing raise where it is no SPARQL.
    """
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    check_query_text(query)
    with RDFLIB_LOCK, mute_logger("rdflib.term"):
        tree = parseQuery(normalise_query(query))
        check_pattern_count(tree)
        return tree[1], translateQuery(tree).algebra


def normalise_query(query: str) -> str:
    r"""Write a query as rdflib reads it.

    Prefixes that it takes for granted are declared. Virtuoso has OR and AND; where a
    query was cut into words, rdflib minds the space before ``^^``, ``@``, ``*`` and ``+``.

    >>> normalise_query('FILTER ( ?a OR ?b = "or" @en ) ?x a:b * ?y')
    '\nFILTER ( ?a || ?b = "or"@en ) ?x a:b* ?y'
    """
    used = sorted(PREFIXES.keys() & set(_USED_PREFIX.findall(query)))
    prologue = "".join(f"PREFIX {prefix}: <{PREFIXES[prefix]}> " for prefix in used)
    return f"{prologue}\n{_NONSTANDARD.sub(_standard_form, query)}"


def _standard_form(found: re.Match[str]) -> str:
    if found["word"]:
        return {"OR": "||", "AND": "&&"}[found["word"]]
    return "".join(part for part in found.groups() if part)


@contextmanager
def mute_logger(logger: str) -> Iterator[None]:
    """Keep a library from logging the values it cannot convert, with their tracebacks."""
    noisy = logging.getLogger(logger)
    before, noisy.disabled = noisy.disabled, True
    try:
        yield
    finally:
        noisy.disabled = before
