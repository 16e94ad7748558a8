"""What a SPARQL query itself says of its answers: the constants that bind them, what cuts them, what counts.

>>> read = read_constants("SELECT ?x { wd:Q183 wdt:P206 ?x . ?x wdt:P2043 ?n FILTER(?n > 100) } LIMIT 3")
>>> sorted(read.binding), [str(term) for term in read.written], read.is_cut
(['http://www.wikidata.org/entity/Q183'], ['100', 'http://www.wikidata.org/entity/Q183'], True)

Constants in an OPTIONAL pattern whose values nothing tests, or in patterns that are not joined to the
answers, are left out:

>>> read_constants("SELECT ?x { ?x wdt:P31 wd:Q5 . wd:Q183 wdt:P36 ?y } # wd:Q64").binding
frozenset({'http://www.wikidata.org/entity/Q5'})
>>> tested = "SELECT ?x { ?x wdt:P31 wd:Q5 OPTIONAL { ?x wdt:P26 ?y . wd:Q8 wdt:P27 ?y } FILTER(!BOUND(?y)) }"
>>> sorted(id.rpartition("/")[2] for id in read_constants(tested).binding)
['Q5', 'Q8']
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kgqa.kg.dialects import XSD, is_ignored
from kgqa.kg.errors import KGRejected
from kgqa.kg.sparql.guard import walk_tree
from kgqa.kg.sparql.nodes import Node, is_constant, is_open, is_value, to_term
from kgqa.kg.sparql.parsing import parse_query
from kgqa.kg.sparql.path_extraction import PatternSet, TooManyAlternatives, triple_patterns
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.terms import Entity, Term

_ABOUT_TEXTS = {"Builtin_LANG", "Builtin_LANGMATCHES", "Builtin_DATATYPE"}  # whose operands are no values
_TEXT_TESTS = {"Builtin_CONTAINS": "arg2", "Builtin_STRSTARTS": "arg2", "Builtin_STRENDS": "arg2"}
_TEXT_TESTS |= {"Builtin_REGEX": "pattern"}
_WORD = re.compile(r"[^\W\d_]{3,}")  # of a regular expression that names something
_CHANCE = {f"Builtin_{name}" for name in ("RAND", "NOW", "UUID", "STRUUID", "BNODE")}


@dataclass(frozen=True, slots=True)
class QueryConstants:
    """The constants of a query, and what else makes its answers other than all that the graph gives.

    Attributes:
        binding: The ids of entities that the answers are joined with, whatever the alternative, or tested by.
        written: What it compares nodes with or has them be: entities, but for types, and values.
        counts: Whether the answer is a number of rows or nodes.
        is_cut: Whether a LIMIT, an OFFSET or chance leaves answers out.
    """

    binding: frozenset[str] = frozenset()
    written: tuple[Term, ...] = ()
    counts: bool = False
    is_cut: bool = False


def read_constants(query: str) -> QueryConstants | None:
    """Read a SELECT or ASK query; None where it does not parse."""
    try:
        _, root = parse_query(query)
        written = dict.fromkeys(term for node in _written(root) if (term := _term(node)) is not None)
        names = {str(part.name) for part in _parts(root)}
    except (KGRejected, RecursionError):
        return None
    counted = "Aggregate_Count" in names and root.name == "SelectQuery" and len(root.PV) == 1
    return QueryConstants(_binding(root), tuple(written), counted, bool({"Slice", *_CHANCE} & names))


def _binding(root: Node) -> frozenset[str]:
    tests = [part.expr for part in _parts(root) if part.name in {"Filter", "LeftJoin"} and part.expr]
    tests += [part.p2 for part in _parts(root) if part.name == "Minus"]
    tested = {node for test in tests if any(map(is_open, _nodes(test))) for node in _nodes(test)}
    for part in _parts(root):
        if part.name == "LeftJoin" and _is_decided_by(part, tests):
            tested.update(_required(part.p2))
    try:
        found = triple_patterns(root.p)
    except TooManyAlternatives:
        return _ids(_nodes(root))
    answer = root.PV[0] if root.name == "SelectQuery" and root.PV else None
    values: dict[Node, set[Node]] = {}
    for pattern in found:
        for variable, value in pattern.values.items():
            values.setdefault(variable, set()).add(value)
    joined = [_joined(pattern, answer, values) for pattern in found]
    every = {*frozenset.intersection(*joined), *tested} if joined else tested
    return _ids(every)


def _is_decided_by(optional: Node, tests: Iterable[Node]) -> bool:
    """Return whether a filter outside an OPTIONAL tests what this alone finds."""
    within = [
        optional.expr,
        *(part.expr for part in _parts(optional.p2) if part.name in {"Filter", "LeftJoin"}),
    ]
    within += [part.p2 for part in _parts(optional.p2) if part.name == "Minus"]
    found = {*filter(is_open, _required(optional.p2))}.difference(_nodes(optional.p1))
    outside = (test for test in tests if not any(test is each for each in within))
    return any(not found.isdisjoint(_nodes(test)) for test in outside)


def _required(node: Any) -> Iterator[Node]:
    """Go through what the rows of a part of a query have, without the OPTIONAL and the MINUS within it."""
    if isinstance(node, list):
        yield from (each for part in node for each in _required(part))
    elif isinstance(node, dict):
        named: Node = node
        name = getattr(node, "name", "")
        if name == "BGP":
            yield from (each for start, _, end in named.triples for each in (start, end))
        yield from named.PV if name == "Project" else ()
        parts = [named.p1] if name in {"LeftJoin", "Minus"} else node.values()
        yield from (each for part in parts for each in _required(part))


def _ids(nodes: Iterable[Node]) -> frozenset[str]:
    return frozenset(term.id for term in map(_term, nodes) if isinstance(term, Entity))


def _joined(pattern: PatternSet, answer: Node, values: dict[Node, set[Node]]) -> frozenset[Node]:
    """Return the nodes of an alternative that are joined with its answer; all where it has none (ASK)."""
    if answer is None:
        reached = {*pattern.nodes}
    else:
        unfilled = PatternSet(pattern.edges, {}, pattern.names)
        reached, grown = {unfilled.source(answer)}, True
        while grown:
            beside = {
                node
                for edge in pattern.edges
                if any(part in reached and is_open(part) for part in edge)
                for node in (edge.start, edge.end, *filter(is_open, [edge.relation]))
            }
            grown = not beside <= reached
            reached |= beside
    return frozenset(reached.union(*(values.get(node, ()) for node in reached)))


def _written(root: Node) -> Iterator[Node]:
    """Yield the constants that a query has nodes be or be compared with."""
    for part in _parts(root):
        if part.name in {"BGP", "TriplesBlock"}:  # the latter within EXISTS, which rdflib leaves as it is
            flat = [node for triples in part.triples for node in triples]
            for start, relation, end in zip(flat[::3], flat[1::3], flat[2::3], strict=False):
                is_type = is_ignored(str(relation)) and not is_value(end)
                yield from (start, *(() if is_type else (end,)))
        elif part.name == "values":
            yield from (value for row in part.res for value in row.values())
        elif part.name == "Extend" and not any(map(is_open, _nodes(part.expr))):
            yield from _nodes(part.expr)
        elif part.name == "RelationalExpression" and not _ABOUT_TEXTS & {str(p.name) for p in _parts(part)}:
            for operand in (part.expr, *(part.other if isinstance(part.other, list) else [part.other])):
                nodes = _signed(operand)
                yield from () if any(map(is_open, nodes)) else nodes
        elif part.name in _TEXT_TESTS:
            texts = _nodes(part[_TEXT_TESTS[part.name]])
            yield from (node for node in texts if _WORD.search(str(node)) and str(node) != BLANK_NAMESPACE)


def _signed(operand: Any) -> list[Node]:
    """Return the terms of what is compared; of a number after a minus, the negative one."""
    from rdflib import Literal as Value

    if getattr(operand, "name", "") == "UnaryMinus" and is_value(operand.expr):
        return [Value(f"-{operand.expr}", datatype=operand.expr.datatype)]
    return list(_nodes(operand))


def _parts(node: Any) -> Iterator[Node]:
    """Go through the named parts of a query, but for what BIND computes of what it binds."""
    if isinstance(node, dict):
        named: Node = node if getattr(node, "name", "") else None
        if named is not None:
            yield named
        computed = named is not None and named.name == "Extend" and any(map(is_open, _nodes(named.expr)))
        for key, part in node.items():
            if not (computed and key == "expr"):
                yield from _parts(part)
    elif isinstance(node, list):
        for part in node:
            yield from _parts(part)


def _nodes(node: Any) -> Iterator[Node]:
    """Go through the terms, variables among them, of a part of a query."""
    from rdflib.term import Identifier

    return (part for part in walk_tree(node) if isinstance(part, Identifier))


def _term(node: Node) -> Term | None:
    """Return a constant as a term; None for a variable, a datatype, and what is no term of ours."""
    try:
        term = to_term(node) if is_constant(node) else None
        if not isinstance(term, Entity):
            return term
        id = term.id.replace(BLANK_NAMESPACE, "_:", 1)
        return None if id.startswith(XSD) else Entity(id)
    except ValueError:
        return None
