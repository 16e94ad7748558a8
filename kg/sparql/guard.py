"""Lets through SPARQL that only reads, and reads nothing but this graph.

A query is parsed with rdflib before the store sees it: SELECT or ASK, without
SERVICE, FROM, FROM NAMED or update. The prefixes rdf, rdfs, owl, xsd and skos need no declaration.
"""

import logging
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import Any

from kgqa.kg.dialects import OWL, RDF, RDFS, SKOS, XSD
from kgqa.kg.errors import KGRejected
from kgqa.kg.sparql.derived import stated_instead
from kgqa.locks import ProcessLock

MAX_QUERY_CHARS = 20_000
MAX_QUERY_TOKENS = 3_000  # words and signs of a query at most: parsing takes some 2 ms for each
MAX_TRIPLE_PATTERNS = 200  # triple patterns of a query at most: rdflib's time grows with their square
MAX_BRACKET_DEPTH = 40  # brackets within brackets at most: parsing time grows fast with them

_PREFIXES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD, "skos": SKOS}
_PROLOGUE = " ".join(f"PREFIX {prefix}: <{iri}>" for prefix, iri in _PREFIXES.items())
_FORMS = {"SelectQuery", "AskQuery"}
_VIRTUOSO_PREFIXES = ("bif:", "sql:")  # how Virtuoso's own functions and predicates begin

_TOKEN = re.compile(
    r"""(?: "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' ) (?: \^\^<[^<>\s]*> | @[\w-]+ )?
      | <[^<>\s]*> | [\w:.?$-]+ | [^\s\w]""",
    re.VERBOSE,
)

_LIMIT_OR_VALUES = re.compile(r"\b(?:limit|values)\b", re.IGNORECASE)  # what no LIMIT may come after

_FORBIDDEN = {"ServiceGraphPattern": "SERVICE", "DatasetClause": "FROM"}

_OPAQUE = r"""
    \"{3} [\s\S]*? \"{3} | '{3} [\s\S]*? '{3} | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
  | <[^<>\s]*> | \#[^\n]*"""
"""A string, an IRI or a comment, in which nothing is a name or a declaration."""

_UNTAKEN = re.compile(
    rf"""(?<![\w.?$:-]) (?P<prefix> [\w.-]* ) :
        (?P<local> [\w.%:-]* \\. (?: (?: [\w.%:-] | \\. )* (?: [\w%:-] | \\. ) )?
        | [\w-]+ (?: \.[\w-]+ ){{2,}} (?! [\w.%:\\-]* [\w%:\\-] ) )
      | {_OPAQUE}""",
    re.VERBOSE,
)
_DECLARED = re.compile(
    rf"\bPREFIX\s+(?P<prefix>[\w.-]*):\s*<(?P<iri>[^<>\s]*)> | {_OPAQUE}",
    re.VERBOSE | re.IGNORECASE,
)

RDFLIB_LOCK = ProcessLock()  # held while rdflib parses, which no two threads can do at once


@lru_cache(256)  # what is drafted is run more than once
def guard_query(query: str, rows: int) -> str:
    """Return the query as it may be sent, names whole, with a LIMIT of ``rows`` if it has none.

    The reader must still stop after ``rows`` rows: a query may set a higher limit.

    Raises:
        KGRejected: for everything else.
    """
    check_query_text(query)
    text = with_whole_names(f"{_PROLOGUE}\n{normalise_line_breaks(query)}")
    limited = f"{text}\nLIMIT {rows:d}"
    try:
        algebra = _check_query(limited)
    except KGRejected:
        if not _LIMIT_OR_VALUES.search(query):
            raise
        _check_query(text)
        return text
    return text if _has_one_row(algebra) else limited  # Virtuoso cuts what is counted by a LIMIT


def with_whole_names(query: str) -> str:
    r"""Return a query with full IRIs in place of some prefixed names.

    That is of those with escapes, which rdflib would keep, and with dots, of which Oxigraph takes one.

    >>> with_whole_names(r"PREFIX m: <http://m/> ASK { m:Kiss_\(band\) m:member m:Eric }")
    'PREFIX m: <http://m/> ASK { <http://m/Kiss_(band)> m:member m:Eric }'
    >>> with_whole_names("PREFIX m: <http://m/> ASK { m:m.0x7 m:people.person.parents ?x }")
    'PREFIX m: <http://m/> ASK { m:m.0x7 <http://m/people.person.parents> ?x }'
    """
    declared = {found["prefix"]: found["iri"] for found in _DECLARED.finditer(query) if found["iri"]}

    def write(found: re.Match[str]) -> str:
        if found["local"] is None or found["prefix"] not in declared:
            return found[0]
        local = re.sub(r"\\(.)", r"\1", found["local"])
        return f"<{declared[found['prefix']]}{local}>"

    return _UNTAKEN.sub(write, query)


def normalise_line_breaks(query: str) -> str:
    """Write every line break as a line feed: to rdflib nothing else ends a comment, to servers a CR does."""
    return re.sub(r"\r\n?", "\n", query)


