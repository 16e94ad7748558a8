"""Which classes of things a question names: "countries" and "country" name what is called so."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kgqa.kg.languages import base_language, stem_words
from kgqa.kg.linking.common_words import COMMON_WORDS
from kgqa.kg.pages import Match, Mention
from kgqa.kg.profile.profile import UNTYPED, HopEnds, Profile, owned_relations
from kgqa.kg.terms import KINDS_NAMESPACE, Entity, Hop, is_value_id, local_name
from kgqa.kg.text import FUNCTION_WORDS, fold, in_plural, in_singular, spaced, split_words

MAX_CLASS_WORDS = 6  # words of the name of a class
MAX_BEARERS = 3  # classes of one name

_ASIDE = re.compile(r"\(([^()]*)\)")


_KINDS_OF = re.compile(r"(?i)\b(?:kinds?|types?|sorts?)\s+of\s+(?:an?\s+|the\s+)?$")

_ASKED_KIND = re.compile(
    r"(?:(?:and|please|(?:can|could) you|in|from|to|at|on|of|by|for|with)(?: please)? )?"
    r"(?:(?:which|what|who|how many|list|name|show|give|find)(?: me)?(?: (?:is|are|was|were))?"
    r"(?: of)?(?: all)?(?: of)?(?: (?:the|a|an))?(?:(?: total)? number of)?)"
    r"(?: (?!of|in|by|from|for|to|with|on|at|that|the)\w+){0,2}"
)
"""What stands before a kind of things that is asked for, in the singular."""


class NamedWords(NamedTuple):
    """Words of a question, by their places, and what the graph calls by them or by one of such things."""

    begin: int
    end: int
    entities: tuple[Entity, ...]

    def covers(self, text: str) -> bool:
        """Return whether a text, of which the words are, says nothing else."""
        return fold(text) == fold(text[self.begin : self.end])


def asks_for_kind(question: str, kind: str) -> bool:
    """Return whether things of a kind are what a question asks for.

    >>> questions = "Which huts are old?", "Who runs the old hut?", "All the huts that are old", "Huts' names"
    >>> [asks_for_kind(question, "Hut") for question in questions]
    [True, False, True, False]
    """
    said, name = (fold(in_singular(text)) for text in (question, spaced(kind)))
    before, found, _ = f"{said} ".partition(f" {name} ")
    begins = rf"\s*(?:all )?(?:the )?{re.escape(in_plural(spaced(kind)))} (?:that|which|who|whose)\b"
    is_first = re.match(begins, question, re.IGNORECASE) is not None
    return is_first or (bool(found) and _ASKED_KIND.fullmatch(before) is not None)


def asked_kind(question: str, classes: Mapping[Entity, str | None]) -> Entity | None:
    """Return the first of some classes, by what they are called, things of which a question asks for."""
    asked = {each: name for each, name in classes.items() if name and asks_for_kind(question, name)}
    said = f" {fold(in_singular(question))} "
    return min(asked, key=lambda each: said.find(f" {fold(in_singular(spaced(asked[each])))} "), default=None)


def find_phrases(question: str, called: Callable[[str], Collection[Entity]]) -> list[NamedWords]:
    """Return the places of words by which something is called, in their order; more words are taken first."""
    listed, found = split_words(question), list[NamedWords]()
    for size in range(MAX_CLASS_WORDS, 0, -1):
        for first in range(len(listed) - size + 1):
            begin, end = listed[first].start, listed[first + size - 1].end
            entities = called(question[begin:end])
            if entities and all(end <= other.begin or other.end <= begin for other in found):
                found.append(NamedWords(begin, end, tuple(entities)[:MAX_BEARERS]))
    return sorted(found)


class ClassNames:
    """The classes of a graph by what they are called: in all languages, and by their IRIs.

    >>> from kgqa.kg.profile.profile import ClassProfile
    >>> names = ClassNames(Profile((ClassProfile("http://x/BillOfMaterial", 9, 9),)))
    >>> [(begin, end, str(found)) for begin, end, (found,) in names.find("Show all bills of materials")]
    [(9, 27, 'bill of material')]
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._ends, self._below = HopEnds(profile), dict[str, frozenset[str]]()
        self.owned = owned_relations(profile)
        self._ids = {each.id for each in profile.classes} - {UNTYPED}
        self._entities: dict[str, dict[Entity, None]] = defaultdict(dict)
        self._stems: dict[str, dict[tuple[str, ...], dict[Entity, None]]] = {}
        for each in profile.classes:
            local = spaced(local_name(each.id).rpartition(".")[2]).lower()
            names = [spaced(name.value) for name in each.wording.names]
            shown = next((spaced(n.value) for n in each.wording.names if n.language in {"en", ""}), local)
            for name in dict.fromkeys((*names, local)) if each.id != UNTYPED else ():
                for text in (name, _ASIDE.sub(" ", name), *_ASIDE.findall(name)):
                    if key := fold(in_singular(text)):
                        self._entities[key][Entity(each.id, shown)] = None

    def __contains__(self, id: str) -> bool:
        """Return whether an id is that of a class."""
        return id in self._ids

    def below(self, id: str) -> frozenset[str]:
        """Return the ids of a class and all below it."""
        if id not in self._below:
            self._below[id] = frozenset(each.id for each in self.profile.subclasses(id)) | {id}
        return self._below[id]

    def hops_to(self, id: str) -> tuple[Hop, ...]:
        """Return the hops that lead to members of a class and to nothing else."""
        return self._ends.hops_to(self.below(id))

    def _by_stems(self, language: str) -> dict[tuple[str, ...], dict[Entity, None]]:
        """Return the classes by the stems of their names in another language than English."""
        if language not in self._stems:
            stems: dict[tuple[str, ...], dict[Entity, None]] = defaultdict(dict)
            for each in self.profile.classes if language not in ("", "en") else ():
                for name in each.wording.names:
                    if base_language(name.language) in (language, ""):
                        stems[stem_words(name.value, language)][Entity(each.id, name.value)] = None
            self._stems[language] = stems
        return self._stems[language]

    def find(self, question: str, language: str = "") -> Iterator[NamedWords]:
        """Yield the places of words that name classes, in the order of the question; more words first.

        In another ``language`` than English they may be inflected.
        """
        by_stems = self._by_stems(language)

        def called(text: str) -> Collection[Entity]:
            return self.called(text) or (by_stems.get(stem_words(text, language), ()) if by_stems else ())

        yield from find_phrases(question, called)

    def called(self, text: str) -> Collection[Entity]:
        """Return the classes that are called by a text."""
        return self._entities.get(fold(in_singular(text)), ())


