"""Relation chains of a SPARQL query, from its constants to its answer.

It is the query's algebra that is read, as rdflib makes it (section 18 of the SPARQL 1.1
recommendation), not its text. `triple_patterns` flattens it into one set of patterns for each
alternative; `read_chains` follows these from the constants to the answer.

>>> reading = read_chains("SELECT ?x WHERE { ?y wdt:P22 wd:Q1339 . ?y wdt:P69/wdt:P131 ?x }")
>>> [str(path) for path in reading.paths]
['http://www.wikidata.org/entity/Q1339 <-P22- -P69-> -P131->']

A relation that a path may repeat or leave out (``*``, ``+``, ``?``) is taken once. What only
restricts has no part: filters, MINUS, SERVICE, and patterns that no constant is reached
through, such as those that values to sort by come from. Nor have relations that no search
follows (`Dialect.ignores`): those that name things or give their type.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, islice, product
from typing import Any, NamedTuple

from kgqa.kg.dialects import is_ignored
from kgqa.kg.errors import KGRejected
from kgqa.kg.sparql.nodes import Node, is_constant, is_variable, to_term
from kgqa.kg.sparql.parsing import parse_query
from kgqa.kg.terms import Hop, Literal, Term

MAX_ALTERNATIVES = 256


class TooManyAlternatives(ValueError):
    """A query has more alternatives than are followed."""


class Edge(NamedTuple):
    """A triple pattern."""

    start: Node
    relation: Node
    end: Node


@dataclass(frozen=True)
class PatternSet:
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
        """Return the node that a variable is, or is computed from."""
        nodes, seen = self.nodes, {variable}
        while variable not in nodes and (named := self.names.get(variable)) not in {None, *seen}:
            seen.add(variable := named)
        return self.values.get(variable, variable)

    def joined(self, other: "PatternSet") -> "PatternSet":
        """Return what has to hold when both hold."""
        return PatternSet(
            (*self.edges, *other.edges), {**self.values, **other.values}, {**self.names, **other.names}
        )

    def renamed(self, names: Mapping[Node, Node]) -> "PatternSet":
        """Put other nodes in the place of some."""

        def at(node: Node) -> Node:
            return names.get(node, node)

        return PatternSet(
            tuple(Edge(*map(at, edge)) for edge in self.edges),
            {at(variable): value for variable, value in self.values.items()},
            {at(variable): at(source) for variable, source in self.names.items()},
        )


def triple_patterns(node: Node) -> list[PatternSet]:
    """Return the alternatives of a query's algebra.

    Raises:
        TooManyAlternatives: if there are more than `MAX_ALTERNATIVES`, or it is nested too deeply.
    """
    try:
        return _alternatives(node, count(1))
    except RecursionError:
        raise TooManyAlternatives("the query is nested too deeply") from None


def _alternatives(node: Node, scopes: Iterator[int]) -> list[PatternSet]:
    """Walk through a tree of algebra; what is not listed here only passes rows on.

    ``scopes`` numbers the subselects on the way.
    """
    walk = partial(_alternatives, scopes=scopes)
    match str(node.name):
        case "ServiceGraphPattern" | "TrueFilter":
            return [PatternSet()]
        case "BGP":
            found = [PatternSet()]
            for start, relation, end in node.triples:
                ways = islice(_path_edges(start, relation, end), MAX_ALTERNATIVES + 1)
                found = _join(found, list(map(PatternSet, ways)))
            return found
        case "Join":
            return _join(walk(node.p1), walk(node.p2))
        case "Union":
            return [*walk(node.p1), *walk(node.p2)]
        case "LeftJoin":
            without = walk(node.p1)
            return [*_join(without, walk(node.p2)), *without]
        case "Minus":
            return walk(node.p1)
        case "values":
            return [PatternSet(values={k: v for k, v in row.items() if v != "UNDEF"}) for row in node.res]
        case "Extend" if is_constant(node.expr) and not isinstance(to_term(node.expr), Literal):
            return _join(walk(node.p), [PatternSet(values={node.var: node.expr})])
        case "Extend":
            return _with_names(walk(node.p), {node.var: _first_variable(node.expr)})
        case "AggregateJoin":
            return _with_names(walk(node.p), {each.res: _first_variable(each.vars) for each in node.A})
        case "Project":
            scope = next(scopes)
            return [_hide_inner_variables(pattern, node.PV, scope) for pattern in walk(node.p)]
    return walk(node.p)


def _join(left: list[PatternSet], right: list[PatternSet]) -> list[PatternSet]:
    if len(left) * len(right) > MAX_ALTERNATIVES:
        raise TooManyAlternatives(f"the query has more than {MAX_ALTERNATIVES} alternatives")
    return [a.joined(b) for a, b in product(left, right)]


def _with_names(found: list[PatternSet], names: Mapping[Node, Node]) -> list[PatternSet]:
    known = {variable: source for variable, source in names.items() if source is not None}
    return [replace(pattern, names={**pattern.names, **known}) for pattern in found]


def _hide_inner_variables(pattern: PatternSet, projected: list[Node], scope: int) -> PatternSet:
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


def _first_variable(expression: Node) -> Node | None:
    """Return the first variable of an expression."""
    if is_variable(expression):
        return expression
    parts = expression.values() if isinstance(expression, dict) else ()
    return next((found for part in parts if (found := _first_variable(part)) is not None), None)


def _path_edges(start: Node, relation: Node, end: Node) -> Iterator[tuple[Edge, ...]]:
    """Return each way to take a property path as edges."""
    from rdflib import BNode
    from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath

    if isinstance(relation, InvPath):
        yield from _path_edges(end, relation.arg, start)
    elif isinstance(relation, AlternativePath):
        for arg in relation.args:
            yield from _path_edges(start, arg, end)
    elif isinstance(relation, MulPath):
        yield from _path_edges(start, relation.path, end)
    elif isinstance(relation, SequencePath):
        first, *rest = relation.args
        middle = BNode() if rest else end
        for edges in _path_edges(start, first, middle):
            if not rest:
                yield edges
            else:
                for more in _path_edges(middle, SequencePath(*rest), end):
                    yield (*edges, *more)
    elif isinstance(relation, NegatedPath):
        yield ()
    else:
        yield (Edge(start, relation, end),)


class UnreadableQuery(ValueError):
    """No relation chain can be read out of a query; the message is one line.

    ``reason`` is the message without its ``detail``, which only this query has; queries are counted by it.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}{detail}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ChainToAnswer:
    """The hops from a constant of a query to its answer, in the order they are taken."""

    start: Term
    hops: tuple[Hop, ...]

    def __str__(self) -> str:
        """Draw the hops as arrows from the constant."""
        return " ".join([str(self.start), *map(str, self.hops)])


