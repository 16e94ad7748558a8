"""The types of an answer query: relation chains that meet, conditions, an aggregate, what a model picked.

The nodes of chains are *places*, numbered by the writer of the query: chains meet where they name the same
place, at their ends or between. The bindings of one place are the answers.

>>> from kgqa.kg.terms import Entity
>>> ulm, born, wrote = Entity("http://x/Ulm"), Hop("http://x/born_in", forward=False), Hop("http://x/wrote")
>>> late = Condition(2, (Hop("http://x/year"),), ">", Literal("1905"), "after 1905")
>>> query = AnswerQuery((Branch(Chain(ulm, (born, wrote)), (1, 2)),), 2, (late,))
>>> AnswerQuery(query.branches, 3)
Traceback (most recent call last):
...
ValueError: no branch binds place 3
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as Choice, get_args

import inflection

from kgqa.kg.proof.values import Kind, kind_of, year_of
from kgqa.kg.terms import Chain, Hop, Literal, Term

Operator = Choice["=", "!=", "<", "<=", ">", ">=", "contains", "year", "exists", "not exists", "type"]
Function = Choice["count", "min", "max", "argmin", "argmax"]

MAX_ATTRIBUTE_HOPS = 2
MAX_HOPS_IN_ALL = 100  # of all chains and attributes: rdflib's time grows with the square of the triples
MAX_TERMS_PICKED = 1_000
MAX_RANK = 100

_RANKS = {2: "second", 3: "third"}
_EXTREMES = {"min": ("smallest", "earliest"), "max": ("largest", "latest")}

_KINDS: dict[Operator, tuple[Kind, ...]] = {
    **dict.fromkeys(("=", "!=", "not exists"), ("entity", "number", "date", "text")),
    **dict.fromkeys(("<", "<=", ">", ">=", "year"), ("number", "date")),
    "contains": ("number", "date", "text"),
    "type": ("entity",),
}
"""What an operator compares with; `kind_of` a value."""


def _require(ok: bool, otherwise: str) -> None:
    if not ok:
        raise ValueError(otherwise)


@dataclass(frozen=True, slots=True)
class Branch:
    """A relation chain, and the place of the node after each hop; of a chain without hops, of its topic.

    A topic that the graph does not know binds nothing.

    Attributes:
        chain: The chain, held to entities where it is (`Chain.constraints`).
        places: One for each hop.
        others: Alternatives, united with ``chain``; they end at the same place. One of as many hops has
            the same places on its way, and may begin at another topic.
        fresh: No node after a chain's topic is that topic: what only returns to it is left out.
    """

    chain: Chain
    places: tuple[int, ...]
    others: tuple[Chain, ...] = ()
    fresh: bool = False

    def __post_init__(self) -> None:
        wanted = max(1, self.chain.depth)
        _require(len(self.places) == wanted, f"a branch of {wanted} nodes with {len(self.places)} places")
        _require(min(self.places) >= 0, "a place is a number from 0")
        alike = all(bool(other.hops) == bool(self.chain.hops) for other in self.others)
        _require(alike, "a topic is no alternative to a chain")

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chain and its alternatives."""
        return (self.chain, *self.others)

    @property
    def shared(self) -> frozenset[int]:
        """The places that each alternative binds: those of the others are nodes of one alternative."""
        alike = all(other.depth == self.chain.depth for other in self.others)
        return frozenset(self.places if alike else self.places[-1:])


