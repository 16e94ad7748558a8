"""Reads out of a SPARQL query what it asks of the ends of its chains: all, their number, an extreme.

>>> read_asked("SELECT ?x { wd:Q183 wdt:P206 ?x . ?x wdt:P2043 ?n } ORDER BY DESC(?n) LIMIT 1")
Asked(kind='largest', by='P2043', back=0, union=False)

As in `algebra`, it is the query's algebra that is read (rdflib), not its text. The chains
themselves are what `algebra.read` gives.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kgqa.kg.dialect import is_ignored
from kgqa.kg.lenient import parsed
from kgqa.kg.patterns import Edge, Node, Pattern, TooMany, patterns
from kgqa.kg.terms import local_name

Kind = Literal["all", "count", "largest", "smallest"]

_Net = Mapping[Node, Sequence[tuple[str, Node]]]
"""Each variable's neighbours, with the relation's local name; ``^`` before one against its arrow."""

_WORDS = re.compile(r"\b(?:order\s+by|count|max|min|union|values)\b", re.IGNORECASE)
"""A query without any of these asks for all; parsing it takes 10 ms."""

_AGGREGATES: dict[str, Kind] = {"Aggregate_Max": "largest", "Aggregate_Min": "smallest"}


@dataclass(frozen=True, slots=True, order=True)
class Asked:
    """What a question asks of the ends of its chains.

    Attributes:
        kind: All of them, their number, or those with the largest or the smallest value.
        by: For the last two: the local name of the relation whose value decides; where
            there are several to the value, they are joined by ``/``, with ``^`` before one that
            is taken against its arrow. Values that are no numbers and no dates are counted.
            Empty where it is not known, and where an end is its own value.
        back: How many nodes before the end that relation starts: 0 the end, 1 the node
            before it (a mediator).
        union: The ends of all branches together (a comparison), not what they share.
    """

    kind: Kind = "all"
    by: str = ""
    back: int = 0
    union: bool = False


def read_asked(query: str) -> Asked:
    """Read a SELECT query; `Asked()` where nothing of that is found, or where it does not parse."""
    if not _WORDS.search(query):
        return Asked()
    try:
        _, root = parsed(query)
    except Exception:  # besides KGRejected, whatever rdflib and pyparsing raise
        return Asked()
    if root.name != "SelectQuery" or not root.PV:
        return Asked()
    body, one = _body(root.p)
    try:
        return _read(body, one, root.PV[0], patterns(body))
    except TooMany:
        return Asked()


def _read(body: Node, one: bool, answer: Node, found: list[Pattern]) -> Asked:
    union = _is_union(found, answer)
    if _counts(body, answer):
        return Asked("count", union=union)
    kinds = _extremes(body, one)
    for value, kind in kinds.items():
        for pattern in found:
            if (way := _way(pattern, value, answer)) is not None:
                return Asked(kind, *way, union)
    return Asked(next(iter(kinds.values()), "all"), union=union)


def _body(node: Node) -> tuple[Node, bool]:
    """Give what a query selects from, and whether it takes the first row and no other."""
    one = False
    while node.name in {"Slice", "Distinct", "Reduced", "Project"}:
        if node.name == "Slice":
            one = node.length == 1 and not node.start
        node = node.p
    return node, one


def _counts(body: Node, answer: Node) -> bool:
    """Tell whether the answer is the number of all rows."""
    counted = {each.res for join in _all(body, "AggregateJoin") for each in join.A if _is_count(join, each)}
    return any(other == answer and one in counted for one, other in _equal(body))


def _is_count(join: Node, aggregate: Node) -> bool:
    return aggregate.name == "Aggregate_Count" and join.p.expr is None


def _extremes(body: Node, one: bool) -> dict[Node, Kind]:
    """Give the variables of which the largest or smallest value is asked for, the surest first."""
    kinds: dict[Node, Kind] = {}
    if one and body.name == "OrderBy":
        first = body.expr[0]
        kinds |= dict.fromkeys(sorted(first._vars), "largest" if first.order == "DESC" else "smallest")
    for join in _all(body, "AggregateJoin"):
        if join.p.expr is None:
            kinds |= {each.res: _AGGREGATES[each.name] for each in join.A if each.name in _AGGREGATES}
    for one_side, other in _equal(body):
        if one_side in kinds:
            kinds.setdefault(other, kinds[one_side])
    return kinds


def _equal(body: Node) -> Iterator[tuple[Node, Node]]:
    """Give the variables that are another's value: named by SELECT or BIND, or held equal by a filter."""
    from rdflib import Variable

    pairs = [(node.expr, node.var) for node in _all(body, "Extend")]
    tests = [(test.expr, test.other) for test in _all(body, "RelationalExpression") if test.op == "="]
    for one, other in (*pairs, *tests, *(test[::-1] for test in tests)):
        if isinstance(one, Variable) and isinstance(other, Variable):
            yield one, other


