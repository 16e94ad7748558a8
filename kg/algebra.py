"""Reads out of a SPARQL query which relation chains lead from its constants to its answer.

It is the query's algebra that is read (rdflib), not its text:

>>> reading = read("SELECT ?x WHERE { ?y wdt:P22 wd:Q1339 . ?y wdt:P69/wdt:P131 ?x }")
>>> [str(path) for path in reading.paths]
['http://www.wikidata.org/entity/Q1339 <-P22- -P69-> -P131->']

A relation that a path may repeat or leave out (``*``, ``+``, ``?``) is taken once. What only
restricts has no part: filters, MINUS, SERVICE, and patterns that no constant is reached
through, such as those that values to sort by come from. Nor have relations that no search
follows (`Dialect.ignores`): those that name things or give their type.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kgqa.kg.dialect import XSD, is_ignored
from kgqa.kg.lenient import parsed
from kgqa.kg.patterns import Edge, TooMany, patterns
from kgqa.kg.terms import Entity, Hop, Literal, Term


class Unreadable(ValueError):
    """No relation chain can be read out of a query; the message is one line."""


@dataclass(frozen=True, slots=True)
class Path:
    """The hops from a constant of a query to its answer, in the order they are taken."""

    start: Term
    hops: tuple[Hop, ...]

    def __str__(self) -> str:
        """Draw the hops as arrows from the constant."""
        return " ".join([str(self.start), *map(str, self.hops)])


@dataclass(frozen=True, slots=True)
class Reading:
    """What a query asks for, as relation chains.

    ``alternatives`` (from UNION, VALUES, OPTIONAL, ``|``) are each a set of branches: an
    answer is at the end of every branch of at least one of them. A constant that occurs in
    two patterns has two branches. Branches are in order of length, then of their hops.
    """

    answer: str
    """The variable that is projected, without ``?``; its count, if that is asked for."""
    alternatives: tuple[tuple[Path, ...], ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        """The branches of all alternatives, each once, in order of length, then of their hops."""
        return _ordered(path for branches in self.alternatives for path in branches)


def read(query: str) -> Reading:
    """Read a SELECT query; of several projected variables the first is the answer.

    Raises:
        Unreadable: if it is no SELECT, does not parse, or joins no constant to its answer.
    """
    try:
        tree, root = parsed(query)
    except Exception as error:  # besides KGRejected, whatever rdflib and pyparsing raise
        reason = " ".join(str(error).split())[:200]
        raise Unreadable(f"not a SPARQL query: {reason or type(error).__name__}") from None
    if root.name != "SelectQuery":
        raise Unreadable("only a SELECT asks for something that a chain can lead to")
    if not root.PV:
        raise Unreadable("the query has no variable that could be its answer")
    answer, *others = root.PV
    if others and tree.projection is None:
        raise Unreadable("SELECT * does not say which of its variables is the answer")
    try:
        found = [_branches(each.filled, each.source(answer)) for each in patterns(root.p)]
    except TooMany as error:
        raise Unreadable(str(error)) from None
    alternatives = tuple(dict.fromkeys(filter(None, found)))
    if not alternatives:
        raise Unreadable(f"no relation joins a constant of the query to its answer ?{answer}")
    return Reading(str(answer), alternatives)


def _branches(edges: Iterable[Edge], answer: Any) -> tuple[Path, ...]:
    """Give the paths from every constant that is joined to the answer."""
    steps = [step for edge in edges for step in _steps(edge)]
    ways = _ways(steps, answer)
    return _ordered(
        Path(_term(start), (hop, *ways[node]))
        for start, hop, node in steps
        if _is_constant(start) and node in ways
    )


def _steps(edge: Edge) -> Iterator[tuple[Any, Hop, Any]]:
    """Give an edge as a hop from either of its ends to the other."""
    relation = str(edge.relation)
    if not _is_constant(edge.relation) or is_ignored(relation):
        return
    try:
        hop = Hop(relation)
    except ValueError as error:
        raise Unreadable(f"the query holds an unusable relation: {error}") from None
    yield edge.start, hop, edge.end
    yield edge.end, hop.inverse, edge.start


def _ways(steps: Iterable[tuple[Any, Hop, Any]], answer: Any) -> dict[Any, tuple[Hop, ...]]:
    """Give the shortest hops from each variable to the answer; of several the first in order."""
    within = [step for step in steps if not _is_constant(step[0])]
    ways: dict[Any, tuple[Hop, ...]] = {} if _is_constant(answer) else {answer: ()}
    reached = ways
    while reached:
        nearer, reached = reached, {}
        for start, hop, node in within:
            if node in nearer and start not in ways:
                way = (hop, *nearer[node])
                reached[start] = min(way, reached.get(start, way))
        ways = {**ways, **reached}
    return ways


def _is_constant(node: Any) -> bool:
    from rdflib import Literal as Value, URIRef

    return isinstance(node, URIRef | Value)


def _term(node: Any) -> Term:
    from rdflib import URIRef

    try:
        if isinstance(node, URIRef):
            return Entity(str(node))
        return Literal(str(node), str(node.datatype or f"{XSD}string"), str(node.language or ""))
    except ValueError as error:
        raise Unreadable(f"the query holds an unusable constant: {error}") from None


def _ordered(paths: Iterable[Path]) -> tuple[Path, ...]:
    def key(path: Path) -> tuple[Any, ...]:
        return len(path.hops), path.hops, isinstance(path.start, Literal), path.start

    return tuple(sorted(set(paths), key=key))
