"""What a SPARQL query asks of the ends of its chains, and which of its columns it computes.

>>> read_intent("SELECT ?x { wd:Q183 wdt:P206 ?x . ?x wdt:P2043 ?n } ORDER BY DESC(?n) LIMIT 1")
QuestionIntent(kind='largest', by='P2043', back=0, union=False)

As in `algebra`, it is the query's algebra that is read (rdflib), not its text. Numbers that a query
computes from facts are columns of their own:

>>> sorted(computed_columns("SELECT ?x (COUNT(?y) AS ?n) { ?x wdt:P40 ?y } GROUP BY ?x"))
['n']

What it takes from VALUES, or writes itself, is computed from no fact:

>>> sorted(computed_columns("SELECT (COUNT(?y) AS ?n) (5 AS ?m) { VALUES ?y { 1 2 3 } }"))
[]
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kgqa.kg.dialects import is_ignored
from kgqa.kg.errors import KGRejected
from kgqa.kg.sparql.guard import walk_tree
from kgqa.kg.sparql.nodes import Node, is_constant, is_variable
from kgqa.kg.sparql.parsing import parse_query
from kgqa.kg.sparql.path_extraction import Edge, PatternSet, TooManyAlternatives, triple_patterns
from kgqa.kg.terms import local_name

AnswerKind = Literal["all", "count", "largest", "smallest"]

_Neighbours = Mapping[Node, Sequence[tuple[str, Node]]]
"""Each variable's neighbours, with the relation's local name; ``^`` before one against its arrow."""

_INTENT_KEYWORDS = re.compile(r"\b(?:order\s+by|count|max|min|union|values)\b", re.IGNORECASE)
"""A query without any of these asks for all, and need not be parsed."""

_AGGREGATES: dict[str, AnswerKind] = {"Aggregate_Max": "largest", "Aggregate_Min": "smallest"}


@dataclass(frozen=True, slots=True, order=True)
class QuestionIntent:
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

    kind: AnswerKind = "all"
    by: str = ""
    back: int = 0
    union: bool = False


def read_intent(query: str) -> QuestionIntent:
    """Read a SELECT query; `QuestionIntent()` where nothing of that is found, or where it does not parse."""
    if not _INTENT_KEYWORDS.search(query):
        return QuestionIntent()
    try:
        _, root = parse_query(query)
        if root.name != "SelectQuery" or not root.PV:
            return QuestionIntent()
        body, one = _selected_body(root.p)
        return _read_body(body, one, root.PV[0], triple_patterns(body))
    except (KGRejected, TooManyAlternatives):
        return QuestionIntent()


def _read_body(body: Node, one: bool, answer: Node, found: list[PatternSet]) -> QuestionIntent:
    union = _is_union(found, answer)
    if _counts_rows(body, answer):
        return QuestionIntent("count", union=union)
    kinds = _extreme_variables(body, one)
    for value, kind in kinds.items():
        for pattern in found:
            if (way := _relations_to_value(pattern, value, answer)) is not None:
                return QuestionIntent(kind, *way, union)
    return QuestionIntent(next(iter(kinds.values()), "all"), union=union)


def _selected_body(node: Node) -> tuple[Node, bool]:
    """Return what a query selects from, and whether it takes the first row and no other."""
    one = False
    while node.name in {"Slice", "Distinct", "Reduced", "Project"}:
        if node.name == "Slice":
            one = node.length == 1 and not node.start
        node = node.p
    return node, one


def _counts_rows(body: Node, answer: Node) -> bool:
    """Return whether the answer is the number of all rows."""
    joins = [join for join in _parts_named(body, "AggregateJoin") if join.p.expr is None]
    counted = {each.res for join in joins for each in join.A if each.name == "Aggregate_Count"}
    return any(other == answer and one in counted for one, other in _equal_variables(body))


def _extreme_variables(body: Node, one: bool) -> dict[Node, AnswerKind]:
    """Return the variables of which the largest or smallest value is asked for, the surest first."""
    kinds: dict[Node, AnswerKind] = {}
    if one and body.name == "OrderBy":
        first = body.expr[0]
        kind: AnswerKind = "largest" if first.order == "DESC" else "smallest"
        found = {each for each in walk_tree(first.expr) if is_variable(each)}
        kinds |= dict.fromkeys(sorted(found), kind)
    for join in _parts_named(body, "AggregateJoin"):
        if join.p.expr is None:
            kinds |= {each.res: _AGGREGATES[each.name] for each in join.A if each.name in _AGGREGATES}
    for one_side, other in _equal_variables(body):
        if one_side in kinds:
            kinds.setdefault(other, kinds[one_side])
    return kinds


def _equal_variables(body: Node) -> Iterator[tuple[Node, Node]]:
    """Return the variables that are another's value: named by SELECT or BIND, or held equal by a filter."""
    pairs = [(node.expr, node.var) for node in _parts_named(body, "Extend")]
    tests = [(test.expr, test.other) for test in _parts_named(body, "RelationalExpression") if test.op == "="]
    for one, other in (*pairs, *tests, *(test[::-1] for test in tests)):
        if is_variable(one) and is_variable(other):
            yield one, other


