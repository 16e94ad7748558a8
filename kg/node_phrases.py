"""Nodes of a graph that are joined, in words: each by what it is of what, and what is true of it.

A node is said by the relations that lead to it ("the capital of Peru"), by those that it has ("things whose
capital is Lima"), or as a member of its class. Brackets hold together what could be read in two ways.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import Any, NamedTuple

from kgqa.kg.phrases import (
    be,
    before_gap,
    is_noun,
    is_plural,
    is_verbal,
    list_words,
    of_which,
    plural_of,
    say_class,
    say_relation,
    say_term,
    singular_of,
    with_verb,
)
from kgqa.kg.sparql.derived import BROADER, SUBCLASS, leads_to_members
from kgqa.kg.terms import ANY, Entity, Hop

MAX_NESTED = 3
"""Alternatives within alternatives that are all said: their words are as many as their products."""

MAX_SUBJECT_CHARS = 100  # answers that stand before what they are; more stand behind it

SOMETHING, THINGS = "something", "things"

Clause = Callable[[bool], str]  # what is true of a node, as it is said of one thing or of several


class Phrase(NamedTuple):
    """Words for a node: in the plural or not, and whether they are long enough to need brackets.

    ``told`` is the phrase of a node known by a comparison alone; ``has_clauses`` tells whether more is
    known of it than its kind, ``is_nested`` whether that takes phrases of other nodes.
    """

    text: str
    is_plural: bool = False
    is_long: bool = False
    told: str = ""
    has_clauses: bool = False
    is_nested: bool = False

    @property
    def one_of_it(self) -> str:
        """The words for one of several, or for the one."""
        the = "" if "'s " in self.text.partition(" of ")[0] else "the "  # "China's languages spoken"
        return f"one of {the}{self.text}" if self.is_plural else self.text

    def bracketed(self, among_others: bool) -> "Phrase":
        """Return it with brackets where its words are many and others stand beside them."""
        return self._replace(text=f"({self.text})") if self.is_long and among_others else self


class Edge(NamedTuple):
    """A hop between two nodes, which have numbers, or from a named one."""

    start: int | Entity
    hop: Hop
    end: int

    @property
    def members_of(self) -> str:
        """The class that the hop leads to the members of, or to its kinds; empty for any other."""
        is_class = leads_to_members(self.hop) and self.hop.relation != BROADER
        if not (is_class and isinstance(self.start, Entity)):
            return ""
        return f"{'kind of ' * (self.hop.relation == SUBCLASS)}{say_class(self.start)}"


class Alternative(NamedTuple):
    """Edges and clauses that hold together where others may hold in their place."""

    edges: Sequence[Edge]
    clauses: Sequence[tuple[int, Clause]] = ()


class Union(NamedTuple):
    """Alternatives, and the nodes that all of them have."""

    nodes: frozenset[int]
    alternatives: Sequence[Alternative]


def say_equal(node: Phrase, answers: str, *, several: bool) -> str | None:
    """Return that a node is the answers, as a sentence without its full stop; None where it is nested."""
    if node.is_nested:
        return None
    words = f"the {node.text.removeprefix('the ')}"
    if node.has_clauses and len(answers) <= MAX_SUBJECT_CHARS:
        return f"{answers} {be(several)} {words}"
    return f"{words[:1].upper()}{words[1:]} {be(several)} {answers}"


def as_answers(several: bool) -> dict[str, Any]:
    """Return how `NodePhrases.node` says a node that is the answers, one or several."""
    return {"several": several, "each": not several, "thing": "ones" if several else "one"}


def say_related(hop: Hop, other: Phrase, several: bool) -> str:
    """Say of a node what it is joined to by a hop from it."""
    relation, text = say_relation(hop), other.text
    if hop.forward and is_verbal(relation):
        return f"that {with_verb(relation, several=several)} {text}"
    if hop.forward and text in {SOMETHING, str(ANY)}:
        return f"with any {relation}"
    if hop.forward and text == "it":
        return f"whose {relation} it is"
    if hop.forward and is_plural(relation) and not other.told:
        is_sure = is_noun(relation, had=hop.words.startswith("has"))  # "knows" may be a verb
        has = f"{relation} include" if is_sure else f'"{relation}" is'
        return f"whose {has} {other.one_of_it}"
    if hop.forward:
        return f"whose {relation} {other.told or f'is {other.one_of_it}'}"
    if is_verbal(relation) and not other.is_long:
        return f"that {text} {before_gap(with_verb(relation, several=other.is_plural))}"
    said = of_which(relation, text, several=several and not is_verbal(relation), is_long=other.is_long)
    one_of = "one of " * (not several and is_plural(relation) and not is_verbal(relation))
    return f"that {be(several)} {one_of}{said}"


class _Around(NamedTuple):
    """What is joined to a node: its classes, hops from it, alternatives, what is true of it, and its name."""

    classes: list[str]
    hops: list[tuple[Hop, int | Entity]]
    unions: list[Union]
    clauses: list[Clause]
    name: str

    def take_head(self, several: bool, *, verbal: bool, each: bool) -> tuple[str, bool]:
        """Return what the node is of what comes first, and whether several; a class it repeats goes."""
        hops, classes = self.hops, self.classes
        tail = say_relation(hops[0][0]) if hops and not (hops[0][0].forward or self.name) else ""
        if is_verbal(tail) and not verbal:
            tail = ""  # "something that", and not "what"
        tail, in_number = (singular_of(tail), str) if each else (tail, plural_of)
        if not (classes and f" {in_number(tail)}".endswith(f" {in_number(classes[0])}")):
            return ("" if classes else tail), several
        classes.pop(0)  # "customers of", and not "customers that are customers of"
        return tail, not each


class NodePhrases:
    """The words for nodes; each edge is said once, by the first of its nodes that is said.

    Attributes:
        labels: What each node that was said is called in a word or two.
        said: The edges and clauses that were said, in whichever alternative.
    """

    def __init__(
        self,
        edges: Iterable[Edge],
        clauses: Iterable[tuple[int, Clause]],
        unions: Iterable[Union] = (),
        named: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.labels: dict[int, str] = {}
        self.said: set[Edge | Clause] = set()
        self._edges, self._clauses = [*dict.fromkeys(edges)], [*clauses]
        self._unions, self._named, self._nested = [*unions], {**named}, 0

    def node(
        self,
        node: int,
        *,
        several: bool = False,
        thing: str = SOMETHING,
        each: bool = False,
        label: str = "thing",
    ) -> Phrase:
        """Say a node and all joined to it, as ``thing`` where nothing says it, ``label`` if said again."""
        if node in self.labels:
            return Phrase(f"the same {self.labels[node]}")
        around = classes, hops, unions, clauses, name = self._take(node)
        parts = len(classes[1:]) + len(hops) + len(unions) + len(clauses)
        is_bare = thing in {SOMETHING, THINGS}
        tail, several = around.take_head(several, verbal=is_bare and parts <= 1, each=each)
        self.labels[node] = (classes or [tail or label])[0]
        joined = [(hop, self._say_end(hop, end).bracketed(parts > 1)) for hop, end in hops]
        others = [self._union(union, node, several, thing) for union in unions]
        is_long = bool(unions)
        is_nested = is_long or any(other.is_long for _, other in joined)
        joined = _by_hop(joined)
        if classes:
            name, several = classes.pop(0), not each
            head = plural_of(name) if several else name
        elif name:
            head = name
        elif tail:
            _, other = joined.pop(0)
            several |= label != "thing" and is_plural(tail) and not is_verbal(tail)  # "one of" is said of it
            head = of_which(tail, other.text, several=several, is_long=other.is_long)
            is_long = other.is_long or is_verbal(tail)
            is_nested |= not is_bare and not is_noun(tail)  # may be a verb
        elif others:
            head, several, *_ = others.pop(0).bracketed(parts > 1)
        else:
            head, several = THINGS if several and thing == SOMETHING else thing, several or thing == THINGS
        either = [other._replace(text=f"either {other.text}").bracketed(parts > 1).text for other in others]
        told = [say_related(hop, other, several) for hop, other in joined]
        states = [*either, *(f"of the type {each}" for each in classes)]
        told += [f"that {be(several)} {state}" for state in states]
        words = [*dict.fromkeys([*told, *(clause(several) for clause in clauses)])]
        if name and words and words[0].startswith(same := f"that {be(several)} {name} of "):
            head = f"{head} of {words.pop(0).removeprefix(same)}"  # "isotopes of Carbon"
        is_compared = clauses and head == SOMETHING and len(words) == 1 and words[0].startswith("that ")
        only = words[0].removeprefix("that ") if is_compared else ""
        text = " ".join(filter(None, (head, " and ".join(words))))
        return Phrase(text, several, is_long or bool(words), only, bool(words), is_nested)

    def _say_end(self, hop: Hop, end: Entity | int) -> Phrase:
        """Say what a hop leads to."""
        label = say_relation(hop) if hop.forward else "thing"
        return Phrase(say_term(end)) if isinstance(end, Entity) else self.node(end, label=label)

    def _take(self, node: int) -> _Around:
        """Return what is joined to a node and not said yet; it is said now."""
        edges = [edge for edge in self._edges if node in (edge.start, edge.end)]
        unions = [union for union in self._unions if node in union.nodes]
        clauses = [clause for at, clause in self._clauses if at == node]
        hops = [
            (edge.hop.inverse, edge.start) if edge.end == node else (edge.hop, edge.end)
            for edge in edges
            if edge.end != node or not edge.members_of
        ]
        hops.sort(key=lambda hop: hop[0].forward)  # what it is of what comes first
        self.said.update(edges, clauses)
        self._edges = [edge for edge in self._edges if edge not in edges]
        self._unions = [union for union in self._unions if union not in unions]
        self._clauses = [clause for clause in self._clauses if clause[0] != node]
        classes = [edge.members_of for edge in edges if edge.end == node and edge.members_of]
        return _Around(classes, hops, unions, clauses, self._named.pop(node, ""))

    def _union(self, union: Union, node: int, several: bool, thing: str) -> Phrase:
        """Say a node by alternatives, each with all that is joined to it on its way."""
        every = []
        says_all = self._nested < MAX_NESTED
        for edges, clauses in union.alternatives if says_all else union.alternatives[:1]:
            fork = copy(self)
            fork._nested += 1
            fork.labels = {at: label for at, label in self.labels.items() if at != node}
            fork._named = {**self._named}
            fork._edges = [*dict.fromkeys([*self._edges, *edges])]
            fork._clauses = [*self._clauses, *clauses]
            every.append(fork.node(node, several=several, thing=thing))
        self.__dict__ |= {**fork.__dict__, "_nested": self._nested}
        texts = [*dict.fromkeys([*(said.text for said in every), *([] if says_all else ["otherwise"])])]
        return Phrase(list_words(texts, "or"), any(each.is_plural for each in every), True)


def _by_hop(joined: Iterable[tuple[Hop, Phrase]]) -> list[tuple[Hop, Phrase]]:
    """Return what a node is joined to, once for each noun: "the profession of Ann and of Bob"."""
    found: dict[str, tuple[Hop, Phrase]] = {}
    free: list[tuple[Hop, Phrase]] = []
    for hop, other in joined:
        relation = say_relation(hop)
        if hop.forward or is_verbal(relation):
            free.append((hop, other))
        elif relation in found:
            text = f"{found[relation][1].text} and of {other.text}"
            found[relation] = hop, other._replace(text=text, is_long=True)
        else:
            found[relation] = hop, other
    return [*found.values(), *free]
