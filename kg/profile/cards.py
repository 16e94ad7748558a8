"""A profile as people read it: a card for each class.

>>> from kgqa.kg.profile.profile import ClassProfile, Profile, PropertyProfile
>>> price = PropertyProfile("http://x/price", having=9, facts=9, ends={"": 9})
>>> made = PropertyProfile("http://x/made_by", having=10, facts=12, ends={"http://x/WorkShop": 12})
>>> tool = ClassProfile("http://x/PowerTool", members=10, read=10, properties=(made, price))
>>> [card] = make_cards(Profile((tool,)), [tool], local_name)
>>> card.name, [(each.name, each.share, each.leads_to) for each in card.properties]
('Power Tool', [('made_by', 1.0, ('Work Shop',)), ('price', 0.9, ('(no class)',))])
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kgqa.kg.dialects import PLAIN
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.profile.profile import UNTYPED, ClassProfile, Profile, PropertyProfile, Wording
from kgqa.kg.proof.values import kind_of
from kgqa.kg.terms import Entity, Literal, local_name, one_line
from kgqa.kg.text import in_words

MAX_VALUE_CHARS = 60  # characters of a value that a card shows
MAX_NUMBERS = 5  # numbers or dates of an enumeration that are shown one by one

_NO_CLASS = "(no class)"


@dataclass(frozen=True, slots=True)
class PropertyCard:
    """A property of a class: what it is called, how many have it, and what it leads to.

    Attributes:
        leads_to: Names of classes, the most frequent first.
        classes: Their ids.
        values: A range, all values of an enumeration, or some examples.
        inner: What the nodes without a name have, to which it leads.
    """

    relation: str
    name: str
    share: float
    is_single: bool
    kind: str
    leads_to: tuple[str, ...]
    classes: tuple[str, ...]
    values: str
    inner: tuple["PropertyCard", ...]


@dataclass(frozen=True, slots=True)
class ClassCard:
    """A class: what it is called, how many members it has, how these are named, what they have."""

    id: str
    name: str
    comment: str
    members: int
    is_named: bool
    superclasses: tuple[str, ...]
    naming: tuple[str, ...]
    identifiers: tuple[str, ...]
    examples: tuple[str, ...]
    properties: tuple[PropertyCard, ...]


async def with_names(graph: KnowledgeGraph, classes: Sequence[ClassProfile]) -> list[ClassProfile]:
    """Return classes with the names of their examples, and without those that have none."""
    names = await graph.names([example.id for each in classes for example in each.examples])

    def named(each: ClassProfile) -> tuple[Entity, ...]:
        return tuple(Entity(example.id, name) for example in each.examples if (name := names[example.id]))

    return [replace(each, examples=named(each)) for each in classes]


def make_cards(
    profile: Profile, classes: Sequence[ClassProfile], label: Callable[[str], str]
) -> list[ClassCard]:
    """Return a card for each class; ``label`` says what a relation is called that has no name of its own."""
    names = {each.id: class_name(each) for each in profile.classes}

    def call(relation: str) -> str:
        return relation_name(profile, relation, label)

    def call_class(id: str) -> str:
        return names.get(id) or class_name(ClassProfile(id, 0, 0))

    def make(each: PropertyProfile, members: int) -> PropertyCard:
        shown = (id for id in each.ends if id != UNTYPED or not each.inner)
        ends = sorted(shown, key=lambda id: (id == UNTYPED, -each.ends[id], id))
        return PropertyCard(
            each.relation,
            call(each.relation),
            each.having / members if members else 0.0,
            each.is_single,
            _kind(each),
            tuple(map(call_class, ends)),
            tuple(ends),
            _values(each),
            tuple(make(inner, each.facts) for inner in each.inner),
        )

    def card(each: ClassProfile) -> ClassCard:
        return ClassCard(
            each.id,
            call_class(each.id),
            each.wording.comment,
            each.members,
            each.is_named,
            tuple(map(call_class, each.superclasses)),
            tuple(map(call, each.naming)),
            tuple(map(call, each.identifiers)),
            tuple(one_line(str(example), MAX_VALUE_CHARS) for example in each.examples),
            tuple(make(own, each.read) for own in each.properties),
        )

    return [card(each) for each in classes]


def class_name(of: ClassProfile) -> str:
    """Return what a class is called: by a name of its own, or by its IRI in words."""
    if of.id == UNTYPED:
        return _NO_CLASS
    return best_name(of.wording) or one_line(in_words(local_name(of.id)))


def relation_name(profile: Profile, relation: str, label: Callable[[str], str]) -> str:
    """Return what a relation is called: by a name of its own, or as the graph shows it."""
    return best_name(profile.relations.get(relation, Wording())) or one_line(label(relation))


def best_name(wording: Wording) -> str:
    """Return the name in English, else one without a language, else any; empty without a name."""
    return one_line(PLAIN.best((0, name.language, name.value) for name in wording.names) or "")


def _kind(of: PropertyProfile) -> str:
    if not of.datatypes:
        return ""
    if of.least is not None:
        return kind_of(of.least)
    return "true or false" if all(local_name(each) == "boolean" for each in of.datatypes) else "text"


def _values(of: PropertyProfile) -> str:
    """Return a few values, or their range; of an enumeration all."""

    def shown(value: Literal) -> str:
        return one_line(value.value, MAX_VALUE_CHARS)

    few = of.is_enumeration and len(of.values) <= MAX_NUMBERS
    if of.least is not None and of.most is not None and not few:
        return " … ".join(dict.fromkeys((shown(of.least), shown(of.most))))
    return ", ".join([*map(shown, of.values), *(["…"] if of.values and not of.is_enumeration else [])])
