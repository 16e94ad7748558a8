"""A profile as people read it: a card for each class.

>>> from kgqa.kg.profile.profile import ClassProfile, Profile, PropertyProfile
>>> price = PropertyProfile("http://x/price", having=9, facts=9, ends={"": 9})
>>> made = PropertyProfile("http://x/made_by", having=10, facts=12, ends={"http://x/WorkShop": 12})
>>> tool = ClassProfile("http://x/PowerTool", members=10, read=10, properties=(made, price))
>>> [card] = make_cards(Profile((tool,)), local_name)
>>> card.name, [(each.name, each.share, each.leads_to) for each in card.properties]
('Power Tool', [('made_by', 1.0, ('Work Shop',)), ('price', 0.9, ())])
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from kgqa.kg.dialects import PLAIN
from kgqa.kg.profile.profile import UNTYPED, ClassProfile, Profile, PropertyProfile, Wording
from kgqa.kg.proof.values import kind_of
from kgqa.kg.terms import Literal, local_name, one_line
from kgqa.kg.text import split_camel_case

MAX_VALUE_CHARS = 60  # characters of a value that a card shows

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


def make_cards(profile: Profile, label: Callable[[str], str]) -> list[ClassCard]:
    """Return a card for each class; ``label`` says what a relation is called that has no name of its own."""

    def call(relation: str) -> str:
        return relation_name(profile, relation, label)

    def make(each: PropertyProfile, members: int) -> PropertyCard:
        ends = sorted((id for id in each.ends if id != UNTYPED), key=lambda id: (-each.ends[id], id))
        return PropertyCard(
            each.relation,
            call(each.relation),
            each.having / members if members else 0.0,
            each.is_single,
            _kind(each),
            tuple(class_name(profile, id) for id in ends),
            tuple(ends),
            _values(each),
            tuple(make(inner, each.facts) for inner in each.inner),
        )

    def card(each: ClassProfile) -> ClassCard:
        return ClassCard(
            each.id,
            class_name(profile, each.id),
            each.wording.comment,
            each.members,
            each.is_named,
            tuple(class_name(profile, id) for id in each.superclasses),
            tuple(map(call, each.naming)),
            tuple(map(call, each.identifiers)),
            tuple(one_line(str(example), MAX_VALUE_CHARS) for example in each.examples),
            tuple(make(own, each.read) for own in each.properties),
        )

    return [card(each) for each in profile.classes]


def class_name(profile: Profile, id: str) -> str:
    """Return what a class is called: by a name of its own, or by its IRI in words."""
    if id == UNTYPED:
        return _NO_CLASS
    known = profile.find(id)
    return best_name(known.wording if known else Wording()) or _in_words(local_name(id))


def relation_name(profile: Profile, relation: str, label: Callable[[str], str]) -> str:
    """Return what a relation is called: by a name of its own, or as the graph shows it."""
    return best_name(profile.relations.get(relation, Wording())) or one_line(label(relation))


def best_name(wording: Wording) -> str:
    """Return the name in English, else one without a language, else any; empty without a name."""
    return one_line(PLAIN.best((0, name.language, name.value) for name in wording.names) or "")


def _in_words(local: str) -> str:
    return one_line(split_camel_case(unquote(local)).replace("_", " "))


def _kind(of: PropertyProfile) -> str:
    if not of.datatypes:
        return ""
    if of.least is not None:
        return kind_of(of.least)
    return "true or false" if all(local_name(each) == "boolean" for each in of.datatypes) else "text"


def _values(of: PropertyProfile) -> str:
    def shown(value: Literal) -> str:
        return one_line(value.value, MAX_VALUE_CHARS)

    if of.is_enumeration:
        return ", ".join(map(shown, of.values))
    if of.least is not None and of.most is not None:
        return shown(of.least) if of.least == of.most else f"{shown(of.least)} … {shown(of.most)}"
    return ", ".join([*map(shown, of.values), "…"]) if of.values else ""
