"""Which words of a question name classes, properties, entities and values, and which say what is computed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from kgqa.kg.drafts.description import DescribedProperty, FoundTerm
from kgqa.kg.languages import name_starts
from kgqa.kg.linking.class_names import asks_for_kind, content_words
from kgqa.kg.terms import Entity
from kgqa.kg.text import FUNCTION_WORDS, Word, fold, singular, split_words, word_set
from kgqa.models.offline.question_intent import DENIAL, Modifier, place_bounds, place_count, place_modifier
from kgqa.models.offline.vocabulary import Owned, Vocabulary
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

TELLING = word_set("no not never nor without except than same only other both more less most least")
"""Function words that say something."""

Alike = Callable[[str, Sequence[str]], Sequence[float]]  # how alike some texts are to another


@dataclass(frozen=True)
class Slot:
    """Words of a question, by their places, and what they may name."""

    begin: int
    end: int
    classes: tuple[str, ...] = ()
    owned: tuple[Owned, ...] = ()
    terms: tuple[FoundTerm, ...] = ()

    or_terms: tuple[FoundTerm, ...] = ()  # said beside these by "or"

    @property
    def is_weak(self) -> bool:
        """Whether it names nothing by itself."""
        return not (self.classes or self.terms) and all(each.score < MIN_NAMED for each in self.owned)


class Question:
    """The words of a question, and the slots that take them."""

    def __init__(self, text: str, vocabulary: Vocabulary, terms: Sequence[FoundTerm], alike: Alike) -> None:
        self.vocabulary, self.alike = vocabulary, alike
        named = _without_names([each for each in terms if not self._class_of(each)])
        sure = [each for each in named if _in_singular(each.text) == _in_singular(each.term.name or "")]
        self.text = _with_figures(text, sure)
        self.words: list[Word] = split_words(self.text)
        self._names = name_starts(self.text)
        self.lemmas = [_lemma(each.text) for each in self.words]
        self._denials = [self._places(each.span()) for each in DENIAL.finditer(self.text.lower())]
        self.taken: set[int] = set()
        self.slots = [*self._term_slots(sure)]
        self._read_computation()
        self.taken |= self.computing
        self.slots += self._term_slots([each for each in named if each not in sure])
        self.taken -= self.computing
        self.slots = self._without_appositions([*self.slots, *self._named_slots(terms)])
        self._free = [
            lemma
            for at, lemma in enumerate(self.lemmas)
            if self.matters(at) and ((slot := self.slot_at(at)) is None or slot.owned)
        ]
        self._unnamed = " ".join(
            lemma for at, lemma in enumerate(self.lemmas) if self.matters(at) and not self.slot_at(at)
        )
        self._likes: dict[str, float] = {}

    def _class_of(self, found: FoundTerm) -> str | None:
        known = isinstance(found.term, Entity) and found.term.id in self.vocabulary.classes
        return found.term.id if known else None

    def _read_computation(self) -> None:
        """Find the words that ask for a number, an extreme or a bound, but in names."""
        denied = {at for slot in self.slots for at in self.denial_of(slot) or ()}
        masked = self._masked(denied)
        self.count = self._places(place_count(masked))
        self.bounds = [(bound, self._places((begin, end))) for bound, begin, end in place_bounds(masked)]
        figures = {
            at for at, each in enumerate(self.words) if each.text.isdigit() or read_ordinal(fold(each.text))
        }
        placed = place_modifier(self._masked(figures))
        self.modifier: Modifier | None = placed[0] if placed else None
        self.modifier_places = self._places(placed[1:] if placed else None)
        other = place_modifier(self._masked({*figures, *self.modifier_places})) if placed else None
        self.other_cue = other[0] if other else None
        self.is_top = self.modifier is None and "top" in self.lemmas
        if self.is_top:
            at = self.lemmas.index("top")
            self.modifier, self.modifier_places = Modifier("largest", ""), range(at, at + 1)
        bounded = {at for _, places in self.bounds for at in places}
        self.figures = sorted(figures - bounded - self._in_terms())
        self.other_places = self._places(other[1:]) if other else range(0)
        each = (at for at, lemma in enumerate(self.lemmas) if lemma in EACH)
        self.computing = {*self.count, *self.modifier_places, *self.other_places, *bounded, *each}

    @property
    def ranks(self) -> list[int]:
        """The places of figures that say which of the ranked are meant, beside them or what ranks them."""
        beside = {*self.modifier_places}
        for at in reversed(self.figures):  # "the 6th to the 10th longest"
            if beside.intersection(range(at - 1, at + 4)):
                beside.add(at)
        before = {slot.begin - 1 for slot in self.slots if slot.classes}
        return [at for at in self.figures if at in beside or (self.words[at].text.isdigit() and at in before)]

    def _without_appositions(self, slots: Sequence[Slot]) -> list[Slot]:
        """Return the slots in their order, without those of classes that only say what a name beside is."""
        kept: list[Slot] = []
        for slot in sorted(slots, key=lambda slot: slot.begin):
            last = kept[-1] if kept else slot
            if last.terms and slot.terms and self.lemmas[last.end : slot.begin] == ["or"]:
                others = (*last.or_terms, *slot.terms)
                kept[-1] = Slot(last.begin, slot.end, terms=last.terms, or_terms=others)
            else:
                kept.append(slot)
        for slot in [each for each in kept if each.classes]:
            beside = (
                each for each in kept if each.terms and (each.end == slot.begin or slot.end == each.begin)
            )
            kinds = {kind for id in slot.classes for kind in self.vocabulary.kinds(id)}
            for each in beside:
                if any(kinds.intersection(found.classes) for found in each.terms):
                    kept.remove(slot)
                    begin, end = min(each.begin, slot.begin), max(each.end, slot.end)
                    kept[kept.index(each)] = Slot(begin, end, terms=each.terms, or_terms=each.or_terms)
                    break
        return kept

    def slot_at(self, at: int) -> Slot | None:
        """Return the slot that takes a word."""
        return next((each for each in self.slots if each.begin <= at < each.end), None)

    def says(self, words: str) -> float:
        """Return how far the words that name nothing themselves say a relation."""
        if words not in self._likes:
            name = content_words(relation_phrase(words)).split()
            stems = [word_similarity(said, each) for said in self._free for each in name]
            best = max(stems, default=0.0)
            alike = self.alike(self._unnamed, [relation_phrase(words)])[0] if self._unnamed else 0.0
            self._likes[words] = max(best if best >= MIN_STEM_SAID else 0.0, alike, 0.0)
        return self._likes[words]

    def text_of(self, places: Iterable[int]) -> str:
        """Return some words as the question has them."""
        return " ".join(self.words[at].text for at in places)

    def asks_for(self, slot: Slot) -> bool:
        """Return whether things called so are what the question asks for."""
        return asks_for_kind(self.text, self.text_of(range(slot.begin, slot.end)))

    def is_telling(self, places: Iterable[int]) -> bool:
        """Return whether one of some words turns round what is said: "not", "except"."""
        return any(self.lemmas[at] in TELLING for at in places)

    def denial_of(self, slot: Slot) -> range | None:
        """Return the words that deny what a slot names: "not in Ulm", "never ordered tea".

        Between may stand one word for the join, and the class that it is said of, which is denied with it.
        """
        at, passed = slot.begin - 1, False
        while at >= 0:
            before = self.slot_at(at)
            found = next((each for each in self._denials if at in each), None)
            if found and (before is None or not before.terms):
                return found
            if before is not None and (before.classes or before.terms):
                return self.denial_of(before) if before.classes else None
            joins = self.matters(at) or before is not None
            if passed and (joins or self.lemmas[at] in AUXILIARIES):
                return None
            at, passed = (before.begin if before else at) - 1, passed or joins
        return None

    def beside(self, slot: Slot) -> Slot | None:
        """Return the slot before another from which only words without meaning part it."""
        at = slot.begin - 1
        while at >= 0 and self.slot_at(at) is None and not self.matters(at):
            at -= 1
        return self.slot_at(at) if at >= 0 else None

    def is_name(self, places: Iterable[int]) -> bool:
        """Return whether some words are written as a name, whatever it names."""
        return any(self.words[at].start in self._names for at in places)

    def _masked(self, more: Iterable[int] = ()) -> str:
        """Return the question with its names blanked out."""
        text = [*self.text]
        for at in {*self._in_terms(), *more}:
            text[self.words[at].start : self.words[at].end] = "_" * len(self.words[at].text)
        return "".join(text)

    def _in_terms(self) -> set[int]:
        return {at for slot in self.slots if slot.terms for at in range(slot.begin, slot.end)}

    def _places(self, span: tuple[int, ...] | None) -> range:
        """Return the places of the words of a span of characters."""
        begin, end = span or (0, 0)
        places = [at for at, word in enumerate(self.words) if begin < word.end and word.start < end]
        return range(places[0], places[-1] + 1) if places else range(0)

    def _find(self, text: str) -> Iterator[range]:
        said = _in_singular(text)
        for at in range(len(self.lemmas) - len(said) + 1):
            places = range(at, at + len(said))
            if said and self.lemmas[at : at + len(said)] == said and self.taken.isdisjoint(places):
                yield places

    def _term_slots(self, terms: Sequence[FoundTerm]) -> Iterator[Slot]:
        """Yield the slots of what was found; more words first, those joined by "or" together."""
        found: dict[range, list[FoundTerm]] = {}
        for each in sorted(terms, key=lambda each: -len(split_words(each.text))):
            for places in [*self._find(each.text), *(p for p in found if self._says(p, each.text))][:1]:
                found.setdefault(places, []).append(each)
                self.taken |= {*places}
        return (Slot(places.start, places.stop, terms=tuple(each)) for places, each in found.items())

    def _says(self, places: range, text: str) -> bool:
        return _in_singular(text) == self.lemmas[places.start : places.stop]

    def _named_slots(self, terms: Sequence[FoundTerm]) -> Iterator[Slot]:
        """Yield the slots of classes and properties: whole names first, then more words."""
        called = {
            tuple(_in_singular(each.text)): each.term.id
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
        inner = self.computing.intersection(range(begin, end)) or TELLING.intersection(lemmas)
        if inner or not content or lemmas[0] not in content or lemmas[-1] not in content:
            return None
        if (id := called.get(tuple(lemmas))) is not None:
            scored = [Owned(owner, part, 1.0) for owner, part in self._called(content)]
            return Slot(begin, end, (id,), tuple(scored))
        names = {id: content_words(each.name).split() for id, each in self.vocabulary.classes.items() if id}
        scored = [
            Owned(owner, part, score)
            for owner, part in self.vocabulary.owned()
            if (score := _name_score(content, content_words(relation_phrase(part.words)).split()))
        ]
        if exact := tuple(id for id, name in names.items() if name == content):
            return Slot(begin, end, exact, tuple(each for each in scored if each.score == 1.0))
        partly = tuple(id for id, name in names.items() if content == name[-len(content) :])
        if partly and not any(each.score >= MIN_NAMED for each in scored):
            return Slot(begin, end, classes=partly)
        best = max((each.score for each in scored), default=0.0)
        least = best if best >= MIN_NAMED else 0.0
        return Slot(begin, end, owned=tuple(each for each in scored if each.score >= least)) if best else None

    def _called(self, content: Sequence[str]) -> Iterator[tuple[str, DescribedProperty]]:
        """Yield the properties that are called by some words."""
        for owner, part in self.vocabulary.owned():
            if content_words(relation_phrase(part.words)).split() == [*content]:
                yield owner, part

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


def _in_singular(text: str) -> list[str]:
    return [_lemma(each.text) for each in split_words(text)]


def _lemma(word: str) -> str:
    """Return a word as for one thing; what only joins others stays."""
    folded = fold(word)
    return folded if folded in FUNCTION_WORDS else fold(singular(word))


def _without_names(terms: Sequence[FoundTerm]) -> list[FoundTerm]:
    """Return terms without texts that are only the names of others."""
    naming = {
        (each.text, hop.relation)
        for each in terms
        if isinstance(each.term, Entity)
        for hop in each.hops
        if hop.forward
    }
    return [
        each
        for each in terms
        if isinstance(each.term, Entity) or any((each.text, hop.relation) not in naming for hop in each.hops)
    ]


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
