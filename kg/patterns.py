"""Flattens the algebra of a query into triple patterns: one set for each alternative.

The names are those of rdflib's algebra (`rdflib.plugins.sparql.algebra`), which follows
section 18 of the SPARQL 1.1 recommendation.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count, islice, product
from typing import Any, NamedTuple, TypeAlias

Node: TypeAlias = Any
"""A term of rdflib, which is imported only when a query is read."""

MOST = 256
"""Alternatives of one query at most."""


class TooMany(ValueError):
    """A query has more alternatives than are followed."""


class Edge(NamedTuple):
    """A triple pattern."""

    start: Node
    relation: Node
    end: Node


@dataclass(frozen=True)
class Pattern:
    """The triple patterns of one alternative; all of them hold together."""

    edges: tuple[Edge, ...] = ()
    values: Mapping[Node, Node] = field(default_factory=dict)
    """What VALUES gives to variables."""
    names: Mapping[Node, Node] = field(default_factory=dict)
    """Variables that are another's value, or are computed from it."""

    @property
    def nodes(self) -> set[Node]:
        """The terms at the ends of the edges."""
        return {node for edge in self.edges for node in (edge.start, edge.end)}

    @property
    def filled(self) -> tuple[Edge, ...]:
        """The edges with the values put in."""
        return self.renamed(self.values).edges

    def source(self, variable: Node) -> Node:
        """Give the node that a variable is, or is computed from."""
        nodes, seen = self.nodes, {variable}
        while variable not in nodes and (named := self.names.get(variable)) not in {None, *seen}:
            seen.add(variable := named)
        return self.values.get(variable, variable)

    def joined(self, other: "Pattern") -> "Pattern":
        """Give what has to hold when both hold."""
        return Pattern(
            (*self.edges, *other.edges), {**self.values, **other.values}, {**self.names, **other.names}
        )

    def renamed(self, names: Mapping[Node, Node]) -> "Pattern":
        """Put other nodes in the place of some."""

        def at(node: Node) -> Node:
            return names.get(node, node)

        return Pattern(
            tuple(Edge(*map(at, edge)) for edge in self.edges),
            {at(variable): value for variable, value in self.values.items()},
            {at(variable): at(source) for variable, source in self.names.items()},
        )


def patterns(node: Node) -> list[Pattern]:
    """Give the alternatives of a query's algebra.

    Raises:
        TooMany: if there are more than `MOST`, or it is nested too deeply.
    """
    try:
        return _Walk().of(node)
    except RecursionError:
        raise TooMany("the query is nested too deeply") from None


class _Walk:
    """One walk through a tree of algebra; it numbers the subselects on its way."""

    def __init__(self) -> None:
        self._scopes = count(1)

    def of(self, node: Node) -> list[Pattern]:
        """Walk on by the kind of a node; what is not listed here only passes rows on."""
        kind = str(node.name)
        if kind in {"ServiceGraphPattern", "TrueFilter"}:
            return [Pattern()]
        handler: Callable[[Node], list[Pattern]] | None = getattr(self, f"_{kind.lower()}", None)
        return handler(node) if handler else self.of(node.p)

    def _bgp(self, node: Node) -> list[Pattern]:
        found = [Pattern()]
        for start, relation, end in node.triples:
            found = _joined(
                found, [Pattern(edges) for edges in islice(_steps(start, relation, end), MOST + 1)]
            )
        return found

    def _join(self, node: Node) -> list[Pattern]:
        return _joined(self.of(node.p1), self.of(node.p2))

    def _union(self, node: Node) -> list[Pattern]:
        return [*self.of(node.p1), *self.of(node.p2)]

    def _leftjoin(self, node: Node) -> list[Pattern]:
        without = self.of(node.p1)
        return [*_joined(without, self.of(node.p2)), *without]

    def _minus(self, node: Node) -> list[Pattern]:
        return self.of(node.p1)

    def _values(self, node: Node) -> list[Pattern]:
        return [Pattern(values={k: v for k, v in row.items() if v != "UNDEF"}) for row in node.res]

    def _extend(self, node: Node) -> list[Pattern]:
        return _named(self.of(node.p), {node.var: _variable(node.expr)})

    def _aggregatejoin(self, node: Node) -> list[Pattern]:
        return _named(self.of(node.p), {each.res: _variable(each.vars) for each in node.A})

    def _project(self, node: Node) -> list[Pattern]:
        scope = next(self._scopes)
        return [_scoped(pattern, node.PV, scope) for pattern in self.of(node.p)]


def _joined(left: list[Pattern], right: list[Pattern]) -> list[Pattern]:
    if len(left) * len(right) > MOST:
        raise TooMany(f"the query has more than {MOST} alternatives")
    return [a.joined(b) for a, b in product(left, right)]


def _named(found: list[Pattern], names: Mapping[Node, Node]) -> list[Pattern]:
    known = {variable: source for variable, source in names.items() if source is not None}
    return [replace(pattern, names={**pattern.names, **known}) for pattern in found]


def _scoped(pattern: Pattern, projected: list[Node], scope: int) -> Pattern:
    """Rename the variables that a SELECT does not let out; one that it lets out as another is that one."""
    from rdflib import Variable

    nodes = pattern.nodes
    again = {
        source: variable
        for variable in projected
        if variable not in nodes and (source := pattern.names.get(variable)) in nodes
    }
    terms = {term for edge in pattern.edges for term in edge}
    terms |= {*pattern.values, *pattern.names, *pattern.names.values()}
    hidden = {t: Variable(f"{t}_{scope}") for t in terms if isinstance(t, Variable) and t not in projected}
    return pattern.renamed({**hidden, **again})


def _variable(expression: Node) -> Node | None:
    """Give the first variable of an expression."""
    from rdflib import Variable

    if isinstance(expression, Variable):
        return expression
    parts = expression.values() if isinstance(expression, dict) else ()
    return next((found for part in parts if (found := _variable(part)) is not None), None)


def _steps(start: Node, relation: Node, end: Node) -> Iterator[tuple[Edge, ...]]:
    """Give each way to take a property path as edges."""
    from rdflib import BNode
    from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath

    if isinstance(relation, InvPath):
        yield from _steps(end, relation.arg, start)
    elif isinstance(relation, AlternativePath):
        for arg in relation.args:
            yield from _steps(start, arg, end)
    elif isinstance(relation, MulPath):
        yield from _steps(start, relation.path, end)
    elif isinstance(relation, SequencePath):
        first, *rest = relation.args
        middle = BNode() if rest else end
        for edges in _steps(start, first, middle):
            if not rest:
                yield edges
            else:
                for more in _steps(middle, SequencePath(*rest), end):
                    yield (*edges, *more)
    elif isinstance(relation, NegatedPath):
        yield ()
    else:
        yield (Edge(start, relation, end),)
