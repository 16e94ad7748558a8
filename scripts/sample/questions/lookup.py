"""The finished graph as questions need it: topics by name, queries, paths, names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypeAlias

from pyoxigraph import Literal, NamedNode, QuerySolutions, RdfFormat, Store

from kgqa.scripts.sample.graph import BASE, RDF_TYPE, RDFS_LABEL, SKOS_ALT_LABEL
from kgqa.scripts.sample.questions.draft import Path, Topic

Term: TypeAlias = NamedNode | Literal

_PLACES = {"Airport", "City", "County", "Region", "Subdivision"}
_CLEARLY_LARGER = 10


class QuestionError(ValueError):
    """A draft that does not make a good question on this graph."""


class _Bearer(NamedTuple):
    """An entity that bears a name."""

    address: str
    kind: str
    population: int

    def outranks(self, other: "_Bearer") -> bool:
        """Whether the name alone means this one: everyone says Paris and means the city."""
        if other.kind not in _PLACES:
            return False
        return self.kind not in _PLACES or self.population > _CLEARLY_LARGER * other.population


class Lookup:
    """A graph in memory, given as lines of N-Triples."""

    def __init__(self, triples: Iterable[str]) -> None:
        """Load the triples."""
        self._store = Store()
        self._store.bulk_load("".join(triples).encode(), format=RdfFormat.N_TRIPLES)

    def find(self, topic: Topic) -> NamedNode:
        """The entity a question means by a name.

        Raises:
            QuestionError: Nothing of that class has the name, or readers may think of another.
        """
        bearers = self._bearers[topic.name.casefold()]
        meant = [bearer for bearer in bearers if bearer.kind == topic.kind]
        if not meant:
            raise QuestionError(f"no {topic.kind} is called {topic.name}")
        best = max(meant, key=lambda bearer: bearer.population)
        rivals = [other.address for other in bearers if other != best and not best.outranks(other)]
        if rivals:
            raise QuestionError(f"{topic.name} may also mean {rivals}")
        return NamedNode(best.address)

    def is_name(self, name: str) -> bool:
        """Whether anything bears a name, in any case."""
        return name.casefold() in self._bearers

    def select(self, query: str) -> list[Term]:
        """The first column of a query's solutions."""
        solutions = self._store.query(query)
        if not isinstance(solutions, QuerySolutions):
            raise QuestionError(f"not a SELECT query: {query}")
        return [term for term in (solution[0] for solution in solutions) if isinstance(term, Term)]

    def walk(self, start: NamedNode, path: Path) -> set[Term]:
        """Every node and literal at the end of a path."""
        frontier: set[Term] = {start}
        for hop in path:
            frontier = {end for node in frontier for end in self._step(node, hop)}
        return frontier

    def name(self, term: Term) -> str:
        """The English label of an entity, or the lexical form of a literal."""
        if isinstance(term, Literal):
            return term.value
        for quad in self._store.quads_for_pattern(term, NamedNode(RDFS_LABEL), None):
            if isinstance(quad.object, Literal) and quad.object.language == "en":
                return quad.object.value
        raise QuestionError(f"{term} has no English name")

    def _step(self, node: Term, hop: str) -> Iterator[Term]:
        relation = NamedNode(f"{BASE}r/{hop.removeprefix('^')}")
        if hop.startswith("^"):
            for quad in self._store.quads_for_pattern(None, relation, node):
                if isinstance(quad.subject, NamedNode):
                    yield quad.subject
        elif isinstance(node, NamedNode):
            for quad in self._store.quads_for_pattern(node, relation, None):
                if isinstance(quad.object, Term):
                    yield quad.object

    @cached_property
    def _bearers(self) -> dict[str, set[_Bearer]]:
        kinds = dict(self._pairs(RDF_TYPE))
        populations = dict(self._pairs(f"{BASE}r/population"))
        found: dict[str, set[_Bearer]] = defaultdict(set)
        for predicate in (RDFS_LABEL, SKOS_ALT_LABEL):
            for address, name in self._pairs(predicate):
                kind = kinds.get(address, "").removeprefix(f"{BASE}c/")
                found[name.casefold()].add(_Bearer(address, kind, int(populations.get(address, 0))))
        return found

    def _pairs(self, predicate: str) -> Iterator[tuple[str, str]]:
        for quad in self._store.quads_for_pattern(None, NamedNode(predicate), None):
            if isinstance(quad.subject, NamedNode) and isinstance(quad.object, Term):
                yield quad.subject.value, quad.object.value
