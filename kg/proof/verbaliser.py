"""An answer query in words: what it asks for, by the names that the graph has.

The words are made from the query alone: they say what it asks for, whatever was meant. A node is said by
the relations that lead to it ("the capital of Peru"), by those that it has ("things whose capital is Lima"),
or as a member of its class. Brackets hold together what could be read in two ways.

>>> lima, capital = Entity("http://x/Lima", "Lima"), Hop("http://x/capital", forward=False)
>>> branch = Branch(Chain(lima, (capital, Hop("http://x/officialCurrency"))), (1, 2))
>>> verbalise(AnswerQuery((branch,), 2))
'the official currency of something whose capital is Lima'
>>> many = Condition(1, (Hop("http://x/population"),), ">", Literal("5"))
>>> verbalise(AnswerQuery((branch,), 2, (many,), Aggregate("count")))
'the number of official currencies of something whose capital is Lima and whose population is more than 5'
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from kgqa.kg.phrases import be, is_verbal, list_words, of_which, say_relation, say_term, say_terms, with_verb
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Operator, Pick
from kgqa.kg.proof.values import kind_of
from kgqa.kg.sparql.derived import BROADER, SUBCLASS, leads_to_members
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, one_line
from kgqa.kg.text import in_plural

_COMPARED: dict[Operator, tuple[str, str]] = {
    "!=": ("other than ", "other than "),
    "<": ("less than ", "before "),
    "<=": ("at most ", "not after "),
    ">": ("more than ", "after "),
    ">=": ("at least ", "not before "),
    "year": ("in ", "in "),
    "type": ("of the type ", "of the type "),
}
"""How a comparison is said of numbers, and of dates."""

_EXTREMES = {"min": ("smallest", "earliest"), "max": ("largest", "latest")}

SOMETHING, THINGS = "something", "things"


def verbalise(query: AnswerQuery) -> str:
    """Return what an answer query asks for, as a noun phrase on one line."""
    if query.ask:
        return _claim(query)
    words, computed = _Words(query), query.aggregate
    if computed is None:
        return words.node(query.returned, thing=THINGS).text
    these = words.node(query.returned, several=True).text
    if computed.function == "count":
        return f"the number of {these}"
    best = _EXTREMES[computed.function.removeprefix("arg")][computed.by == "date"]
    if computed.function in _EXTREMES:
        return f"the {best} of {these}"
    if computed.place is None or computed.place == query.returned:
        return f"the one {_with_extreme(computed, best, 'it')} among {these}"
    return f"those among {these} {_with_extreme(computed, best, f'the {words.labels[computed.place]}')}"


def _claim(query: AnswerQuery) -> str:
    """Say what is asked for yes or no: of an entity, where the answers are held to one."""
    for number, branch in enumerate(query.branches):
        *before, last = branch.chain.constraints or [None]
        held = last.entities if last and not branch.others else ()
        if last and len(held) == 1 and branch.places[last.depth - 1] == query.returned:
            free = replace(branch, chain=replace(branch.chain, constraints=tuple(before)))
            branches = (*query.branches[:number], free, *query.branches[number + 1 :])
            said = _Words(replace(query, branches=branches)).node(query.returned)
            return f"whether {say_term(held[0])} is {_one_of(said)}"
    said = _Words(query).node(query.returned)
    return f"whether there {be(said.several)} {said.text}"


def _with_extreme(computed: Aggregate, best: str, node: str) -> str:
    """Say that a value of a node decides: of what is returned (``it``), or of another."""
    relations = [(say_relation(hop), hop.forward) for hop in computed.attribute]
    if node == "it" and len(relations) == 1 and relations[0][1] and not is_verbal(relations[0][0]):
        return f"with the {best} {relations[0][0]}"
    for relation, forward in relations:
        if forward:
            node = of_which(relation, node)
        else:
            node = (
                f"what {with_verb(relation)} {node}"
                if is_verbal(relation)
                else f"what has {node} as {relation}"
            )
    return f"for which {node} is {best}"


class _Said(NamedTuple):
    """Words for a node; whether they are of several things, and more than a name of it."""

    text: str
    several: bool = False
    is_long: bool = False


def _one_of(said: _Said) -> str:
    return f"one of the {said.text}" if said.several else said.text


def _related(hop: Hop, other: _Said, several: bool) -> str:
    """Say of a node what it is joined to by a hop from it."""
    relation, text = say_relation(hop), other.text
    if hop.forward and is_verbal(relation):
        return f"that {with_verb(relation, several=several)} {text}"
    if hop.forward:
        return (
            f"with any {relation}"
            if text in {SOMETHING, str(ANY)}
            else f"whose {relation} is {_one_of(other)}"
        )
    if is_verbal(relation):
        return f"that {text} {with_verb(relation, several=other.several)}"
    return f"that {be(several)} {of_which(relation, text, several=several)}"


Clause = Callable[[bool], str]
"""What is true of a node, as it is said of one thing or of several."""


def _held(branch: Branch, chain: Chain, places: Sequence[int]) -> Iterator[tuple[int, Clause]]:
    """Yield what a chain is held to, and that it does not return."""
    for each in chain.constraints:
        yield places[each.depth - 1], _is(say_terms(each.entities))
    if branch.fresh and chain.topic != ANY and chain.hops:
        yield places[-1], _is(f"not {say_term(chain.topic)}")


def _is(said: str) -> Clause:
    return lambda several: f"that {be(several)} {said}"


def _picked(pick: Pick) -> Clause:
    words = one_line(pick.words) or say_terms(pick.terms)
    return lambda several: f"that the model has picked ({words})"


def _true(condition: Condition) -> Clause:
    """Return what a condition says of its node."""
    hops, operator, value = condition.attribute, condition.operator, condition.value
    said = say_term(value) if value else ""
    compared = _COMPARED.get(operator, ("", ""))[isinstance(value, Literal) and kind_of(value) == "date"]
    relations = [say_relation(hop) for hop in hops]
    has = bool(hops) and hops[-1].forward and not is_verbal(relations[-1])

    def clause(several: bool) -> str:
        told, thing = f"{be(several and not hops)} {compared}{said}", said or SOMETHING
        if operator == "contains":
            told = f"contain{'s' * (not several or bool(hops))} {said}"
            thing = f"{SOMETHING} that {told}"
        elif compared:
            thing = f"{SOMETHING} {compared}{said}"
        if not hops:
            return f"that {told}"
        if has and operator == "!=":
            words = f"with any {relations[-1]} {compared}{said}"
        elif has and value:
            words = f"whose {relations[-1]} {told}"
        else:
            words = _related(hops[-1], _Said(thing), several and len(hops) == 1)
        return _related(hops[0], _Said(f"{SOMETHING} {words}"), several) if len(hops) > 1 else words

    def negation(several: bool) -> str:
        if has and len(hops) == 1:
            return f"whose {relations[0]} is not {said}" if value else f"without any {relations[0]}"
        return f"excluding those {clause(True)}"

    return negation if operator == "not exists" else clause


class _Edge(NamedTuple):
    """A hop of a chain, between two places or from its topic."""

    start: int | Entity
    hop: Hop
    end: int

    @property
    def members_of(self) -> str:
        """The class that the hop leads to the members of; empty for any other."""
        is_class = leads_to_members(self.hop) and self.hop.relation not in {SUBCLASS, BROADER}
        return say_term(self.start) if is_class and isinstance(self.start, Entity) else ""


class _Words:
    """The words for a query's nodes; each hop is said once, by the first of its nodes that is said.

    Attributes:
        labels: What each place that was said is called in a word or two.
    """

    def __init__(self, query: AnswerQuery) -> None:
        self.labels: dict[int, str] = {}
        self._free = count(-1, -1)
        self._edges: list[_Edge] = []
        self._clauses: list[tuple[int, Clause]] = []
        self._united = [each for each in query.branches if each.others and each.chain.hops]
        self._topics = {
            branch.places[0]: say_terms([chain.topic for chain in branch.chains])
            for branch in query.branches
            if not branch.chain.hops
        }
        for branch in query.branches:
            if branch not in self._united:
                self._add(branch, branch.chain, branch.places)
        self._clauses += [(each.place, _true(each)) for each in query.conditions]
        self._clauses += [(each.place, _picked(each)) for each in query.picked]

    def _add(self, branch: Branch, chain: Chain, places: Sequence[int]) -> None:
        starts: list[int | Entity] = [chain.topic, *places]
        edges = [_Edge(*each) for each in zip(starts, chain.hops, places, strict=False)]
        self._edges = [*dict.fromkeys([*self._edges, *edges])]
        self._clauses = [*self._clauses, *_held(branch, chain, places)]

    def node(self, place: int, *, several: bool = False, thing: str = SOMETHING) -> _Said:
        """Say what is at a place: its class, or what it is of what, and what is true of it."""
        if place in self.labels:
            return _Said(f"the same {self.labels[place]}")
        edges = [each for each in self._edges if place in (each.start, each.end)]
        self._edges = [each for each in self._edges if each not in edges]
        classes = [each.members_of for each in edges if each.end == place and each.members_of]
        hops = [
            (each.hop.inverse, each.start) if each.end == place else (each.hop, each.end)
            for each in edges
            if each.end != place or not each.members_of
        ]
        hops.sort(key=lambda each: each[0].forward)  # what it is of what comes first
        topic = self._topics.pop(place, "")
        united = [each for each in self._united if place in each.shared]
        self._united = [each for each in self._united if each not in united]
        clauses = [clause for at, clause in self._clauses if at == place]
        self._clauses = [each for each in self._clauses if each[0] != place]
        brackets = len(classes) + len(hops) + len(united) + len(clauses) + bool(topic) > 1

        def bracketed(said: _Said, hop: Hop | None = None) -> _Said:
            inside = hop is not None and not hop.forward and is_verbal(say_relation(hop))
            return said._replace(text=f"({said.text})") if said.is_long and (brackets or inside) else said

        named = hops[0] if hops and not (hops[0][0].forward or classes or topic) else None
        self.labels[place] = (classes or [say_relation(named[0]) if named else "thing"])[0]
        joined = [(hop, bracketed(self._end(end, place), hop)) for hop, end in hops]
        unions = [bracketed(self._union(each, place, several)) for each in united]
        is_long = bool(united)
        if classes:
            head, several = in_plural(classes.pop(0)), True
        elif topic:
            head = topic
        elif named:
            hop, other = joined.pop(0)
            head = of_which(say_relation(hop), other.text, several=several)
            is_long = other.is_long or is_verbal(say_relation(hop))
        elif unions:
            head, several, _ = unions.pop(0)
        else:
            several = several or thing == THINGS
            head = THINGS if several else thing
        words = [_related(hop, other, several) for hop, other in joined]
        words += [f"that {be(several)} {said.text}" for said in unions]
        words += [f"that {be(several)} of the type {each}" for each in classes]
        words = [*dict.fromkeys([*words, *(clause(several) for clause in clauses)])]
        return _Said(" ".join(filter(None, (head, " and ".join(words)))), several, is_long or bool(words))

    def _end(self, end: int | Entity, place: int) -> _Said:
        """Say what a hop from a place leads to."""
        if isinstance(end, Entity):
            return _Said(say_term(end))
        return _Said("itself") if end == place else self.node(end)

    def _union(self, branch: Branch, place: int, several: bool) -> _Said:
        """Say a node by the alternatives of a branch, each with all that is joined to it on its way."""
        every = []
        for chain in branch.chains:
            fork = copy(self)
            fork.labels = {at: label for at, label in self.labels.items() if at != place}
            fork._topics = dict(self._topics)
            alike = chain.depth == len(branch.places)
            own = [next(self._free) for _ in chain.hops[1:]]
            fork._add(branch, chain, branch.places if alike else [*own, branch.places[-1]])
            every.append(fork.node(place, several=several))
        self._edges, self._clauses, self._united = fork._edges, fork._clauses, fork._united
        self._topics, self.labels = fork._topics, fork.labels
        texts = [*dict.fromkeys(each.text for each in every)]
        return _Said(list_words(texts, "or"), any(each.several for each in every), True)
