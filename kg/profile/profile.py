"""What is known of a graph before it is asked: classes, their properties, names, languages.

It is counted from members that are read: of a small class all, of a large one some (`ClassProfile.read`).

>>> price = PropertyProfile("http://x/price", having=9, facts=9, distinct=9)
>>> tool = ClassProfile("http://x/Tool", members=10, read=10, properties=(price,))
>>> tool.share(price), price.is_single
(0.9, True)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgqa.kg.terms import Entity, Literal

UNTYPED = ""
"""The id of the class of those nodes that have no class."""

MAX_ENUMERATED = 20
"""Distinct values of a property up to which all are listed."""

MAX_EXAMPLES = 5
"""Values of a property that are shown where there are more."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What a class or a relation is called, and what is said of it."""

    names: tuple[Literal, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class PropertyProfile:
    """A property of a class, as its members have it.

    Attributes:
        relation: Its IRI.
        having: How many of the members that were read have it.
        facts: How many values these have in all.
        ends: How many of these values are of each class, `UNTYPED` for none; empty for literals.
        datatypes: How many are literals of each datatype.
        distinct: How many differ.
        values: All values of an enumeration (`is_enumeration`), else up to `MAX_EXAMPLES`; sorted.
        least: The least number or date, if most are such.
        most: The greatest.
        inner: What nodes without a name have, to which it leads.
    """

    relation: str
    having: int
    facts: int
    ends: Mapping[str, int] = field(default_factory=dict)
    datatypes: Mapping[str, int] = field(default_factory=dict)
    distinct: int = 0
    values: tuple[Literal, ...] = ()
    is_enumeration: bool = False
    least: Literal | None = None
    most: Literal | None = None
    inner: tuple["PropertyProfile", ...] = ()

    @property
    def is_single(self) -> bool:
        """Whether no member has more than one value, as far as was read."""
        return self.facts == self.having


@dataclass(frozen=True, slots=True)
class ClassProfile:
    """A class and what its members have.

    Attributes:
        id: Its IRI; `UNTYPED` for the nodes without a class.
        members: Its own members, without those of its subclasses.
        read: How many of them were read.
        superclasses: The classes right above it.
        examples: Up to three members.
        identifiers: Properties that tell its members apart: one value each, all distinct.
        naming: Properties by which its members are named, best first; none where their IRIs name them.
        is_named: Whether its members have names; those of others are shown inside of what leads to them.
        properties: Most common first.
    """

    id: str
    members: int
    read: int
    superclasses: tuple[str, ...] = ()
    examples: tuple[Entity, ...] = ()
    identifiers: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    is_named: bool = True
    wording: Wording = Wording()
    properties: tuple[PropertyProfile, ...] = ()

    def share(self, of: PropertyProfile) -> float:
        """Return the share of its members that have a property."""
        return of.having / self.read if self.read else 0.0


@dataclass(frozen=True, slots=True)
class ProfileSummary:
    """What must be known of a graph's profile to open it.

    Attributes:
        naming: Naming properties that were found, beside those of the dialect, best first.
        unnamed: Beginnings of IRIs whose nodes have no name.
        terminology: Relations that only describe classes, relations and the like.
        has_hierarchy: Whether classes with members have superclasses.
        languages: The share of names in each language, the empty tag for none.
    """

    naming: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    terminology: tuple[str, ...] = ()
    has_hierarchy: bool = False
    languages: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """The classes of a graph, those with most members first, and what its relations are called."""

    classes: tuple[ClassProfile, ...] = ()
    relations: Mapping[str, Wording] = field(default_factory=dict)
    terms: frozenset[str] = frozenset()
    summary: ProfileSummary = ProfileSummary()

    def find(self, id: str) -> ClassProfile | None:
        """Return the profile of a class; None for what has no members, nor subclasses that have some."""
        return next((each for each in self.classes if each.id == id), None)

    def subclasses(self, id: str) -> tuple[ClassProfile, ...]:
        """Return a class and all below it, as far as they have members."""
        below = {id: None}
        for above in below.copy():
            below |= {each.id: None for each in self.classes if above in each.superclasses}
        return tuple(each for each in self.classes if each.id in below)
