"""Which naming relations a question says that asks for a name, or for what has it, and for nothing else."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from kgqa.kg.languages import language_name, languages_by_name, stem_words
from kgqa.kg.linking.class_names import asks_for_kind, spaced
from kgqa.kg.pages import Mention
from kgqa.kg.sparql.derived import in_language
from kgqa.kg.terms import Hop
from kgqa.kg.text import FUNCTION_WORDS, fold, split_words, strip_article

NAMING_PHRASES = ("name", "called", "word for", "stands for", "short for")
"""What is said of a name beside what a graph calls the relation that leads to it."""

ALIAS_PHRASES = (*NAMING_PHRASES, "known as", "another", "other", "alternative", "synonym")
"""The same of a further name."""


def said_names(text: str, labels: Iterable[Hop], aliases: Iterable[Hop]) -> Iterator[Hop]:
    """Yield the hops to names that a text says, if it says nothing else, in the language that it names.

    Each is called by its own words and those of the text.

    >>> label, alias = Hop("http://x/prefLabel"), Hop("http://x/altLabel")
    >>> [str(hop) for hop in said_names("What is called in German?", [label], [alias])]
    ['-prefLabel in German (called)->', '-altLabel in German (called)->']
    >>> [*said_names("What is the capital called?", [label], [alias])]
    []
    """
    words = [fold(word.text) for word in split_words(text)]
    languages = {word: code for word in words if (code := languages_by_name().get(word))}
    if len(languages) > 1 or not words:
        return
    language = next(iter(languages.values()), "")
    said = [word for word in words if word not in languages]
    for hops, phrases in ((labels, NAMING_PHRASES), (aliases, ALIAS_PHRASES)):
        for hop in hops:
            found = _naming_words(said, hop.words, phrases)
            if found is None or not (found or language):
                continue
            name = f"{hop.words} in {language_name(language)}" if language else hop.words
            relation = in_language(hop.relation, language) if language else hop.relation
            yield Hop(relation, hop.forward, f"{name} ({' '.join(found)})" if found else name)


def says_all(hop: Hop, text: str) -> bool:
    """Return whether the own words of a relation say all of a text."""
    return bool(_naming_words([fold(word.text) for word in split_words(text)], hop.words, ()))


def _naming_words(said: Collection[str], own: str, phrases: Collection[str]) -> list[str] | None:
    """Return the words of a text that say a naming relation; None where it says anything else."""
    stems = stem_words(" ".join(said), "en")
    own_words = (word for word in spaced(own).split() if fold(word) not in FUNCTION_WORDS)
    naming = [stem_words(each, "en") for each in (*own_words, *phrases)]
    covered = {
        at + place
        for phrase in naming
        for at in range(len(stems) - len(phrase) + 1)
        if stems[at : at + len(phrase)] == phrase
        for place in range(len(phrase))
    }
    words = dict(enumerate(said))
    told = {at: word for at, word in words.items() if word not in FUNCTION_WORDS}
    return [words[at] for at in sorted(covered)] if told.keys() <= covered else None


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