def add_classes(
    question: str,
    mentions: Sequence[Mention],
    classes: ClassNames,
    relations: Iterable[str],
    language: str = "",
) -> list[Mention]:
    """Return mentions with those of classes, in the order of the question.

    A class gives way to what is called so with a capital letter, to a longer name, and to more words that are
    those of one of the ``relations``. What is an entity as well is a class where several are meant.
    """
    kept, said = list(mentions), f" {fold(in_singular(question))} "
    longer = [each for each in map(content_words, relations) if " " in each and f" {each} " in said]
    for begin, end, entities in classes.find(question, language):
        name = fold(in_singular(question[begin:end]))
        if any(name != each and f" {name} " in f" {each} " for each in longer):
            continue
        if kinds := _KINDS_OF.search(question[:begin]):
            begin = kinds.start()
        text = question[begin:end]
        if not (kinds or _means_members(question, text)):
            entities = tuple(each for each in entities if not each.id.startswith(KINDS_NAMESPACE))
        met = [each for each in kept if each.start < end and begin < each.end]
        if entities and all(_gives_way(each, begin, end, text.islower() or begin == 0) for each in met):
            named = tuple(Match(each, 1.0, "class", classes.hops_to(each.id)) for each in entities)
            mention = Mention(text, begin, end, named, asks_for_kind(question, text))
            kept = [*(each for each in kept if each not in met), mention]
    return sorted(kept, key=lambda each: each.start)


def _means_members(question: str, text: str) -> bool:
    """Return whether words mean the members of a class, by a plural or by being asked for."""
    return fold(in_singular(text)) != fold(text) or asks_for_kind(question, text)


def without_chance(mentions: Sequence[Mention]) -> list[Mention]:
    """Leave out numbers and common words that are only part of some name, where a class or value is named."""

    def is_chance(mention: Mention) -> bool:
        words = {word for word in fold(in_singular(mention.text)).split() if not word.isdigit()}
        return not mention.matches[0].sure and not mention.is_class and words <= COMMON_WORDS

    sure = any(each.is_class or is_value_id(each.matches[0].entity.id) for each in mentions)
    return [each for each in mentions if not (sure and is_chance(each))]


def content_words(relation: str) -> str:
    """Return the words of a relation that carry meaning, in the singular."""
    words = fold(in_singular(spaced(relation.rpartition(".")[2]))).split()
    return " ".join(word for word in words if word not in FUNCTION_WORDS)


def _gives_way(mention: Mention, begin: int, end: int, lower: bool) -> bool:
    inside = begin <= mention.start and mention.end <= end
    longer = end - begin > mention.end - mention.start
    return inside and (longer or lower or not mention.matches[0].sure)
