"""A query in the making: variables, joined by the fewest steps over the classes of the graph.

Each thing that a question names is joined to those that are there where it costs least: a step costs less
where a word of the question says its relation.
"""

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

from kgqa.kg.dialects import RDF, RDFS, XSD
from kgqa.kg.drafts.description import DescribedProperty, FoundTerm
from kgqa.kg.sparql.patterns import serialise, write_iri
from kgqa.kg.terms import Entity, Literal, Term
from kgqa.models.offline.vocabulary import NUMBERS, Owned, Vocabulary

MAX_STEPS = 3  # of a join
SAID_BONUS = 0.5  # of a step whose relation a word of the question says
RARE_COST = 0.2  # of a property that hardly any member has
VALUE_COST = 0.5  # of a step to a value
FAR_COST = 0.3  # of what is not joined to what it is said beside
BACK_COST = 0.5  # of a join by the relation that has led there, as in "the same maker"
TEXT_COST = 0.5  # of a text where an entity has the name
UNLIKE_COST = 1.0  # of a property whose name is not at all what is said


class Step(NamedTuple):
    """A property from one variable to another."""

    start: int
    part: DescribedProperty
    forward: bool
    end: int


@dataclass(frozen=True)
class Variable:
    """What stands for things of ``classes``, or for values where there are none.

    It is ``stated`` to be of a class where the question names this, and is one of ``terms`` if there are any.
    """

    name: str
    classes: frozenset[str] = frozenset()
    stated: str = ""
    terms: tuple[Term, ...] = ()

    def __str__(self) -> str:
        """Write it in SPARQL, as what it is where it is one thing."""
        return _write_term(self.terms[0]) if len(self.terms) == 1 else f"?{self.name}"


Said = Callable[[str], float]  # how far the words of a question say the name of a relation: 0 to 1


