"""How many rows the parts of a query may have, whatever the graph: read from its algebra."""

from collections.abc import Iterator
from functools import cache
from math import inf, prod
from typing import Any

from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Variable


@cache
def rows_together(query: str) -> float:
    """Return how many rows a query sorts or groups at most; infinite where that is up to the graph."""
    algebra = translateQuery(parseQuery(query)).algebra
    return max(
        (_most_rows(node.p) for node in _parts(algebra) if node.name in ("Group", "OrderBy")), default=0
    )


def _parts(node: Any) -> Iterator[CompValue]:
    """Yield a pattern and all that it is made of."""
    if isinstance(node, CompValue):
        yield node
        for part in (node.p, node.p1, node.p2):
            yield from _parts(part)


def _most_rows(node: CompValue) -> float:
    if node.name == "Slice":
        return min(node.length, _most_rows(node.p))
    if node.name == "values":
        return len(node.res)
    if node.name == "Union":
        return _most_rows(node.p1) + _most_rows(node.p2)
    if node.name == "Join":
        return _rows_of_join(node.p1, node.p2)
    return _most_rows(node.p) if isinstance(node.p, CompValue) else inf


def _rows_of_join(*sides: CompValue) -> float:
    """Where all that one side names is bound by the other, a row of the other has one row at most."""
    looked_up = [
        one for one, other in (sides, sides[::-1]) if _variables(one) <= _variables(other) and _bgp(one)
    ]
    return min(map(_most_rows, sides)) if looked_up else prod(map(_most_rows, sides))


def _bgp(node: CompValue) -> bool:
    return node.name == "BGP"


def _variables(node: CompValue) -> set[Variable]:
    if node.name == "BGP":
        return {term for triple in node.triples for term in triple if isinstance(term, Variable)}
    if node.name == "values":
        return {variable for row in node.res for variable in row}
    return (
        set(node.PV)
        if node.PV
        else set().union(*(_variables(part) for part in (node.p, node.p1, node.p2) if part))
    )
