"""What of its vocabulary a question mentions: relations that name, and questions about the schema itself.

"Which properties does a hut have?", "What is a hut?"
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product

from kgqa.kg.languages import languages_by_name
from kgqa.kg.linking.class_names import (
    ClassNames,
    NamedWords,
    asks_for_kind,
    content_words,
    find_phrases,
)
from kgqa.kg.pages import Match, Mention
from kgqa.kg.sparql.derived import CLASS, PROPERTY, SCHEMA_KINDS, in_language
from kgqa.kg.terms import Entity, Hop, plain_id, term_of
from kgqa.kg.text import FUNCTION_WORDS, fold, in_plural, in_singular, spaced, split_words, strip_article

NAMING_PHRASES = ("name", "called", "word for")
"""What is said of a name beside what a graph calls the relation that leads to it."""

ALIAS_PHRASES = ("known as", "another", "other", "alternative", "synonym")
"""What is said of further names besides."""

NAME_PHRASES = ("stands for", "short for")  # what is said of any name, and of nothing that has one


def said_names(text: str, labels: Iterable[Hop], aliases: Iterable[Hop]) -> Iterator[Hop]:
    """Yield the hops to names, and from names, that a text says in the language that it names.

    None where it says anything else. Each is called by its own words and those of the text.

    >>> label, alias = Hop("http://x/prefLabel"), Hop("http://x/altLabel")
    >>> [str(hop) for hop in said_names("What is called in German?", [label], []) if hop.forward]
    ['-prefLabel in German (called)->']
    >>> [str(hop) for hop in said_names("What does stand for?", [label], [alias])]
    ['<-prefLabel (stand for)-', '<-altLabel (stand for)-']
    >>> [*said_names("What is the capital called?", [label], [alias])]
    []
    """
    words = [fold(word.text) for word in split_words(text)]
    languages = {word: code for word in words if (code := languages_by_name().get(word))}
    if len(languages) > 1:
        return
    name, language = next(iter(languages.items()), ("", ""))
    said = [word for word in words if word not in languages]
    for hops, phrases in ((labels, NAMING_PHRASES), (aliases, (*NAMING_PHRASES, *ALIAS_PHRASES))):
        for hop, forward in product(hops, (True, False)):
            found = _naming_words(said, hop.words, phrases if forward else (*phrases, *NAME_PHRASES))
            if found or (found is not None and language):
                own = f"{hop.words} in {name.capitalize()}" if language else hop.words
                found = [] if found == fold(spaced(own)).split() else found
                relation = in_language(hop.relation, language) if language else hop.relation
                yield Hop(relation, forward, f"{own} ({' '.join(found)})" if found else own)


def says_all(hop: Hop, text: str) -> bool:
    """Return whether the own words of a relation say all of a text."""
    return bool(_naming_words([fold(word.text) for word in split_words(text)], hop.words, ()))


def _naming_words(said: Sequence[str], own: str, phrases: Iterable[str]) -> list[str] | None:
    """Return the words of a text that say a naming relation; None where it says anything else."""
    singular = [in_singular(word) for word in said]
    own_words = (word for word in fold(spaced(own.rpartition(".")[2])).split() if word not in FUNCTION_WORDS)
    covered = {
        place
        for phrase in (in_singular(each).split() for each in (*own_words, *phrases))
        for at in range(len(said))
        if singular[at : at + len(phrase)] == phrase
        for place in range(at, at + len(phrase))
    }
    told = {place for place, word in enumerate(said) if word not in FUNCTION_WORDS}
    return [said[place] for place in sorted(covered)] if told <= covered else None


def asked_kinds(question: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return what says of which kind things are that a question asks for: a class, or the word after "which".

    A word that is no mention becomes one that is not looked up.
    """
    found = [each for each in mentions if each.is_class and asks_for_kind(question, each.text)]
    for asking, word in pairwise(split_words(question)):
        if asking.text.lower() in {"which", "what"} and fold(word.text) not in FUNCTION_WORDS:
            new = Mention(word.text, word.start, word.end, ())
            found += [next((one for one in mentions if one.start <= word.start < one.end), new)]
    return list(dict.fromkeys(found))


def is_same_name(one: str, other: str) -> bool:
    """Return whether two names are the same, but for case, punctuation and an article."""
    return strip_article(fold(one)) == strip_article(fold(other))


def blank_out(question: str, mentions: Iterable[Mention]) -> str:
    """Leave out what some mentions say."""
    for each in sorted(mentions, key=lambda mention: -mention.start):
        question = f"{question[: each.start]} {question[each.end :]}"
    return question


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