@dataclass(frozen=True, slots=True)
class QueryChains:
    """What a query asks for, as relation chains.

    ``alternatives`` (from UNION, VALUES, OPTIONAL, ``|``) are each a set of branches: an
    answer is at the end of every branch of at least one of them. A constant that occurs in
    two patterns has two branches. Branches are in order of length, then of their hops.
    """

    answer: str  # the variable that is projected, without ``?``; its count, if that is asked for
    alternatives: tuple[tuple[ChainToAnswer, ...], ...]

    @property
    def paths(self) -> tuple[ChainToAnswer, ...]:
        """The branches of all alternatives, each once, in order of length, then of their hops."""
        return _sorted_chains(path for branches in self.alternatives for path in branches)


def read_chains(query: str) -> QueryChains:
    """Read a SELECT query; of several projected variables the first is the answer.

    Raises:
        UnreadableQuery: if it is no SELECT, does not parse, or joins no constant to its answer.
    """
    try:
        has_columns, root = parse_query(query)
    except KGRejected as error:
        reason, sign, detail = str(error).partition(":")
        raise UnreadableQuery(reason, f"{sign}{detail}") from None
    if root.name != "SelectQuery":
        raise UnreadableQuery("only a SELECT asks for something that a chain can lead to")
    if not root.PV:
        raise UnreadableQuery("the query has no variable that could be its answer")
    answer, *others = root.PV
    if others and not has_columns:
        raise UnreadableQuery("SELECT * does not say which of its variables is the answer")
    try:
        found = [_branches(each.filled, each.source(answer)) for each in triple_patterns(root.p)]
    except TooManyAlternatives as error:
        raise UnreadableQuery(str(error)) from None
    alternatives = tuple(dict.fromkeys(filter(None, found)))
    if not alternatives:
        raise UnreadableQuery("no relation joins a constant of the query to its answer", f" ?{answer}")
    return QueryChains(str(answer), alternatives)


def _branches(edges: Iterable[Edge], answer: Any) -> tuple[ChainToAnswer, ...]:
    """Return the paths from every constant that is joined to the answer."""
    steps = [step for edge in edges for step in _hops_of_edge(edge)]
    ways = _shortest_hops(steps, answer)
    return _sorted_chains(
        ChainToAnswer(_to_term(start), (hop, *ways[node]))
        for start, hop, node in steps
        if is_constant(start) and node in ways
    )


def _hops_of_edge(edge: Edge) -> Iterator[tuple[Any, Hop, Any]]:
    """Return an edge as a hop from either of its ends to the other."""
    relation = str(edge.relation)
    if not is_constant(edge.relation) or is_ignored(relation):
        return
    try:
        hop = Hop(relation)
    except ValueError as error:
        raise UnreadableQuery("the query holds an unusable relation", f": {error}") from None
    yield edge.start, hop, edge.end
    yield edge.end, hop.inverse, edge.start


def _shortest_hops(steps: Iterable[tuple[Any, Hop, Any]], answer: Any) -> dict[Any, tuple[Hop, ...]]:
    """Return the shortest hops from each variable to the answer; of several the first in order."""
    within = [step for step in steps if not is_constant(step[0])]
    ways: dict[Any, tuple[Hop, ...]] = {} if is_constant(answer) else {answer: ()}
    reached = ways
    while reached:
        nearer, reached = reached, {}
        for start, hop, node in within:
            if node in nearer and start not in ways:
                way = (hop, *nearer[node])
                reached[start] = min(way, reached.get(start, way))
        ways = {**ways, **reached}
    return ways


def _to_term(node: Any) -> Term:
    try:
        return to_term(node)
    except ValueError as error:
        raise UnreadableQuery("the query holds an unusable constant", f": {error}") from None


def _sorted_chains(paths: Iterable[ChainToAnswer]) -> tuple[ChainToAnswer, ...]:
    def key(path: ChainToAnswer) -> tuple[Any, ...]:
        return len(path.hops), path.hops, isinstance(path.start, Literal), path.start

    return tuple(sorted(set(paths), key=key))
