"""Which words of a question name classes, properties, entities and values, and which say what is computed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from kgqa.kg.drafts.description import DescribedClass, FoundTerm
from kgqa.kg.linking.class_names import content_words
from kgqa.kg.terms import Entity
from kgqa.kg.text import FUNCTION_WORDS, Word, fold, singular, split_words
from kgqa.models.offline.query_tree import Owned, QueryTree, Vocabulary
from kgqa.models.offline.question_intent import Bound, Cue, place_bounds, place_count, place_cue
from kgqa.retrieval.number_words import NUMBER_WORDS, read_ordinal
from kgqa.retrieval.wording import (
    ASKING_WORDS,
    AUXILIARIES,
    IGNORED_WORDS,
    MIN_STEM_SAID,
    relation_phrase,
    word_similarity,
)

MAX_SPAN_WORDS = 5
PART_SCORE, WHOLE_NAME_SHARE = 0.5, 0.3  # of words that are part of a name, and more for the share they are
STEM_SCORE = 0.4  # of a word that has its stem in a name
MIN_NAMED = 0.5  # from which words name a property; less only says one that is used anyway

EACH = frozenset({"each", "every", "per"})

TELLING = frozenset("no not never nor without except than same only other both more less most least".split())
"""Function words that say something."""

Alike = Callable[[str, Sequence[str]], Sequence[float]]
"""How alike some texts are to another."""


@dataclass(frozen=True)
class Slot:
    """Words of a question, by their places, and what they may name."""

    begin: int
    end: int
    classes: tuple[str, ...] = ()
    owned: tuple[Owned, ...] = ()
    terms: tuple[FoundTerm, ...] = ()

    @property
    def is_weak(self) -> bool:
        """Whether it names nothing by itself."""
        return not (self.classes or self.terms) and all(each.score < MIN_NAMED for each in self.owned)


class Question:
    """The words of a question, and the slots that take them."""

    def __init__(self, text: str, vocabulary: Vocabulary, terms: Sequence[FoundTerm], alike: Alike) -> None:
        self.vocabulary, self.alike = vocabulary, alike
        named = [
            each
            for each in terms
            if not (isinstance(each.term, Entity) and each.term.id in vocabulary.classes)
        ]
        self.text = _with_figures(text, named)
        self.words: list[Word] = split_words(self.text)
        self.lemmas = [fold(singular(each.text)) for each in self.words]
        self.taken: set[int] = set()
        self.slots = sorted(
            [*self._term_slots(named), *self._named_slots(terms)], key=lambda slot: slot.begin
        )
        masked = self._masked()
        self.count = self._places(place_count(masked))
        self.bounds = [(bound, self._places((begin, end))) for bound, begin, end in place_bounds(masked)]
        figures = {
            at for at, each in enumerate(self.words) if each.text.isdigit() or read_ordinal(fold(each.text))
        }
        placed = place_cue(self._masked(figures))
        self.cue, self.cue_places = (placed[0], self._places(placed[1:])) if placed else (None, range(0))
        if self.cue is None and "top" in self.lemmas:
            at = self.lemmas.index("top")
            self.cue, self.cue_places = Cue("largest", ""), range(at, at + 1)
        bounded = {at for _, places in self.bounds for at in places}
        self.figures = sorted(figures - bounded - self._in_terms())

    def _masked(self, more: Iterable[int] = ()) -> str:
        """Return the question with its names blanked out."""
        text = [*self.text]
        for at in {*self._in_terms(), *more}:
            text[self.words[at].start : self.words[at].end] = "_" * len(self.words[at].text)
        return "".join(text)

    def _in_terms(self) -> set[int]:
        return {at for slot in self.slots if slot.terms for at in range(slot.begin, slot.end)}

    def _places(self, span: tuple[int, int] | None) -> range:
        """Return the places of the words of a span of characters."""
        begin, end = span or (0, 0)
        places = [at for at, word in enumerate(self.words) if begin < word.end and word.start < end]
        return range(places[0], places[-1] + 1) if places else range(0)

    def _find(self, text: str) -> Iterator[range]:
        said = [fold(singular(each.text)) for each in split_words(text)]
        for at in range(len(self.lemmas) - len(said) + 1):
            places = range(at, at + len(said))
            if said and self.lemmas[at : at + len(said)] == said and self.taken.isdisjoint(places):
                yield places

    def _term_slots(self, terms: Sequence[FoundTerm]) -> Iterator[Slot]:
        """Yield the slots of what was found; more words first, those joined by "or" together."""
        found: dict[range, list[FoundTerm]] = {}
        for each in sorted(terms, key=lambda each: -len(each.text)):
            for places in [*self._find(each.text), *(p for p in found if self._says(p, each.text))][:1]:
                found.setdefault(places, []).append(each)
                self.taken |= {*places}
        return (Slot(places.start, places.stop, terms=tuple(each)) for places, each in found.items())

    def _says(self, places: range, text: str) -> bool:
        return [fold(singular(each.text)) for each in split_words(text)] == self.lemmas[
            places.start : places.stop
        ]

    def _named_slots(self, terms: Sequence[FoundTerm]) -> Iterator[Slot]:
        """Yield the slots of classes and properties: whole names first, then more words."""
        called = {
            tuple(fold(singular(word.text)) for word in split_words(each.text)): each.term.id
            for each in terms
            if isinstance(each.term, Entity) and each.term.id in self.vocabulary.classes
        }
        spans: list[tuple[float, Slot]] = []
        for begin in range(len(self.words)):
            for end in range(begin + 1, min(len(self.words), begin + MAX_SPAN_WORDS) + 1):
                if slot := self._slot(begin, end, called):
                    score = 1.0 if slot.classes else max(each.score for each in slot.owned)
                    spans.append((score, slot))
        for _, slot in sorted(
            spans, key=lambda pair: (-(pair[0] >= MIN_NAMED), -(pair[1].end - pair[1].begin), -pair[0])
        ):
            places = range(slot.begin, slot.end)
            if self.taken.isdisjoint(places):
                self.taken |= {*places}
                yield slot

    def _slot(self, begin: int, end: int, called: dict[tuple[str, ...], str]) -> Slot | None:
        lemmas = self.lemmas[begin:end]
        content = [each for each in lemmas if each not in FUNCTION_WORDS | EACH and not each.isdigit()]
        if not content or lemmas[0] not in content or lemmas[-1] not in content:
            return None
        if (id := called.get(tuple(lemmas))) is not None:
            return Slot(begin, end, classes=(id,))
        names = {id: content_words(each.name).split() for id, each in self.vocabulary.classes.items() if id}
        if exact := tuple(id for id, name in names.items() if name == content):
            return Slot(begin, end, classes=exact)
        scored = [
            Owned(owner, part, score)
            for owner, part in self.vocabulary.owned()
            if (score := _name_score(content, content_words(relation_phrase(part.words)).split()))
        ]
        partly = tuple(id for id, name in names.items() if content == name[-len(content) :])
        if partly and not any(each.score >= MIN_NAMED for each in scored):
            return Slot(begin, end, classes=partly)
        best = max((each.score for each in scored), default=0.0)
        least = best if best >= MIN_NAMED else 0.0
        return Slot(begin, end, owned=tuple(each for each in scored if each.score >= least)) if best else None

    def between(self, slot: Slot) -> range:
        """Return the places between the slot before and a slot."""
        before = [each.end for each in self.slots if each.end <= slot.begin]
        return range(max(before, default=0), slot.begin)

    def left_over(self, used: Iterable[int]) -> list[tuple[int, ...]]:
        """Return the places of words that nothing takes, those beside each other together."""
        used = {*used}
        open_ = [at for at in range(len(self.lemmas)) if at not in used and self.matters(at)]
        runs = groupby(enumerate(open_), key=lambda pair: pair[1] - pair[0])
        return [tuple(at for _, at in run) for _, run in runs]

    def matters(self, at: int) -> bool:
        """Return whether a word carries meaning."""
        word, lemma = fold(self.words[at].text), self.lemmas[at]
        ignored = IGNORED_WORDS | ASKING_WORDS | AUXILIARIES
        return word in TELLING or not (word in ignored or lemma in ignored or len(word) == 1)


def _name_score(said: Sequence[str], name: Sequence[str]) -> float:
    """Return how far words say a name: all of it, a part, or by a stem."""
    if not name:
        return 0.0
    if {*said} == {*name}:
        return 1.0
    if {*said} <= {*name}:
        share = WHOLE_NAME_SHARE * len({*said}) / len(name)
        return (PART_SCORE if said[-1] == name[-1] else STEM_SCORE - WHOLE_NAME_SHARE) + share
    stems = (word_similarity(said[0], each) for each in name) if len(said) == 1 else ()
    best = max(stems, default=0.0)
    return STEM_SCORE * best if best >= MIN_STEM_SAID else 0.0


def _with_figures(text: str, terms: Sequence[FoundTerm]) -> str:
    """Return a question with its number words as figures, but in the names of what was found."""
    names = {fold(word.text) for each in terms for word in split_words(each.text)}
    made = text
    for word in reversed(split_words(text)):
        number = NUMBER_WORDS.get(fold(word.text))
        if number is not None and fold(word.text) not in names and not read_ordinal(fold(word.text)):
            made = f"{made[: word.start]}{number}{made[word.end :]}"
    return made
