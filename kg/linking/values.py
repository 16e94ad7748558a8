"""Values of a graph as a way in: which texts, codes and words of enumerations a question names.

Values are called by their texts and kept in a `NameTable`, as entities are; what is found is the id that
stands for a value (`kg.terms.value_node`).
"""

from calendar import month_abbr, month_name
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache

from pydantic import TypeAdapter

from kgqa.kg.dialects import XSD
from kgqa.kg.linking.linker import Linker
from kgqa.kg.linking.name_index import NameIndex
from kgqa.kg.linking.short_names import full_names
from kgqa.kg.pages import Match, Mention
from kgqa.kg.terms import Entity, Literal, is_value_id, plain_term
from kgqa.kg.text import Word, fold, in_singular, split_words, strip_article, word_set

DURATIONS = (f"{XSD}duration", f"{XSD}dayTimeDuration")
DATE = f"{XSD}date"


def spoken_texts(value: Literal) -> tuple[str, ...]:
    """Return what a date or a duration is called beside its lexical form; nothing for other values.

    A duration of months or years is of no certain length, and has no other text.
    """
    try:
        if value.datatype == DATE:
            return _date_texts(date.fromisoformat(value.value))
        if value.datatype in DURATIONS and not {"Y", "M"} & {*value.value.partition("T")[0]}:
            return _duration_texts(_durations().validate_python(value.value))
    except ValueError:
        pass
    return ()


def is_spoken(node: Entity) -> bool:
    """Return whether what stands for a value stands for a date or a duration."""
    value = plain_term(node)
    return isinstance(value, Literal) and value.datatype in {DATE, *DURATIONS}


def _date_texts(day: date) -> tuple[str, ...]:
    months = dict.fromkeys((month_name[day.month], month_abbr[day.month]))
    return tuple(
        text
        for month in months
        for text in (f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}")
    )


def _duration_texts(length: timedelta) -> tuple[str, ...]:
    minutes, seconds = divmod(int(length.total_seconds()), 60)
    if minutes < 0:
        return ()
    hours, rest = divmod(minutes, 60)
    days, left = divmod(hours, 24)
    texts = []
    for parts in (
        [(days, "day"), (left, "hour"), (rest, "minute"), (seconds, "second")],
        [(hours, "hour"), (rest, "minute"), (seconds, "second")],
        [(minutes, "minute"), (seconds, "second")],
    ):
        said = [f"{number} {unit}{'s' * (number != 1)}" for number, unit in parts if number]
        texts += [" and ".join(filter(None, (" ".join(said[:-1]), *said[-1:]))), " ".join(said)]
    return tuple(dict.fromkeys(filter(None, texts)))


@cache
def _durations() -> "TypeAdapter[timedelta]":
    return TypeAdapter(timedelta)


MAX_VALUE_WORDS = 12
MIN_DIGITS = 5  # of a number that may be a code: what is shorter counts or is a year
MAX_CODE_CHARS = 2  # of a code that has to be written as such
MAX_ALTERNATIVES = 5  # values of one text
MIN_SHARED = 2  # nodes that have a value: what tells several things of, and no name of one
MIN_SPELT_CHARS, MIN_SPELLING_SIMILARITY = 6, 88.0
BOUNDING_WORDS = word_set("after before between by from least most over since than till under until")
"""Before a date or a duration: a bound, which is compared, and not what something has."""
MAX_LONGER_NAMES = 3  # entities whose name has all of some words


