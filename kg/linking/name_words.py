"""Which naming relations a question says that asks for a name, or for what has it, and for nothing else."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

from kgqa.kg.languages import languages_by_name
from kgqa.kg.linking.class_names import asks_for_kind
from kgqa.kg.pages import Mention
from kgqa.kg.sparql.derived import in_language
from kgqa.kg.terms import Hop
from kgqa.kg.text import FUNCTION_WORDS, fold, in_singular, spaced, split_words, strip_article

NAMING_PHRASES = ("name", "called", "word for")
"""What is said of a name beside what a graph calls the relation that leads to it."""

ALIAS_PHRASES = ("known as", "another", "other", "alternative", "synonym")
"""What is said of further names besides."""

NAME_PHRASES = ("stands for", "short for")
"""What is said of any name, and of nothing that has one."""


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

    A word that is no mention becomes one that nobody has looked up.
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
