"""Values of a graph as a way in: which texts, codes and words of enumerations a question names.

Values are called by their texts and kept in a `NameTable`, as entities are; what is found is the id that stands
for a value (`kg.terms.value_node`).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from kgqa.kg.linking.class_names import in_singular
from kgqa.kg.linking.common_words import COMMON_WORDS
from kgqa.kg.linking.name_index import NameIndex
from kgqa.kg.linking.short_names import full_names
from kgqa.kg.pages import Match, Mention
from kgqa.kg.terms import is_value_id
from kgqa.kg.text import EVERYDAY_WORDS, Word, fold, split_words

MAX_VALUE_WORDS = 12
MIN_DIGITS = 5  # of a number that may be a code: what is shorter counts or is a year
MAX_ALTERNATIVES = 5  # values of one text
MIN_SHARED = 2  # nodes that have a value: what tells several things of, and no name of one
MIN_SPELT_CHARS, MIN_SPELLING_SIMILARITY = 6, 88.0


def add_values(
    question: str, mentions: Sequence[Mention], index: NameIndex, relational: Collection[str]
) -> list[Mention]:
    """Return mentions with those of values, in the order of the question.

    The longest text comes first. What an entity is called exactly stands for it; a value that several nodes
    have may be meant as well. A value comes before an entity that a text is only alike to.

    Args:
        question: The question.
        mentions: The entities that it mentions.
        index: The values of the graph by their texts.
        relational: Folded words of the graph's relations: what they say is no value.
    """
    kept = list(mentions)
    for start, end, found in _named_values(question, index, EVERYDAY_WORDS | {*relational}):
        met = [each for each in kept if each.start < end and start < each.end]
        same = next((each for each in met if (each.start, each.end) == (start, end)), None)
        shared = tuple(match for match in found if _count(match, index) >= MIN_SHARED)
        if same and same.matches[0].sure:
            kept[kept.index(same)] = replace(same, matches=tuple(dict.fromkeys((*same.matches, *shared))))
        elif all(_gives_way(each, start, end, bool(shared)) for each in met):
            kept = [each for each in kept if each not in met]
            kept.append(Mention(question[start:end], start, end, tuple(found)))
    return sorted(kept, key=lambda each: each.start)


def _gives_way(mention: Mention, start: int, end: int, shared: bool) -> bool:
    """Return whether a mention is a part of a longer value, or only alike to what an entity is called."""
    first = mention.matches[0]
    if is_value_id(first.entity.id):
        return False
    inside = start <= mention.start and mention.end <= end
    if first.sure:
        return inside and end - start > mention.end - mention.start
    return inside and (shared or first.how != "part")


def _count(match: Match, index: NameIndex) -> int:
    return sum(index.facts([match.entity.id]).get(match.entity.id, {}).values())


def _named_values(
    question: str, index: NameIndex, everyday: Collection[str]
) -> Iterator[tuple[int, int, list[Match]]]:
    """Yield the places of words that are values, more words first, and which; then those misspelt."""
    listed = split_words(question)
    singular = [in_singular(word.text) for word in listed]
    for size in range(min(index.longest, MAX_VALUE_WORDS, len(listed)), 0, -1):
        for first in range(len(listed) - size + 1):
            words = listed[first : first + size]
            if _may_be_value(words, everyday):
                start, end = words[0].start, words[-1].end
                last = question[start : words[-1].start] + singular[first + size - 1]
                if found := _find(question[start:end], last, index):
                    yield start, end, found
    for word in listed:
        if len(word.text) >= MIN_SPELT_CHARS and not {fold(word.text)} & (COMMON_WORDS | {*everyday}):
            spelt = index.find_misspelt(word.text, MAX_ALTERNATIVES, MIN_SPELLING_SIMILARITY)
            if spelt and spelt[0].score * 100 >= MIN_SPELLING_SIMILARITY:
                yield word.start, word.end, spelt[:1]


def _may_be_value(words: Sequence[Word], everyday: Collection[str]) -> bool:
    folded = [fold(word.text) for word in words]
    if len(words) == 1 and (words[0].text.isdigit() and len(words[0].text) < MIN_DIGITS):
        return False
    is_code = len(words) == 1 and words[0].text.isupper() and len(words[0].text) > 1
    return is_code or not {*everyday}.issuperset(folded)


def _find(text: str, singular: str, index: NameIndex) -> list[Match]:
    """Return the values that a text is, as it stands, of one thing, or by what it is short for."""
    for name in dict.fromkeys((text, singular, *full_names(fold(text)))):
        found = index.find_exact(name) if index.has_name(fold(name)) else []
        if len(text) <= 2:  # codes are written as such
            found = [match for match in found if match.entity.name == text]
        if found:
            return found[:MAX_ALTERNATIVES]
    return []