def _parts_named(node: Any, name: str) -> Iterator[Node]:
    """Go through the parts of a query of one name, the outer ones first."""
    return (part for part in walk_tree(node) if getattr(part, "name", "") == name)


def _relations_to_value(pattern: PatternSet, value: Node, answer: Node) -> tuple[str, int] | None:
    """Return the relations from the chain to a value, and how far before the answer they start."""
    net = _neighbours(pattern.filled)
    end, node = pattern.source(answer), pattern.source(value)
    if node not in net or end not in net:
        return None
    places = _chain_positions(net, end, without=node)
    if node == end:
        last = (_inverse_name(name) for name, other in net[end] if places.get(other) == 1)
        return next(((name, 1) for name in last), None) if node != value else ("", 0)
    ways = {node: ""}
    for at in _keys_as_they_grow(ways):
        if at in places:
            return ways[at], places[at]
        for name, other in net[at]:
            if other in net and other not in ways:
                ways[other] = "/".join(filter(None, (_inverse_name(name), ways[at])))
    return None


def _chain_positions(net: _Neighbours, end: Node, without: Node) -> dict[Node, int]:
    """Return the nodes between the constants and the answer, and how far before the answer they are."""
    after: dict[Node, Node] = {end: None}
    on_chain: dict[Node, int] = {end: 0}
    for at in _keys_as_they_grow(after):
        for _, other in net[at]:
            if other not in net:
                back = [at]
                while (node := after[back[-1]]) is not None:
                    back.append(node)
                on_chain |= {node: place for place, node in enumerate(reversed(back))}
            elif other != without and other not in after:
                after[other] = at
    return on_chain


def _keys_as_they_grow(nodes: Mapping[Node, Any]) -> Iterator[Node]:
    """Go through the keys of a mapping, those too that are put in on the way."""
    done = 0
    while done < len(nodes):
        known = list(nodes)[done:]
        done += len(known)
        yield from known


def _neighbours(edges: Iterable[Edge]) -> _Neighbours:
    net: dict[Node, list[tuple[str, Node]]] = {}
    for start, relation, end in edges:
        iri = str(relation)
        if not is_constant(relation) or is_ignored(iri):
            continue
        name = local_name(iri)
        for node, step in ((start, (name, end)), (end, (f"^{name}", start))):
            if not is_constant(node):
                net.setdefault(node, []).append(step)
    return net


def _inverse_name(name: str) -> str:
    return name.removeprefix("^") if name.startswith("^") else f"^{name}"


def _is_union(found: Iterable[PatternSet], answer: Node) -> bool:
    """Return whether the alternatives have no constant in common that leads to the answer."""
    starts = [_connected_constants(pattern, answer) for pattern in found]
    led = [constants for constants in starts if constants]
    return bool(led) and not frozenset.intersection(*led)


def _connected_constants(pattern: PatternSet, answer: Node) -> frozenset[Node]:
    net = _neighbours(pattern.filled)
    end = pattern.source(answer)
    nodes: dict[Node, None] = {end: None} if end in net else {}
    for at in _keys_as_they_grow(nodes):
        nodes |= {other: None for _, other in net[at] if other in net}
    return frozenset(other for node in nodes for _, other in net[node] if other not in net)


_COMPUTING_AGGREGATES = {"Aggregate_Count", "Aggregate_Sum", "Aggregate_Avg"}
"""The other aggregates give a value as it is in the graph."""


def computed_columns(query: str) -> frozenset[str]:
    """Return the columns that are a count, sum or average of what facts give; none if it does not parse."""
    try:
        return _computed_in(parse_query(query)[1])
    except (KGRejected, TooManyAlternatives):
        return frozenset()


def _computed_in(root: Node) -> frozenset[str]:
    node, names = root, {}
    while node.name != "AggregateJoin":
        if node.name == "Extend" and is_variable(node.expr):
            names[node.expr] = str(node.var)
        if "p" not in node:
            return frozenset()
        node = node.p
    found = [
        each
        for each in node.A
        if each.name in _COMPUTING_AGGREGATES and _is_computed_from_facts(each.vars, node.p)
    ]
    return frozenset(names[each.res] for each in found if each.res in names)


def _is_computed_from_facts(what: Node, body: Node) -> bool:
    """Return whether facts give what is aggregated: a variable, or ``*`` for whole rows."""
    found = triple_patterns(body)
    if what == "*":
        return any(each.edges for each in found)
    return any(what in each.nodes for each in found) and not any(what in each.values for each in found)
