"""Parses SPARQL as question sets write it, which rdflib alone would refuse in places."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from kgqa.kg.dialects import FB, OWL, PROP, RDF, RDFS, SCHEMA_ORG, SKOS, WD, WDT, XSD
from kgqa.kg.sparql.guard import (
    RDFLIB_LOCK,
    check_pattern_count,
    check_query_text,
    mute_logger,
    rejecting,
    walk_tree,
    with_whole_names,
)
from kgqa.kg.sparql.nodes import rebuild

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
      | (?P<word> (?<![\w:?$.-]) (?:OR|AND) (?![\w:.-]) )
      | \s+ (?P<typed> \^\^ ) \s*
      | (?<=["']) \s+ (?P<tag> @ )""",
    re.VERBOSE,
)

_USED_PREFIX = re.compile(r"(?<![\w.-])[a-z]+(?=:)")


_NAME = re.compile(
    r"""(?P<quote> ["'] ) (?P<string> [^"'\\\n]+ ) (?P=quote)
      | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
      | (?P<head> <https?://[^<>\s]*[/#] | (?<![\w.:?$@-]) [A-Za-z]*: ) (?P<name> \w (?: [\w.-]*[\w-] )? )
      | <[^<>\s]*> | (?<!\w)\#[^\n]*""",
    re.VERBOSE | re.ASCII,
)
_MASK = re.compile(r"Mask(\d+)_")

MAX_KEPT_SHAPES = 512  # queries without their names whose algebra is kept: parsing one takes 15 ms


def parse_query(query: str) -> tuple[bool, Any]:
    """Return whether a query names what it selects, and its algebra, which is rdflib's.

    Queries that differ only in names and strings are parsed once: the grammar does not look into these,
    and they are put back into the algebra. The algebra may be another query's, too: it is only read.

    Raises:
        KGRejected: if the query is no SPARQL, or too long or too deep to be read.
    """
    check_query_text(query)
    normal = normalise_query(query)
    names: list[str] = []

    def mask(found: re.Match[str]) -> str:
        if not (name := found["name"] or found["string"]):
            return found[0]
        masked = f"Mask{len(names)}_"
        names.append(name)
        return f"{found['head']}{masked}" if found["name"] else f"{found['quote']}{masked}{found['quote']}"

    shape = normal if _MASK.search(normal) else _NAME.sub(mask, normal)
    with RDFLIB_LOCK, mute_logger("rdflib.term"), rejecting("not a SPARQL query"):
        try:
            has_columns, algebra = _parse_shape(shape)
        except Exception:
            return _parse_shape(normal)  # its error has to tell of the query as it is
        return has_columns, _put_names_back(algebra, names) if names else algebra


@lru_cache(MAX_KEPT_SHAPES)
def _parse_shape(query: str) -> tuple[bool, Any]:
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    tree = parseQuery(query)
    check_pattern_count(tree)
    for part in walk_tree(tree[1]):  # what EXISTS holds is left as it was parsed, but for its filters
        if getattr(part, "name", "") == "GroupGraphPatternSub":
            part["filtered"] = any(each.name == "Filter" for each in part.part or ())
    return tree[1].projection is not None, translateQuery(tree).algebra


def _put_names_back(node: Any, names: Sequence[str]) -> Any:
    """Return a copy of a part of an algebra with the names in place of their masks."""
    from rdflib import Literal, URIRef

    def put_back(part: Any) -> Any:
        if isinstance(part, URIRef):
            return URIRef(_MASK.sub(lambda found: names[int(found[1])], part))
        if isinstance(part, Literal) and _MASK.search(part.n3()):
            # of a literal, as the parser makes it: of a str, a date would be written as a date and time
            lexical = Literal(_MASK.sub(lambda found: names[int(found[1])], part))
            return Literal(lexical, lang=part.language, datatype=part.datatype and put_back(part.datatype))
        return part

    return rebuild(node, put_back)


def normalise_query(query: str) -> str:
    r"""Write a query as rdflib reads it.

    Prefixes that it takes for granted are declared, and names with escapes are whole. Virtuoso has OR and
    AND; where a query was cut into words, rdflib minds the space before ``^^``, ``@``, ``*`` and ``+``.

    >>> normalise_query('FILTER ( ?a OR ?b = "or" @en ) ?x a:b * ?y')
    '\nFILTER ( ?a || ?b = "or"@en ) ?x a:b* ?y'
    """
    used = sorted(PREFIXES.keys() & set(_USED_PREFIX.findall(query)))
    prologue = "".join(f"PREFIX {prefix}: <{PREFIXES[prefix]}> " for prefix in used)
    return f"{prologue}\n{_NONSTANDARD.sub(_standard_form, with_whole_names(query))}"


def _standard_form(found: re.Match[str]) -> str:
    if found["word"]:
        return {"OR": "||", "AND": "&&"}[found["word"]]
    return "".join(part for part in found.groups() if part)
