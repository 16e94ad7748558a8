"""What a question about the schema mentions: "Which properties does a hut have?", "What is a hut?"."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgqa.kg.linking.class_names import (
    ClassNames,
    NamedWords,
    asks_for_kind,
    content_words,
    find_phrases,
)
from kgqa.kg.linking.name_words import blank_out
from kgqa.kg.pages import Match, Mention
from kgqa.kg.sparql.derived import CLASS, PROPERTY, SCHEMA_KINDS
from kgqa.kg.terms import Entity, Hop, plain_id, term_of
from kgqa.kg.text import FUNCTION_WORDS, fold, in_plural, in_singular

_ASKING_WHAT_IT_IS = {"what is", "what is a", "what is an"}


def find_schema_terms(
    question: str, mentions: Sequence[Mention], classes: ClassNames, relations: Mapping[str, str]
) -> list[Mention]:
    """Return the classes and relations that a question about the schema mentions; of any other nothing.

    It asks for classes or properties, and says nothing else but what others are called; or what one class is.
    Where it names no others it mentions all classes or all properties. ``mentions`` are what it mentions if
    it is about members, ``relations`` what each relation is called.
    """
    for asked in (CLASS, PROPERTY):
        is_said = in_plural(str(asked)) in fold(question).split() and asks_for_kind(question, str(asked))
        if is_said and (found := _find_asked(question, asked, classes, relations)):
            return found
    entities = [match.entity for each in mentions if not each.is_class for match in each.matches]
    is_free = all(each.id in classes for each in entities)
    return _defined_class(question, [*classes.find(question)]) if is_free else []


def _find_asked(
    question: str, asked: Entity, classes: ClassNames, relations: Mapping[str, str]
) -> list[Mention]:
    """Return what a question for classes or properties names beside these, or all of them."""
    related: dict[str, list[Entity]] = {}
    for id, label in relations.items():
        related.setdefault(content_words(label), []).append(Entity(term_of(id), label))
    if classes.called(str(asked)) or str(asked) in related:
        return []

    def find(text: str) -> Sequence[Entity]:
        if fold(text) == in_plural(str(asked)):
            return [asked]
        named = [_as_term(each) for each in classes.called(text)]
        by_relation = related.get(fold(in_singular(text)), [])
        return by_relation or named if asked == CLASS else named or by_relation

    found = [
        Mention(question[begin:end], begin, end, tuple(Match(each, 1.0, "exact") for each in entities))
        for begin, end, entities in find_phrases(question, find)
    ]
    if not FUNCTION_WORDS.issuperset(fold(blank_out(question, found)).split()[1:]):
        return []
    every = Match(asked, 1.0, "class", (Hop(SCHEMA_KINDS[asked.id], forward=False),))
    others = [each for each in found if each.matches[0].entity != asked]
    return others or [replace(each, matches=(every,), is_asked=True) for each in found]


def _defined_class(question: str, named: Sequence[NamedWords]) -> list[Mention]:
    """Return the class where a question asks what one of its members is, and nothing else."""
    if len(named) != 1:
        return []
    begin, end, entities = named[0]
    text, said = question[begin:end], fold(question[:begin])
    if said not in _ASKING_WHAT_IT_IS or fold(question[end:]) or fold(in_singular(text)) != fold(text):
        return []
    return [Mention(text, begin, end, tuple(Match(_as_term(each), 1.0, "exact") for each in entities))]


def _as_term(entity: Entity) -> Entity:
    return Entity(term_of(plain_id(entity.id)), entity.name)