class QueryTree:
    """Variables and the steps that join them; ``cost`` is what they cost in all."""

    def __init__(self, vocabulary: Vocabulary, said: Said) -> None:
        self.vocabulary, self._said = vocabulary, said
        self.variables: list[Variable] = []
        self.steps: list[Step] = []
        self.asked: int | None = None
        self._near: int | None = None
        self.cost = 0.0

    def add_class(self, id: str, *, stated: bool = True) -> int | None:
        """Return the variable of a class, a new one where none is free; None where nothing joins it."""
        kinds = self.vocabulary.kinds(id)
        free = (
            at
            for at, each in enumerate(self.variables)
            if each.classes & kinds and not (each.stated or each.terms) and at != self.asked
        )
        if (at := next(free, None)) is None:
            if not self.variables:
                at = self._new(Variable(self._name(id), kinds))
            elif (at := self._join(kinds)) is None:
                return None
        if stated:
            self.variables[at] = replace(self.variables[at], stated=id, name=self._name(id))
        return at

    def add_term(
        self, found: Sequence[FoundTerm], near: int | None = None, others: Sequence[FoundTerm] = ()
    ) -> int | None:
        """Join the one of some terms that is nearest, best to the variable ``near`` which it is said.

        One of the ``others`` may stand in its place.
        """
        self._near = near
        named = any(isinstance(each.term, Entity) for each in found)
        routes = [
            (route[0] + TEXT_COST * (named and isinstance(each.term, Literal)), each)
            for each in found
            if (route := self._route_to(each)) is not None
        ]
        if not routes:
            return None
        nearest = min(routes, key=lambda pair: pair[0])[1]
        if isinstance(nearest.term, Literal):
            at = self._join_value(nearest)
        elif (at := self._free(nearest)) is None:
            at = self._join(frozenset(nearest.classes or {""}), self._last(nearest))
        self._near = None
        if at is not None:
            meant = [nearest.term, *(each.term for each in others if type(each.term) is type(nearest.term))]
            self.variables[at] = replace(self.variables[at], terms=tuple(dict.fromkeys(meant)))
        return at

    def add_property(
        self, owned: Sequence[Owned], near: int | None = None, *, known_only: bool = False
    ) -> int | None:
        """Return the variable that a property leads to, the nearest of some; one that is there where it is.

        None where none can be joined, or with ``known_only`` none is there.
        """
        self._near = near
        found: list[tuple[float, int, Owned, int | None]] = []
        for place, each in enumerate(owned):
            unlike = UNLIKE_COST * (1 - each.score)
            for step in self.steps:
                if step.part.relation == each.part.relation:
                    found.append((unlike * VALUE_COST, place, each, step.end))
            route = None if known_only else self._route(self.vocabulary.kinds(each.owner))
            if route is not None:
                found.append((route[0] + VALUE_COST + unlike + self._rare(each.part), place, each, None))
        if not found:
            return None
        cost, _, best, known = min(found, key=lambda each: each[:2])
        if known is not None:
            self.cost += cost
            return known
        owner = self._join(self.vocabulary.kinds(best.owner))
        self._near = None
        self.cost += UNLIKE_COST * (1 - best.score) + VALUE_COST + self._rare(best.part)
        return None if owner is None else self.step_from(owner, best.part)

    def step_from(self, start: int, part: DescribedProperty) -> int:
        """Return a new variable that a property of another leads to."""
        end = self._new(Variable(self._name(part.relation), self.vocabulary.ends(part)))
        self.steps.append(Step(start, part, True, end))
        return end

    def bind(self, at: int, term: Term) -> None:
        """Let a variable be one thing."""
        self.variables[at] = replace(self.variables[at], terms=(term,))

    def number_at(self, at: int) -> int:
        """Return the variable of the number that a variable stands for: itself where it is a value."""
        if (part := self.part_to(at)) and (measured := self.vocabulary.number_of(part)):
            known = (s.end for s in self.steps if s.start == at and s.part == measured.part)
            return next(known, None) or self.step_from(at, measured.part)
        return at

    def part_to(self, at: int) -> DescribedProperty | None:
        """Return the property that leads to a variable."""
        return next((each.part for each in self.steps if each.end == at and each.forward), None)

    def is_number(self, at: int) -> bool:
        """Return whether the values of a variable are numbers, as they are or as text."""
        part = self.part_to(at)
        return part is not None and not part.joins and bool(NUMBERS & {*part.kinds})

    def way(self, start: int, end: int) -> list[int]:
        """Return the variables from one to another."""
        routes = [[start]]
        for route in routes:
            if route[-1] == end:
                return route
            for step in self.steps:
                for one, two in ((step.start, step.end), (step.end, step.start)):
                    if one == route[-1] and two not in route:
                        routes.append([*route, two])
        return [start, end]

    def repeats(self, at: int) -> bool:
        """Return whether what has a value may have several rows with it."""
        seen = [self.owner(at)]
        for here in seen:
            for step in self.steps:
                for one, two, single in (
                    (step.start, step.end, step.forward and step.part.is_single),
                    (step.end, step.start, not step.forward and step.part.is_single),
                ):
                    if one == here and two not in seen:
                        if not (single or self.variables[two].terms):
                            return True
                        seen.append(two)
        return False

    def owner(self, at: int) -> int:
        """Return the variable of what has a value: the nearest of a class that is named, or the first."""
        while at and not self.variables[at].stated:
            at = next((s.start for s in self.steps if s.end == at), 0)
        return at

    def patterns(
        self, optional: Collection[int] = (), denied: Sequence[Collection[int]] = ()
    ) -> Iterator[str]:
        """Yield the patterns in SPARQL; those that lead to an ``optional`` variable need not fit.

        Those of each group of ``denied`` variables must not fit.
        """
        groups: list[list[str]] = [[] for _ in (*denied, ())]

        def group(*variables: int) -> list[str]:
            found = (each for inner, each in zip(denied, groups, strict=False) if {*variables} & {*inner})
            return next(found, groups[-1])

        for at, each in enumerate(self.variables):
            if each.stated and len(each.terms) != 1:
                below = self.vocabulary.kinds(each.stated) - {each.stated}
                path = f"<{RDF}type>/<{RDFS}subClassOf>*" if below else "a"
                group(at).append(f"{each} {path} {write_iri(each.stated)} .")
            if len(each.terms) > 1:
                group(at).append(f"VALUES {each} {{ {' '.join(map(_write_term, each.terms))} }}")
        for step in sorted(self.steps, key=lambda step: step.end in optional):
            ends = self.variables[step.start], self.variables[step.end]
            start, end = ends if step.forward else ends[::-1]
            text = f"{start} {write_iri(step.part.relation)} {end} ."
            whole = f"OPTIONAL {{ {text} }}" if step.end in optional else text
            group(step.start, step.end).append(whole)
        yield from groups.pop()
        yield from (f"FILTER NOT EXISTS {{ {' '.join(each)} }}" for each in groups)

    def number_text(self, at: int) -> str:
        """Write a variable as a number."""
        part, name = self.part_to(at), self.variables[at].name
        is_text = part is not None and "number as text" in part.kinds
        return f"<{XSD}decimal>(?{name})" if is_text else f"?{name}"

    def _new(self, each: Variable) -> int:
        self.variables.append(each)
        return len(self.variables) - 1

    def _name(self, id: str) -> str:
        words = re.sub(r"\W+", "_", re.split(r"[/#]", id)[-1], flags=re.ASCII).strip("_") or "x"
        taken = {each.name for each in self.variables}
        base = f"x{words}" if words[0].isdigit() else words
        return next(n for at in count() if (n := f"{base}{at or ''}") not in taken)

    def _rare(self, part: DescribedProperty) -> float:
        return RARE_COST * (1 - part.share)

    def _hop_cost(self, part: DescribedProperty) -> float:
        return 1 - SAID_BONUS * self._said(part.words) + self._rare(part)

    def _route(
        self, goals: Collection[str], last: Collection[tuple[str, bool]] | None = None
    ) -> tuple[float, int, tuple[tuple[DescribedProperty, bool, str], ...]] | None:
        """Return the cheapest way to one of some classes: its cost, where it begins, its steps."""
        order = count()
        queue: list[tuple[float, int, int, str, tuple[tuple[DescribedProperty, bool, str], ...]]] = [
            (FAR_COST * (self._near not in (None, at)), next(order), at, each_class, ())
            for at, each in enumerate(self.variables)
            for each_class in sorted(each.classes)
        ]
        seen: set[tuple[int, str, bool]] = set()
        heapq.heapify(queue)
        while queue:
            cost, _, at, here, steps = heapq.heappop(queue)
            arrived = last is None or (bool(steps) and (steps[-1][0].relation, steps[-1][1]) in last)
            if here in goals and arrived:
                return cost, at, steps
            if len(steps) == MAX_STEPS or (at, here, arrived) in seen:
                continue
            seen.add((at, here, arrived))
            for part, forward, other in self.vocabulary.joins[here]:
                back = any(
                    s.part.relation == part.relation and at == (s.end if s.forward != forward else s.start)
                    for s in self.steps
                )
                price = cost + self._hop_cost(part) + BACK_COST * (back and not steps)
                heapq.heappush(queue, (price, next(order), at, other, (*steps, (part, forward, other))))
        return None

    def _join(self, goals: Collection[str], last: Collection[tuple[str, bool]] | None = None) -> int | None:
        """Return a variable of one of some classes, to which the cheapest way is made."""
        route = self._route(goals, last)
        if route is None:
            return None
        cost, at, steps = route
        self.cost += cost
        for part, forward, other in steps:
            start, at = (
                at,
                self._new(Variable(self._name(other or part.relation), self._kinds_at(part, forward, other))),
            )
            self.steps.append(Step(start, part, forward, at))
        return at

    def _kinds_at(self, part: DescribedProperty, forward: bool, other: str) -> frozenset[str]:
        return self.vocabulary.ends(part) if forward else self.vocabulary.kinds(other)

    def _last(self, found: FoundTerm) -> Collection[tuple[str, bool]] | None:
        return {(hop.relation, not hop.forward) for hop in found.hops} or None

    def _free(self, found: FoundTerm) -> int | None:
        """Return a variable that an entity can be: of its class, reached as it is linked."""
        classes, last = {*found.classes} or {""}, self._last(found)
        order = sorted(range(len(self.variables)), key=lambda at: at != self._near)
        for at, each in ((at, self.variables[at]) for at in order):
            arrived = next(((s.part.relation, s.forward) for s in self.steps if s.end == at), None)
            leaving = {(s.part.relation, not s.forward) for s in self.steps if s.start == at}
            fits = last is None or (arrived in last if arrived else leaving <= {*last})
            if at != self.asked and not each.terms and each.classes & classes and fits:
                return at
        return None

    def _route_to(self, found: FoundTerm) -> tuple[float, int, object] | None:
        if isinstance(found.term, Entity):
            if (at := self._free(found)) is not None:
                return 0.0, at, ()
            return self._route(frozenset(found.classes or {""}), self._last(found))
        routes = [
            (route[0] + self._hop_cost(owned.part), route[1], owned)
            for owned in self._owners(found)
            if (route := self._route(self.vocabulary.kinds(owned.owner))) is not None
        ]
        return min(routes, key=lambda each: each[0], default=None)

    def _owners(self, found: FoundTerm) -> Iterable[Owned]:
        relations = {hop.relation for hop in found.hops if not hop.forward}
        return (
            Owned(owner, part, 1.0) for owner, part in self.vocabulary.owned() if part.relation in relations
        )

    def _join_value(self, found: FoundTerm) -> int | None:
        best = self._route_to(found)
        if best is None or not isinstance(best[2], Owned):
            return None
        owner = self._join(self.vocabulary.kinds(best[2].owner))
        if owner is None:
            return None
        self.cost += self._hop_cost(best[2].part)
        return self.step_from(owner, best[2].part)


def _write_term(term: Term) -> str:
    return write_iri(term.id) if isinstance(term, Entity) else serialise(term)
