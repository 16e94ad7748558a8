"""Queries made of a draft: why it gives nothing, what its LIMIT cuts, which facts are behind its rows."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kgqa.kg.drafts.names import blank_texts
from kgqa.kg.drafts.reading import Draft, Pattern, read_draft, write_path
from kgqa.kg.pages import Table
from kgqa.kg.sparql.nodes import Node, is_constant, is_open, is_variable, to_term
from kgqa.kg.sparql.patterns import serialise, write_iri
from kgqa.kg.terms import Entity, Term, Triple, is_blank, is_iri

MAX_QUESTIONS = 8  # queries by which the empty part of a query is found at most
Ask = Callable[[str], Awaitable[bool]]  # runs an ASK


async def find_empty(query: str, ask: Ask) -> list[Pattern]:
    """Return the smallest part of the required patterns of a query that is empty, as far as was asked.

    None where all of them together have rows: then what tests or joins them leaves none.

    Raises:
        KGRejected: if the query cannot be read; and what ``ask`` raises.
    """
    draft = read_draft(query)
    patterns = _in_order([each for each in draft.required if write_path(each.path)])
    left = MAX_QUESTIONS

    async def is_empty(some: Sequence[Pattern]) -> bool:
        nonlocal left
        left -= 1
        return not await ask(_write_ask(some, draft))

    if not patterns or not await is_empty(patterns):
        return []
    low, high = 0, len(patterns)  # so many of the first patterns have rows, and have none
    while high - low > 1 and left > 0:
        middle = (low + high) // 2
        low, high = (low, middle) if await is_empty(patterns[:middle]) else (middle, high)
    kept, others = patterns[high - 1 : high], patterns[: high - 1]
    while others and left > 0:
        first, *others = others
        if not await is_empty([*others, *kept]):
            kept = [first, *kept]
    return [*others, *kept]


async def fits_instead(query: str, relation: str, instead: str, ask: Ask) -> bool:
    """Return whether the required patterns of a query have rows with another relation in place of one.

    Raises:
        KGRejected: if the query cannot be read; and what ``ask`` raises.
    """
    from rdflib import URIRef

    draft, other = read_draft(query), URIRef(instead)
    patterns = [
        replace(each, relation=other, path=other) if str(each.relation) == relation else each
        for each in draft.required
        if write_path(each.path)
    ]
    return bool(patterns) and await ask(_write_ask(_in_order(patterns), draft))


def _write_ask(patterns: Sequence[Pattern], draft: Draft) -> str:
    nodes = {node for each in patterns for node in each.nodes}
    parts = []
    for variable, values in draft.values.items():
        if variable in nodes:
            written = " ".join("UNDEF" if value == "UNDEF" else value.n3() for value in values)
            parts.append(f"VALUES {_write_end(variable)} {{ {written} }}")
    parts += [
        f"{_write_end(each.start)} {write_path(each.path)} {_write_end(each.end)} ." for each in patterns
    ]
    return f"ASK {{ {' '.join(parts)} }}"


def _write_end(node: object) -> str:
    """Write a node; the mark of a variable of an inner SELECT is none that SPARQL has."""
    written: str = node.n3()  # type: ignore[attr-defined]
    return written.replace("·", "__") if is_open(node) else written


def _in_order(patterns: Sequence[Pattern]) -> list[Pattern]:
    """Return patterns so that each is joined with those before it, as far as any is."""
    ordered: list[Pattern] = []
    left, nodes = [*patterns], set[object]()
    while left:
        joined = (each for each in left if not nodes.isdisjoint(each.nodes))
        ordered.append(each := next(joined, left[0]))
        left.remove(each)
        nodes |= {node for node in each.nodes if is_open(node)}
    return ordered


MAX_ROWS_COMPARED = 1_000  # rows up to a limit that are compared at most

_SELECT = re.compile(r"\bSELECT\b(?!\s*:)(?:\s+(?:DISTINCT|REDUCED)\b)?", re.IGNORECASE)
_SLICE = re.compile(r"(?:\b(?:LIMIT|OFFSET)\s+\d+\s*)+$", re.IGNORECASE)
_ORDER = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)
_DIRECTION = re.compile(r"(?:ASC|DESC)(?=\s*\()", re.IGNORECASE)
_KEY = "orderedBy"


@dataclass(frozen=True, slots=True)
class CutQuery:
    """A query for all rows up to the one after a limit, and the columns that they are ordered by.

    Of one that ``is_distinct`` but for these columns, the first row counts of those that are else the same.
    """

    text: str
    keys: tuple[str, ...]
    first: int
    last: int
    is_distinct: bool = False

    def is_clear(self, table: Table) -> bool:
        """Return whether no row that is left out has the same keys as one that is not."""
        shown = [at for at, column in enumerate(table.columns) if not column.startswith(_KEY)]
        first: dict[object, Sequence[Term | None]] = {}
        for number, row in enumerate(table.rows):
            first.setdefault(tuple(row[at] for at in shown) if self.is_distinct else number, row)
        if (
            self.is_distinct
            and len(first) <= self.last
            and (table.truncated or len(table.rows) > MAX_ROWS_COMPARED)
        ):
            return False
        places = [table.columns.index(key) for key in self.keys]
        keys = [tuple(_comparable(row[at]) for at in places) for row in first.values()]
        edges = [(at - 1, at) for at in (self.first, self.last) if 0 < at < len(keys)]
        return all(keys[before] != keys[after] for before, after in edges)


def cut_query(query: str) -> CutQuery | None:
    """Return the query by which it is seen whether a LIMIT cuts between equals.

    None where a query has no order and no limit, or cannot be written so.

    >>> cut = cut_query("SELECT ?x { ?x <http://x/kg> ?w } ORDER BY DESC(?w) LIMIT 2 OFFSET 1")
    >>> cut.text, cut.keys, cut.first, cut.last
    ('SELECT (?w AS ?orderedBy0) ?x { ?x <http://x/kg> ?w } ORDER BY DESC(?w) LIMIT 4', ('orderedBy0',), 1, 3)

    Raises:
        KGRejected: if the query is no SPARQL, or too long or too deep to be read.
    """
    select = read_draft(query).whole
    if select.limit is None or not select.order or select.offset + select.limit > MAX_ROWS_COMPARED:
        return None
    bare = blank_texts(query).rstrip()
    start, orders, end = _SELECT.search(bare), [*_ORDER.finditer(bare)], _SLICE.search(bare)
    if not (start and orders and end) or orders[-1].end() > end.start():
        return None
    conditions = [*_conditions(query[orders[-1].end() : end.start()])]
    columns = {f"?{column}" for column in select.columns}
    if len(conditions) != len(select.order) or any(not c for c in conditions):
        return None
    keys, added = [], []
    for at, ((of, _), text) in enumerate(zip(select.order, conditions, strict=True)):
        if is_open(of) and f"?{of}" in columns:
            keys.append(str(of))
        else:
            keys.append(f"{_KEY}{at}")
            added.append(f" ({text} AS ?{_KEY}{at})")
    if added and bare[start.end() :].lstrip().startswith("*"):
        return None
    last = select.offset + select.limit
    is_distinct = bool(added) and len(start.group().split()) > 1
    shown = query[: start.end()] + "".join(added) + query[start.end() : end.start()]
    most = MAX_ROWS_COMPARED if is_distinct else last
    return CutQuery(f"{shown}LIMIT {most + 1:d}", tuple(keys), select.offset, last, is_distinct)


def _conditions(text: str) -> Iterator[str]:
    """Yield the expressions of an ORDER BY, without their directions."""
    bare, depth, begin = blank_texts(text), 0, None
    for at, char in enumerate(bare):
        if char == "(":
            depth += 1
            if begin is None:
                begin = at
        elif char == ")":
            depth -= 1
            if depth == 0 and begin is not None:
                yield _without_direction(text[begin : at + 1])
                begin = None
        elif char.isspace():
            if depth == 0 and begin is not None and not bare[at:].lstrip().startswith("("):
                yield _without_direction(text[begin:at])
                begin = None
        elif begin is None:
            begin = at
    if begin is not None:
        yield _without_direction(text[begin:])


def _without_direction(text: str) -> str:
    bare = _DIRECTION.sub("", text.strip(), count=1).strip()
    return bare[1:-1].strip() if bare.startswith("(") and bare.endswith(")") else bare


def _comparable(term: Term | None) -> object:
    try:
        return float(term.id) if term else None
    except ValueError:
        return term


_QUERY_FORM = re.compile(r"\b(?:SELECT|ASK)\b(?!\s*:)", re.IGNORECASE)


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
    start = _QUERY_FORM.search(bare)
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
        written = " ".join(f"({' '.join(map(_write_cell, row))})" for row in values)
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


def _write_cell(term: Term | None) -> str:
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
