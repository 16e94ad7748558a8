"""Which classes of things a question may name: "countries" and "country" name what is called so."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kgqa.kg.linking.name_index import NameIndex
from kgqa.kg.terms import Entity
from kgqa.kg.text import FUNCTION_WORDS, split_words

MAX_CLASS_WORDS = 3  # words of the name of a class
MAX_BEARERS = 3  # entities of one name that may be a class

_IRREGULAR = {"people": "person", "men": "man", "women": "woman", "children": "child", "movies": "movie"}
_SIBILANTS = ("sses", "xes", "zzes", "ches", "shes")


class NamedWords(NamedTuple):
    """Words of a question, by their places, and what the graph calls by them or by one of such things."""

    begin: int
    end: int
    entities: tuple[Entity, ...]


def in_singular(question: str) -> str:
    """Return the words of a question, those for several things as for one.

    >>> in_singular("Which countries, boxes and people like glass?"), in_singular("the king's sons")
    ('Which country box and person like glass', 'the king s son')
    """
    return " ".join(_singular(word.text) for word in split_words(question))


def _singular(word: str) -> str:
    lower = word.lower()
    if lower in _IRREGULAR or not lower.endswith("s") or lower.endswith(("ss", "us", "is")) or lower == "s":
        return _IRREGULAR.get(lower, word)
    if lower.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if lower.endswith(_SIBILANTS) else word[:-1]


def in_plural(words: str) -> str:
    """Return the words for one thing as those for several; the last of them tells which it is.

    >>> [in_plural(words) for words in ("country", "box", "key", "person", "crew member", "courses")]
    ['countries', 'boxes', 'keys', 'people', 'crew members', 'courses']
    """
    before, space, last = words.rpartition(" ")
    irregular = next((several for several, one in _IRREGULAR.items() if one == last.lower()), None)
    if irregular or _singular(last) != last:
        return before + space + (irregular or last)
    if last.endswith("y") and not last.endswith(("ay", "ey", "oy", "uy")):
        return f"{words[:-1]}ies"
    return f"{words}es" if f"{last}es".endswith(_SIBILANTS) else f"{words}s"


def named_words(question: str, index: NameIndex) -> Iterator[NamedWords]:
    """Yield words of a question that are names, as they are or in the singular: more words first."""
    words, singular = [word.text for word in split_words(question)], in_singular(question).split()
    for size in range(MAX_CLASS_WORDS, 0, -1):
        for begin in range(len(words) - size + 1):
            end = begin + size
            if FUNCTION_WORDS.isdisjoint((words[begin].lower(), words[end - 1].lower())):
                names = dict.fromkeys(
                    " ".join((*words[begin : end - 1], last)) for last in (words[end - 1], singular[end - 1])
                )
                found = [match.entity for name in names for match in index.find_exact(name)[:MAX_BEARERS]]
                if found:
                    yield NamedWords(begin, end, tuple(dict.fromkeys(found)))


def first_apart(named: Iterable[NamedWords], wanted: set[Entity]) -> list[Entity]:
    """Return what is wanted of what words name, in their order; of words that overlap, of the first."""
    kept: list[NamedWords] = []
    for each in named:
        some = tuple(entity for entity in each.entities if entity in wanted)
        if some and all(each.end <= other.begin or other.end <= each.begin for other in kept):
            kept.append(each._replace(entities=some))
    return list(dict.fromkeys(entity for each in sorted(kept) for entity in each.entities))