class ValueFinder:
    """Finds values by their texts, beside the entities that a question mentions."""

    def __init__(self, values: NameIndex, names: NameIndex, linker: Linker) -> None:
        self._values, self._names, self._linker = values, names, linker

    def add(self, question: str, mentions: Sequence[Mention]) -> list[Mention]:
        """Return mentions with those of values, in the order of the question.

        The longest text comes first. What an entity is called exactly stands for it; a value that several
        nodes have may be meant as well. A value comes before an entity that a text is only alike to.
        """
        kept = list(mentions)
        for start, end, found in self._named(question):
            met = [each for each in kept if each.start < end and start < each.end]
            same = next((each for each in met if (each.start, each.end) == (start, end)), None)
            shared = tuple(match for match in found if self._count(match) >= MIN_SHARED)
            if same and same.matches[0].sure:
                known = {match.entity for match in same.matches}
                more = (match for match in shared if match.entity not in known)
                kept[kept.index(same)] = replace(same, matches=(*same.matches, *more))
            elif all(_gives_way(each, start, end, bool(shared)) for each in met):
                kept = [each for each in kept if each not in met]
                kept.append(Mention(question[start:end], start, end, tuple(found)))
        return sorted([*kept, *self._misspelt(question, kept)], key=lambda each: each.start)

    def _count(self, match: Match) -> int:
        id = match.entity.id
        return sum(self._values.facts([id]).get(id, {}).values()) if is_value_id(id) else 0

    def _named(self, question: str) -> Iterator[tuple[int, int, list[Match]]]:
        """Yield the places of words that are values, more words first, and which."""
        listed = split_words(question)
        for size in range(min(self._values.longest, MAX_VALUE_WORDS, len(listed)), 0, -1):
            for first in range(len(listed) - size + 1):
                words = listed[first : first + size]
                if not self._may_be_value(words) or not (found := self._find(question, words)):
                    continue
                if not (
                    first and fold(listed[first - 1].text) in BOUNDING_WORDS and is_spoken(found[0].entity)
                ):
                    start, end, longer = self._longer(question, listed, first, first + size)
                    yield start, end, longer or found

    def _misspelt(self, question: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
        """Yield the values that long rare words which nothing is called by are alike to."""
        for word in split_words(question):
            free = all(word.end <= each.start or each.end <= word.start for each in mentions)
            if free and len(word.text) >= MIN_SPELT_CHARS and self._is_rare(word):
                spelt = self._values.find_misspelt(word.text, 1, MIN_SPELLING_SIMILARITY)
                if spelt and spelt[0].score * 100 >= MIN_SPELLING_SIMILARITY:
                    yield Mention(word.text, word.start, word.end, tuple(spelt))

    def _is_rare(self, word: Word) -> bool:
        return fold(word.text) not in self._linker.common

    def _may_be_value(self, words: Sequence[Word]) -> bool:
        alone = words[0].text if len(words) == 1 else ""
        if alone.isdigit() and len(alone) < MIN_DIGITS:
            return False
        is_code = len(alone) > 1 and alone.isupper()
        return is_code or not self._linker.everyday.issuperset(fold(word.text) for word in words)

    def _find(self, question: str, words: Sequence[Word]) -> list[Match]:
        """Return the values that words are: as they stand, by what they are short for, or of one thing.

        An entity that is called so comes first.
        """
        text = question[words[0].start : words[-1].end]
        one = question[words[0].start : words[-1].start] + in_singular(words[-1].text)
        for name in dict.fromkeys((text, *full_names(fold(text)), one)):
            found = self._values.find_exact(name) if self._values.has_name(fold(name)) else []
            if len(text) <= MAX_CODE_CHARS or strip_article(fold(text)) != fold(text):
                found = [match for match in found if match.entity.name == text]
            elif text.islower() and not question.islower():  # "hear" is no airport with the code HEAR
                found = [m for m in found if m.entity.name != text.upper()]
            if not found and self._linker.foreign:
                found = self._values.find_inflected(name, self._linker.foreign)
            if found:
                entities = self._names.find_exact(name) if name in {text, one} else []
                shared = [match for match in found if not entities or self._count(match) >= MIN_SHARED]
                return [*entities, *shared][:MAX_ALTERNATIVES]
        return []

    def _longer(
        self, question: str, listed: Sequence[Word], first: int, last: int
    ) -> tuple[int, int, list[Match]]:
        """Take the rare word before a value to it, where both together say the name of an entity."""
        start, end = listed[first].start, listed[last - 1].end
        before = listed[first - 1] if first else None
        if before is None or not self._is_rare(before) or question[before.end : start] != " ":
            return start, end, []
        found = self._names.find_longer([question[before.start : end]], MAX_LONGER_NAMES)
        return (before.start if found else start), end, found


def _gives_way(mention: Mention, start: int, end: int, shared: bool) -> bool:
    """Return whether a mention is a part of a longer value, or only alike to what an entity is called."""
    first = mention.matches[0]
    inside = start <= mention.start and mention.end <= end
    if is_value_id(first.entity.id) or not inside:
        return False
    if first.sure or first.how == "class":
        return end - start > mention.end - mention.start
    return shared or first.how != "part"