def check_query_text(query: str) -> None:
    """Refuse what would take too long to parse, or not say what it seems to.

    Raises:
        KGRejected: naming which.
    """
    if len(query) > MAX_QUERY_CHARS:
        raise KGRejected(f"query longer than {MAX_QUERY_CHARS} characters")
    if re.search(r"\\[uU]", query):
        raise KGRejected("write characters themselves instead of \\u escapes")
    if next(islice(_TOKEN.finditer(query), MAX_QUERY_TOKENS, None), None):
        raise KGRejected(f"query of more than {MAX_QUERY_TOKENS} words and signs")
    depth = deepest = 0
    for char in query:
        depth += (char in "({[") - (char in ")}]")
        deepest = max(deepest, depth)
    if deepest > MAX_BRACKET_DEPTH:
        raise KGRejected(f"more than {MAX_BRACKET_DEPTH} brackets within each other")


def _has_one_row(algebra: Any) -> bool:
    """Return whether a query gives one row whatever it finds: an ASK, or numbers of all that is found."""
    if algebra.name == "AskQuery":
        return True
    node = algebra.p
    while node.name != "AggregateJoin" and "p" in node:
        node = node.p
    return bool(node.name == "AggregateJoin" and node.p.expr is None)


def _check_query(text: str) -> Any:
    """Return the algebra of a query that only reads."""
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    with RDFLIB_LOCK, mute_logger("rdflib.term"), rejecting("not a SPARQL query that may be run"):
        tree = parseQuery(text)
        check_pattern_count(tree)
        _check_tree(tree)
        return translateQuery(tree).algebra


@contextmanager
def rejecting(why: str) -> Iterator[None]:
    """Turn whatever rdflib and pyparsing raise into a KGRejected of one line."""
    try:
        yield
    except KGRejected:
        raise
    except RecursionError:
        raise KGRejected("the query is nested too deeply") from None
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise KGRejected(f"{why}: {reason or type(error).__name__}") from error


@contextmanager
def mute_logger(logger: str) -> Iterator[None]:
    """Keep a library from logging the values it cannot convert: rdflib knows no date before year 1.

    What other threads log, the host application's too, is not touched.
    """
    noisy, thread = logging.getLogger(logger), threading.get_ident()

    def is_another(record: logging.LogRecord) -> bool:
        return record.thread != thread

    noisy.addFilter(is_another)
    try:
        yield
    finally:
        noisy.removeFilter(is_another)


def check_pattern_count(tree: Any) -> None:
    """Refuse a query as it was parsed whose algebra would take too long to make.

    Raises:
        KGRejected: if it has more than `MAX_TRIPLE_PATTERNS`.
    """
    blocks = (node for node in walk_tree(tree[1]) if getattr(node, "name", "") == "TriplesBlock")
    if sum(len(part) for block in blocks for part in block.triples) > 3 * MAX_TRIPLE_PATTERNS:
        raise KGRejected(f"query of more than {MAX_TRIPLE_PATTERNS} triple patterns")


def _check_tree(tree: Any) -> None:
    """Look through a query as it was parsed; its algebra lacks what is filtered within EXISTS."""
    form = str(getattr(tree[1], "name", ""))
    if form not in _FORMS:
        raise KGRejected("only SELECT and ASK are answered")
    spaces = _declared_prefixes(tree[0])
    for node in walk_tree(tree[1]):
        name = getattr(node, "name", "")
        if name in _FORBIDDEN:
            raise KGRejected(f"{_FORBIDDEN[name]} is not allowed: a query reads this graph only")
        iri = _resolve_iri(node.iri if name == "Function" else node, spaces)
        if written := stated_instead(iri):
            raise KGRejected(f"the graph itself does not state <{iri}>; for ?x and ?y write: {written}")
        if iri.lower().startswith(_VIRTUOSO_PREFIXES) or (name == "Function" and not iri.startswith(XSD)):
            raise KGRejected(f"<{iri}> is not allowed: only what is SPARQL's own is, and the graph's")


def _declared_prefixes(prologue: Any) -> dict[str, str]:
    bases = [str(declared.iri) for declared in prologue if declared.name == "Base"]
    if not all(base.startswith(("http://", "https://")) for base in bases):
        raise KGRejected("BASE has to be an address that begins with http")
    return {d.prefix or "": str(d.iri) for d in prologue if d.name == "PrefixDecl"}


def _resolve_iri(node: Any, spaces: Mapping[str, str]) -> str:
    """Return the IRI that a part of a query is, whole; empty for any other part."""
    from rdflib import URIRef

    if isinstance(node, URIRef):
        return str(node)
    if getattr(node, "name", "") != "pname":
        return ""
    if (node.prefix or "") not in spaces:
        raise KGRejected(f"the prefix {node.prefix or ''}: is not declared")
    return spaces[node.prefix or ""] + (node.localname or "")


def walk_tree(node: Any) -> Iterator[Any]:
    """Go through the parts of a parsed query."""
    from pyparsing import ParseResults

    yield node
    parts: Iterable[Any] = ()
    if isinstance(node, dict):
        parts = node.values()
    elif isinstance(node, ParseResults | list | tuple | set):
        parts = node
    for part in parts:
        yield from walk_tree(part)
