"""Whether the rows that a LIMIT lets through differ from the others in what they are ordered by."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgqa.kg.drafts.names import blank_texts
from kgqa.kg.drafts.reading import read_draft
from kgqa.kg.sparql.nodes import is_open
from kgqa.kg.terms import Term

MAX_ROWS_COMPARED = 1_000  # rows up to a limit that are compared at most

_SELECT = re.compile(r"\bSELECT\b(?!\s*:)(?:\s+(?:DISTINCT|REDUCED)\b)?", re.IGNORECASE)
_SLICE = re.compile(r"(?:\b(?:LIMIT|OFFSET)\s+\d+\s*)+$", re.IGNORECASE)
_ORDER = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)
_DIRECTION = re.compile(r"(?:ASC|DESC)(?=\s*\()", re.IGNORECASE)
_KEY = "orderedBy"


@dataclass(frozen=True, slots=True)
class CutQuery:
    """A query for all rows up to the one after a limit, and the columns that they are ordered by."""

    text: str
    keys: tuple[str, ...]
    first: int
    last: int

    def is_clear(self, columns: Sequence[str], rows: Sequence[Sequence[Term | None]]) -> bool:
        """Return whether no row that is left out has the same keys as one that is not."""
        places = [columns.index(key) for key in self.keys]
        keys = [tuple(_comparable(row[at]) for at in places) for row in rows]
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
    last = select.offset + select.limit
    shown = query[: start.end()] + "".join(added) + query[start.end() : end.start()]
    return CutQuery(f"{shown}LIMIT {last + 1:d}", tuple(keys), select.offset, last)


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
