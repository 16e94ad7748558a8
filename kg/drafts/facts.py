"""The facts behind the first rows of a drafted query: its patterns, filled in."""

import re
from collections.abc import Mapping, Sequence

from kgqa.kg.drafts.names import blank_texts
from kgqa.kg.drafts.reading import Pattern, read_draft
from kgqa.kg.sparql.nodes import Node, is_constant, is_open, is_variable, to_term
from kgqa.kg.sparql.patterns import serialise, write_iri
from kgqa.kg.terms import Entity, Term, Triple, is_blank, is_iri

_SELECT = re.compile(r"\b(?:SELECT|ASK)\b(?!\s*:)", re.IGNORECASE)


def facts_query(query: str, rows: Sequence[Mapping[str, Term | None]], most: int) -> str | None:
    """Return a query for what the required patterns of another are in some of its rows.

    None where it has no such pattern, or no body that can be found.

    >>> query = "SELECT ?x { ?x <http://x/by> ?m FILTER(?m != <http://x/b>) } LIMIT 9"
    >>> facts_query(query, [{"x": Entity("http://x/a")}], 5)
    'SELECT DISTINCT ?m ?x WHERE { ?x <http://x/by> ?m FILTER(?m != <http://x/b>)  \
VALUES (?x) { (<http://x/a>) } } LIMIT 5'

    Raises:
        KGRejected: if the query is no SPARQL, or too long or too deep to be read.
    """
    patterns = _patterns(query)
    variables = sorted({str(node) for each in patterns for node in each.nodes if is_variable(node)})
    bare = blank_texts(query)
    start = _SELECT.search(bare)
    opened = bare.find("{", start.end()) if start else -1
    if not variables or not start or opened < 0 or (closed := _closing(bare, opened)) is None:
        return None
    shown = [name for name in variables if rows and name in rows[0]]
    values = [
        [None if term is None or is_blank(term) else term for term in (row[name] for name in shown)]
        for row in rows
    ]
    bound = ""
    if shown:
        written = " ".join(f"({' '.join(map(_write, row))})" for row in values)
        bound = f" VALUES ({' '.join(f'?{name}' for name in shown)}) {{ {written} }}"
    selected = " ".join(f"?{name}" for name in variables)
    body = query[opened + 1 : closed]
    return f"{query[: start.start()]}SELECT DISTINCT {selected} WHERE {{{body}{bound} }} LIMIT {most:d}"


def read_facts(query: str, rows: Sequence[Mapping[str, Term | None]]) -> list[Triple]:
    """Return the facts that patterns of a query are in rows of `facts_query`, each once."""
    found: dict[Triple, None] = {}
    patterns = _patterns(query)
    for row in rows:
        for each in patterns:
            start, end = (_filled(node, row) for node in (each.start, each.end))
            if isinstance(start, Entity) and end is not None and is_iri(str(each.relation)):
                found[Triple(start, str(each.relation), end)] = None
    return [*found]


def _patterns(query: str) -> list[Pattern]:
    """Return the required patterns of one relation each, but for those of an inner SELECT."""
    draft = read_draft(query)
    return [
        each
        for each in draft.required
        if each.relation is not None
        and not is_open(each.relation)
        and all(is_variable(node) or not is_open(node) for node in (each.start, each.end))
        and not any("·" in str(node) for node in each.nodes if is_open(node))
    ]


def _filled(node: Node, row: Mapping[str, Term | None]) -> Term | None:
    if not is_constant(node):
        return row.get(str(node))
    term = to_term(node)
    return None if isinstance(term, Entity) and not is_iri(term.id) else term


def _write(term: Term | None) -> str:
    if term is None:
        return "UNDEF"
    return write_iri(term.id) if isinstance(term, Entity) else serialise(term)


def _closing(text: str, opened: int) -> int | None:
    depth = 0
    for at in range(opened, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at
    return None