def _all(node: Any, name: str) -> Iterator[Node]:
    """Go through the parts of a query of one name, the outer ones first."""
    if isinstance(node, dict):
        if getattr(node, "name", "") == name:
            yield node
        for part in node.values():
            yield from _all(part, name)
    elif isinstance(node, list):
        for part in node:
            yield from _all(part, name)


def _way(pattern: Pattern, value: Node, answer: Node) -> tuple[str, int] | None:
    """Give the relations from the chain to a value, and how far before the answer they start."""
    net = _net(pattern.filled)
    end, node = pattern.source(answer), pattern.source(value)
    if node not in net or end not in net:
        return None
    places = _chain(net, end, without=node)
    if node == end:
        return _last(net, places, end) if node != value else ("", 0)
    ways = {node: ""}
    for at in _reached(ways):
        if at in places:
            return ways[at], places[at]
        for name, other in net[at]:
            if other in net and other not in ways:
                ways[other] = "/".join(filter(None, (_against(name), ways[at])))
    return None


def _last(net: _Net, places: Mapping[Node, int], end: Node) -> tuple[str, int] | None:
    """Give the last hop of a chain: where the answer itself is counted, its ways are."""
    return next(((_against(name), 1) for name, other in net[end] if places.get(other) == 1), None)


def _chain(net: _Net, end: Node, without: Node) -> dict[Node, int]:
    """Give the nodes between the constants and the answer, and how far before the answer they are."""
    after: dict[Node, Node] = {end: None}
    on_chain: dict[Node, int] = {end: 0}
    for at in _reached(after):
        for _, other in net[at]:
            if other not in net:
                on_chain |= _back(after, at)
            elif other != without and other not in after:
                after[other] = at
    return on_chain


def _back(after: Mapping[Node, Node], node: Node) -> dict[Node, int]:
    way = [node]
    while (node := after[node]) is not None:
        way.append(node)
    return {at: place for place, at in enumerate(reversed(way))}


def _reached(nodes: Mapping[Node, Any]) -> Iterator[Node]:
    """Go through the keys of a mapping, those too that are put in on the way."""
    done = 0
    while done < len(nodes):
        known = list(nodes)[done:]
        done += len(known)
        yield from known


def _net(edges: Iterable[Edge]) -> _Net:
    from rdflib import Literal as Value, URIRef

    net: dict[Node, list[tuple[str, Node]]] = {}
    for start, relation, end in edges:
        iri = str(relation)
        if not isinstance(relation, URIRef) or is_ignored(iri):
            continue
        name = local_name(iri)
        for node, step in ((start, (name, end)), (end, (f"^{name}", start))):
            if not isinstance(node, URIRef | Value):
                net.setdefault(node, []).append(step)
    return net


def _against(name: str) -> str:
    return name.removeprefix("^") if name.startswith("^") else f"^{name}"


def _is_union(found: Iterable[Pattern], answer: Node) -> bool:
    """Tell whether the alternatives have no constant in common that leads to the answer."""
    starts = [_constants(pattern, answer) for pattern in found]
    led = [constants for constants in starts if constants]
    return bool(led) and not frozenset.intersection(*led)


def _constants(pattern: Pattern, answer: Node) -> frozenset[Node]:
    net = _net(pattern.filled)
    end = pattern.source(answer)
    nodes: dict[Node, None] = {end: None} if end in net else {}
    for at in _reached(nodes):
        nodes |= {other: None for _, other in net[at] if other in net}
    return frozenset(other for node in nodes for _, other in net[node] if other not in net)