@dataclass(frozen=True, slots=True)
class Condition:
    """What is true of a node: of some value of an attribute, or of the node itself.

    Values are compared by the kind of ``value``, whatever their datatype: as numbers; as dates, by the
    shorter of both precisions, so that 1961 equals 3 May 1961, and times of day in UTC; as text, whatever
    the language (with ``contains`` whatever the case). What cannot be compared is no such value. ``!=`` asks
    for a value that differs; that no value is equal is ``not exists`` with this value.

    Attributes:
        place: The node.
        attribute: Hops to the value, none for the node itself; the node between two has no place.
        operator: ``year`` compares the year of a date, ``type`` asks for an entity of this type, its
            subclasses not followed.
        value: None with ``exists``.
        words: The condition as the question has it; they are no part of the SPARQL.
        remembered: Whether only a model knows that this value is meant; no part of the SPARQL either.
        unknown: Whether a node without any value of the attribute meets it as well.
    """

    place: int
    attribute: tuple[Hop, ...]
    operator: Operator
    value: Term | None = None
    words: str = ""
    remembered: bool = False
    unknown: bool = False

    def __post_init__(self) -> None:
        _require(len(self.attribute) <= MAX_ATTRIBUTE_HOPS, f"more than {MAX_ATTRIBUTE_HOPS} hops to a value")
        named = f'"{self.operator}"'
        if "exists" in self.operator or self.unknown:
            _require(bool(self.attribute), f"{named} without an attribute")
            _require(not self.unknown or "exists" not in self.operator, f"{named} is of what is known")
        if self.value is None:
            _require("exists" in self.operator, f"{named} without a value")
            return
        shown, kinds = repr(str(self.value)), _KINDS.get(self.operator, ())
        _require(
            kind_of(self.value) in kinds, f"{named} goes with {' or '.join(kinds) or 'no value'}: {shown}"
        )
        if isinstance(self.value, Literal):
            _require(self.operator != "year" or year_of(self.value) is not None, f"no year: {shown}")
            _require(self.operator != "contains" or bool(self.value.value), f"{named} without text")


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What is computed of all answers: how many there are, or which of them are first or last.

    Attributes:
        function: ``count`` of distinct nodes; ``min`` and ``max`` of the answers' own values; ``argmin``
            and ``argmax`` by an attribute. All that tie are answers.
        attribute: The hops to the value that decides.
        place: The node that has it; None for the returned one.
        by: What is compared; other values take no part. A date that names no month or day is the first
            of those that it may be, a time of day is taken in UTC, to the second.
        rank: 2 for what has the second of the different values, from that end on.
    """

    function: Function
    attribute: tuple[Hop, ...] = ()
    place: int | None = None
    by: Choice["number", "date"] = "number"
    rank: int = 1

    def __post_init__(self) -> None:
        _require(len(self.attribute) <= MAX_ATTRIBUTE_HOPS, f"more than {MAX_ATTRIBUTE_HOPS} hops to a value")
        _require(self.function in get_args(Function), f'no function "{self.function}"')
        _require(1 <= self.rank <= (1 if self.function == "count" else MAX_RANK), f"no rank {self.rank}")
        by_attribute = self.function in {"argmin", "argmax"}
        given = bool(self.attribute) or self.place is not None
        _require(by_attribute or not given, f'"{self.function}" is of the answers themselves')
        _require(given or not by_attribute, f'"{self.function}" without an attribute')

    @property
    def extreme(self) -> str:
        """Which of the values it takes, in words.

        >>> [Aggregate("max", rank=rank).extreme for rank in (1, 2, 5)]
        ['largest', 'second largest', '5th largest']
        """
        best = _EXTREMES[self.function.removeprefix("arg")][self.by == "date"]
        rank = _RANKS.get(self.rank) or inflection.ordinalize(self.rank)
        return f"{rank} {best}" if self.rank > 1 else best


@dataclass(frozen=True, slots=True)
class Pick:
    """Terms that a model chose, by words that the graph could not check; a literal stands for its text."""

    place: int
    terms: tuple[Term, ...]
    words: str = ""

    def __post_init__(self) -> None:
        _require(bool(self.terms), "nothing is picked")
        _require(len(self.terms) <= MAX_TERMS_PICKED, f"more than {MAX_TERMS_PICKED} terms are picked")


@dataclass(frozen=True, slots=True)
class AnswerQuery:
    """What an answer comes down to: whatever binds the returned place.

    Answers are the distinct terms of the graph: two things of one name are two, and so are ``"1"`` and
    ``"1.0"``. Where a record has literals by their text, equal texts are one answer of it.

    Attributes:
        branches: Chains that meet, each connected with the returned place by places that they share.
        returned: The place of the answers.
        conditions: What is true of nodes.
        aggregate: What is computed of the answers.
        picked: What a model chose among them: without it, all is decided by the graph.
        ask: Whether there is any answer, instead of the answers.

    Raises:
        ValueError: if it makes no sense, naming why.
    """

    branches: tuple[Branch, ...]
    returned: int
    conditions: tuple[Condition, ...] = ()
    aggregate: Aggregate | None = None
    picked: tuple[Pick, ...] = ()
    ask: bool = False

    def __post_init__(self) -> None:
        bound = {place for branch in self.branches for place in branch.places}
        for place in self._used():
            _require(place in bound, f"no branch binds place {place}")
        connected = {self.returned}
        for _ in self.branches:
            connected |= {p for each in self.branches if connected & {*each.places} for p in each.places}
        _require(connected == bound, f"not connected with the answer: places {sorted(bound - connected)}")
        for branch in self.branches:
            elsewhere = {p for other in self.branches if other is not branch for p in other.places}
            inner = ({*branch.places} - branch.shared) & {*self._used(), *elsewhere}
            _require(not inner, f"only one alternative of a branch has place {sorted(inner)}")
        chains = [chain for branch in self.branches for chain in branch.chains]
        attributes = [self.aggregate.attribute] if self.aggregate else []
        attributes += [condition.attribute for condition in self.conditions]
        hops = sum(chain.depth for chain in chains) + sum(map(len, attributes))
        parts = hops + len(chains) + len(self.conditions)
        _require(parts <= MAX_HOPS_IN_ALL, f"more than {MAX_HOPS_IN_ALL} hops, chains and conditions")
        _require(not (self.ask and self.aggregate), "a question of yes or no has no aggregate")
        topics = self.topic_places
        _require(len(topics) == len({*topics}), "the topics of one place are alternatives of one branch")
        _require(not {*topics} & {*self._compared()}, "a topic has no value of its own")

    @property
    def topic_places(self) -> tuple[int, ...]:
        """The places of branches without hops."""
        return tuple(branch.places[0] for branch in self.branches if not branch.chain.hops)

    @property
    def has_one_row(self) -> bool:
        """Whether the answer is a number, or yes or no: Virtuoso cuts what is counted by a LIMIT."""
        return self.ask or (self.aggregate is not None and self.aggregate.function == "count")

    @property
    def computes_value(self) -> bool:
        """Whether the answer is computed of values, and no node of a chain."""
        return self.aggregate is not None and self.aggregate.function in {"count", "min", "max"}

    def _compared(self) -> Iterator[int]:
        """Yield the places of nodes that are to be values themselves."""
        for condition in self.conditions:
            if isinstance(condition.value, Literal) and not condition.attribute:
                yield condition.place
        yield from (pick.place for pick in self.picked if any(isinstance(t, Literal) for t in pick.terms))
        if self.aggregate and self.aggregate.function in {"min", "max"}:
            yield self.returned

    def _used(self) -> Iterator[int]:
        yield self.returned
        yield from (condition.place for condition in self.conditions)
        yield from (pick.place for pick in self.picked)
        if self.aggregate and self.aggregate.place is not None:
            yield self.aggregate.place
