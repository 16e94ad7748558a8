"""What checks ask of a profile: which classes have a property, where it leads, how sure that is."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal as Choice

from kgqa.kg.dialects import DIALECTS, META_NAMESPACES, XSD
from kgqa.kg.profile.building import MAX_PROPERTIES, MAX_PROPERTIES_IN_ALL, MIN_PROPERTIES
from kgqa.kg.profile.profile import UNTYPED, ClassProfile, Profile, PropertyProfile
from kgqa.kg.proof.values import kind_of
from kgqa.kg.terms import Literal
from kgqa.locks import cached_property

ValueKind = Choice["number", "date", "text", "true or false", "number as text"]

MAX_CLASSES_TOLD = 250  # classes up to which a profile has all of them, however few members were to be read

MIN_FACTS_ALIKE = 100
"""Facts that are all of one kind, for others of a class that was read in part to be of that kind too."""

NUMERIC = frozenset(
    XSD + name
    for name in (
        *("integer", "decimal", "double", "float", "int", "long", "short", "byte", "unsignedInt"),
        *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger", "unsignedLong"),
        *("unsignedShort", "unsignedByte"),
    )
)
DATES = frozenset(XSD + name for name in ("date", "dateTime", "gYear", "gYearMonth", "time", "gMonthDay"))

TYPES = frozenset(each for dialect in DIALECTS.values() for each in dialect.types)
"""Relations from a node to its classes."""


def datatype_kind(datatype: str) -> ValueKind:
    """Return what values of a datatype are compared as."""
    if datatype in NUMERIC:
        return "number"
    if datatype in DATES:
        return "date"
    return "true or false" if datatype == f"{XSD}boolean" else "text"


@dataclass(frozen=True)
class Use:
    """A property as the members of one class have it."""

    owner: ClassProfile
    profile: PropertyProfile

    @property
    def kinds(self) -> set[ValueKind]:
        """What its values are compared as."""
        of = self.profile
        kinds = {datatype_kind(each) for each in of.datatypes}
        if kinds == {"text"} and of.least is not None and kind_of(of.least) == "number":
            return {"number as text"}
        return kinds

    @property
    def leads_to_nodes(self) -> bool:
        """Whether some of its values are nodes."""
        return bool(self.profile.ends)

    @property
    def leads_to_values(self) -> bool:
        """Whether some of its values are literals."""
        return bool(self.profile.datatypes)


@dataclass(frozen=True)
class Schema:
    """A profile, and the ``relations`` of its graph where all of them are known."""

    profile: Profile = field(repr=False)
    relations: Collection[str] = field(default=(), repr=False)

    @cached_property
    def classes(self) -> Mapping[str, ClassProfile]:
        """Its classes by their ids."""
        return {each.id: each for each in self.profile.classes}

    @cached_property
    def _children(self) -> Mapping[str, Collection[str]]:
        """The classes right below each."""
        found: dict[str, list[str]] = {}
        for each in self.profile.classes:
            for above in each.superclasses:
                found.setdefault(above, []).append(each.id)
        return found

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """Where each class stands in the profile."""
        return {each.id: place for place, each in enumerate(self.profile.classes)}

    @cached_property
    def uses(self) -> Mapping[str, tuple[Use, ...]]:
        """Who has each property."""
        found: dict[str, list[Use]] = {}
        for owner in self.profile.classes:
            for each in owner.properties:
                found.setdefault(each.relation, []).append(Use(owner, each))
        return {relation: tuple(uses) for relation, uses in found.items()}

    @cached_property
    def known(self) -> frozenset[str]:
        """The ids that it has: classes, relations, terms, naming properties."""
        naming = (name for each in self.profile.classes for name in each.naming)
        above = (name for each in self.profile.classes for name in each.superclasses)
        told = {*self.relations, *self.classes, *self.uses, *self.profile.relations, *self.profile.terms}
        return frozenset({*told, *naming, *above} - {UNTYPED})

    def is_known(self, iri: str) -> bool:
        """Return whether an IRI is one of them, or of a vocabulary that says what others mean."""
        return iri in self.known or iri.startswith((*META_NAMESPACES, XSD))

    @cached_property
    def is_counted(self) -> bool:
        """Whether facts were read: a graph's description of itself may leave something out."""
        return any(part.distinct for each in self.profile.classes for part in each.properties)

    @cached_property
    def _most_properties(self) -> int:
        """How many properties are kept of a class at least."""
        share = MAX_PROPERTIES_IN_ALL // max(1, len(self.profile.classes))
        return max(MIN_PROPERTIES, min(MAX_PROPERTIES, share))

    def is_complete(self, owner: ClassProfile) -> bool:
        """Return whether all that members of a class have is in its profile."""
        if owner.id == UNTYPED or not self.is_counted or owner.read < owner.members:
            return False
        return len(owner.properties) < self._most_properties

    def has_no_members(self, id: str) -> bool:
        """Return whether it is sure that no node is stated to be of a class itself."""
        owner = self.classes.get(id)
        few = len(self.classes) <= MAX_CLASSES_TOLD
        return owner is not None and not owner.members and few and self.is_counted

    def has_below(self, id: str) -> bool:
        """Return whether there are classes below a class."""
        return id in self._children

    def kinds_below(self, id: str) -> tuple[ClassProfile, ...]:
        """Return the classes with members that are a class or below it."""
        below, new = {id}, [id]
        while new:
            children = {*self._children.get(new.pop(), ())} - below
            below |= children
            new += children
        places = sorted(self._places[each] for each in below if each in self._places)
        return tuple(each for each in map(self.profile.classes.__getitem__, places) if each.members)

    def has(self, owner: ClassProfile, relation: str) -> bool:
        """Return whether members of a class have a property, or it cannot be told: so are names and types."""
        return (
            relation not in self.uses
            or relation in owner.naming
            or any(each.relation == relation for each in owner.properties)
        )

    def owners(self, relation: str) -> list[str]:
        """Return the classes that have a property, those with most members first."""
        return [use.owner.id for use in self.uses.get(relation, ()) if use.owner.id != UNTYPED]

    def uses_by(self, relation: str, classes: Iterable[str] | None) -> tuple[Use, ...]:
        """Return a property as some classes have it; as all do where it is not known which are meant."""
        uses = self.uses.get(relation, ())
        if classes is None:
            return uses
        wanted = {*classes}
        return tuple(use for use in uses if use.owner.id in wanted)

    def is_sure(self, uses: Iterable[Use]) -> bool:
        """Return whether uses of a property tell what kinds of values it has."""
        found = [*uses]
        return bool(found) and all(
            self.is_complete(use.owner)
            or (use.owner.id != UNTYPED and self.is_counted and use.profile.facts >= MIN_FACTS_ALIKE)
            for use in found
        )


def kinds_of(uses: Iterable[Use]) -> set[ValueKind]:
    """Return what the values of a property are compared as."""
    return {kind for use in uses for kind in use.kinds}


def ends_of(uses: Iterable[Use]) -> Iterator[str]:
    """Yield the classes that a property leads to, as often as it has uses."""
    return (end for use in uses for end in use.profile.ends)


def values_of(uses: Iterable[Use]) -> Iterator[Literal]:
    """Yield the values that a profile has of a property."""
    for use in uses:
        yield from use.profile.values
