"""Finds the entities that a question mentions when no topic is given.

Spans of words that name an entity compete; what looks most like a name wins:
quoted, capitalised or several words before single everyday ones, longer before
shorter. Where nothing fits exactly, spelling and then meaning decide.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kgqa.kg.languages import CAPITALISED_NOUNS, function_words
from kgqa.kg.linking.common_words import COMMON_WORDS
from kgqa.kg.linking.name_index import CASE_SCORE, FOLDED_SCORE, PART_SCORE, NameIndex
from kgqa.kg.linking.short_names import full_names, is_full_name, respellings
from kgqa.kg.pages import Match, Mention
from kgqa.kg.terms import Entity
from kgqa.kg.text import (
    EVERYDAY_WORDS,
    FUNCTION_WORDS,
    Word,
    fold,
    in_singular,
    spaced,
    split_words,
    strip_article,
)

STRONG, FAIR, WEAK, FAINT = 4, 3, 2, 1
"""How much a span looks like a name: written like one; a rare word; a common one; an everyday one."""

MIN_SPELLING_SIMILARITY = 86.0  # the least similarity (0 to 100) at which a misspelt span is taken for a name
MIN_MEANING_COSINE = 0.6  # the least cosine at which a span is taken for a name of like meaning

MAX_INFLECTED_WORDS = 4  # words of a name that may be inflected

MAX_LONGER_NAMES = 20  # entities whose name holds a span, at most

MAX_BEARERS_LOOKED_AT = 20  # entities of one name by which it is told whether it is that of a class

MAX_GROUPS = 30  # of words of a question that are compared with names they are not

MIN_NEAR_CHARS = 4  # characters of a span that is compared with names it is not

MIN_SPELT_CHARS = 6  # characters of a word that may be a name of several, written as one

MAX_QUESTION_CHARS = 2_000
"""Characters of a question that are read: as many as prompts show, from which this side imports nothing."""

MAX_PUNCTUATION_CHARS = 16  # characters of punctuation beside a span that may belong to a name

DIRECTIONS = frozenset(
    fold("North South East West Northern Southern Eastern Western Central Upper Lower New").split()
)
"""Words that make another place of a place: North Hollywood."""

_QUOTED = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|《([^》]+)》"
    r"|(?<!\w)['\u2018]([^'\u2019]+)['\u2019](?!\w)"
)

_VOWEL = re.compile(r"[aeiouy]")
_LANGUAGE_CUE = re.compile(r"(?i)\b(?:speak\w*|spoken|languages?)\b")
_LANGUAGE_BEFORE = re.compile(r"(?i)\b(?:in|into)\s+$")
_LANGUAGE_ASKED = re.compile(r"(?i)\b(?:what|which)(?:\s+\w+){0,3}\s+languages?\b")


@dataclass(frozen=True, slots=True)
class _Span:
    """Words ``first`` to before ``last`` of a question, and how much they look like a name.

    A ``term`` is several words of which none is an everyday one.
    """

    first: int
    last: int
    start: int
    end: int
    strength: int
    capitals: int
    term: bool = False

    def __len__(self) -> int:
        return self.end - self.start

    def within(self, other: "_Span") -> bool:
        return other.start <= self.start and self.end <= other.end

    def meets(self, other: "_Span") -> bool:
        return self.start < other.end and other.start < self.end


class Linker:
    """Links questions in one language to a name index.

    Words of the graph's relations are everyday words there. In other languages than English function words
    are all that is known of common ones, and names may be inflected.
    """

    def __init__(self, index: NameIndex, relation_words: Iterable[str], language: str = "en") -> None:
        self._index = index
        self.foreign = language if language not in ("", "en") else ""
        """The language; empty for English."""
        self._relational = {word for text in relation_words for word in fold(text).split()}
        self._function = function_words(language) if self.foreign else FUNCTION_WORDS
        self.everyday = (self._function if self.foreign else EVERYDAY_WORDS) | self._relational
        self.common = (self._function if self.foreign else COMMON_WORDS) | self._relational

    def link(self, question: str, *, names_class: bool = False) -> list[Mention]:
        """Return the mentions of a question in order of appearance, matches best first.

        One that ``names_class`` is about its members: nothing is taken for its topic by meaning alone.
        """
        question = question[:MAX_QUESTION_CHARS]
        listed = split_words(question)
        lower = self.foreign in CAPITALISED_NOUNS or not any(word.text[0].isupper() for word in listed[1:])
        spans = self._choose(self._spans(question, listed, lower), lower)
        spans = [span for span in spans if not _says_where(question, span, spans, lower)]
        pieces = self._pieces(question, listed, spans)
        pieces += [span for span in spans if _is_repeated(question, span, spans)]
        spans = [span for span in spans if span not in pieces]
        mentions = []
        for place, span in enumerate(spans):
            others = spans[:place] + spans[place + 1 :]
            spans[place], found = self._extended(question, listed, span, others, lower)
            mentions.append(
                _make_mention(question, spans[place], found or self._named(question, span, lower))
            )
        if all(span.strength <= WEAK for span in spans):
            return self._approximate(question, listed, mentions, names_class)
        for span, found in self._run_together(question, listed, spans):
            spans.append(span)
            mentions.append(_make_mention(question, span, found))
        for span in (_rare_pairs if lower else _capitalised_runs)(listed, self.common, self._function):
            known = _overlaps_any(span, spans) or any(span.within(piece) for piece in pieces)
            if not known and (found := _without_whole(span, question, self._near(question, span))):
                spans.append(span)
                mentions.append(_make_mention(question, span, found))
        return sorted(mentions, key=lambda mention: mention.start)

    def _spans(self, question: str, listed: Sequence[Word], lower: bool) -> Iterator[_Span]:
        """Every span that names an entity."""
        quoted = _quoted_places(question)
        for first in range(len(listed)):
            for last in range(first + 1, min(len(listed), first + self._index.longest) + 1):
                start, end = listed[first].start, listed[last - 1].end
                folded = fold(question[start:end])
                if self._is_name(question[start:end]) and not _splits_any(start, end, quoted):
                    strength = self._strength(folded, listed[first:last], first == 0, lower)
                    if (start, end) in quoted:
                        strength = STRONG
                    elif strength == FAIR or (strength == STRONG and not self._is_rare(folded)):
                        strength = WEAK if self._is_class(question[start:end]) else strength
                    if strength:
                        capitals = _count_capitals(listed, first, last)
                        yield _Span(first, last, start, end, strength, capitals, self._is_term(folded))

    def _pieces(self, question: str, listed: Sequence[Word], spans: Sequence[_Span]) -> list[_Span]:
        """Return words that are pieces of longer names, well known or capitalised, which the graph lacks."""

        def known(first: int, last: int) -> bool:
            return is_full_name(fold(question[listed[first].start : listed[last].end]))

        def goes_on(span: _Span, beside: int) -> bool:
            if not 0 < beside < len(listed) or any(each.first <= beside < each.last for each in spans):
                return False
            word, before = listed[beside], beside < span.first
            gap = question[word.end : span.start] if before else question[span.end : word.start]
            folded = fold(word.text)
            rare = not before or self._is_rare(folded) or folded in DIRECTIONS
            return gap == " " and word.text[0].isupper() and folded not in self._function and rare

        pieces = [
            span
            for span in spans
            if span.last - span.first == 1
            and (
                goes_on(span, span.first - 1)
                or goes_on(span, span.last)
                or (span.first > 0 and known(span.first - 1, span.first))
                or (span.last < len(listed) and known(span.first, span.last))
            )
        ]
        return pieces if len(pieces) < len(spans) else []

    def _run_together(
        self, question: str, listed: Sequence[Word], spans: Sequence[_Span]
    ) -> Iterator[tuple[_Span, list[Match]]]:
        """Every long rare word that is a name of several words, written as one: "spiderman"."""
        for place, word in enumerate(listed):
            span = _span_of(listed, [place])
            is_rare = len(span) >= MIN_SPELT_CHARS and self._is_rare(fold(word.text))
            is_new = is_rare and not _overlaps_any(span, spans)
            if is_new and (found := self._index.find_run_together(question[span.start : span.end])):
                yield span, found

    def _extended(
        self, question: str, listed: Sequence[Word], span: _Span, others: Sequence[_Span], lower: bool
    ) -> tuple[_Span, list[Match]]:
        """Take rare words beside a span to it, where all together say a name better: "james garfield"."""

        def goes_on(left: int, right: int, new: int) -> bool:
            word = listed[new]
            return (
                question[listed[left].end : listed[right].start] == " "
                and (lower or word.text[0].isupper())
                and self._is_rare(fold(word.text))
                and not any(other.first <= new < other.last for other in others)
            )

        first, last = span.first, span.last
        while first and goes_on(first - 1, first, first - 1):
            first -= 1
        while last < len(listed) and goes_on(last - 1, last, last):
            last += 1
        longer = _span_of(listed, range(first, last))
        found = self._near(question, longer) if len(longer) > len(span) else []
        if not found or found[0].entity in _sure(self._index.find_exact(question[span.start : span.end])):
            return span, []
        return replace(longer, strength=span.strength), found

    def _is_rare(self, folded: str) -> bool:
        return not self.common.issuperset(folded.split())

    def _is_term(self, folded: str) -> bool:
        """Return whether several words carry meaning, and not all of them are common."""
        meaning = [word for word in folded.split() if word not in self._function]
        return len(meaning) > 1 and self._is_rare(folded)

    def _is_name(self, text: str) -> bool:
        named = any(self._index.has_name(fold(each)) for each in (text, *respellings(text)))
        return named or bool(self._joined(text) or self._fully_named(text) or self._inflected(text))

    def _joined(self, text: str) -> list[Match]:
        """Return the entities whose names, as of code, are the words of a text with capitals and no gaps."""
        words = fold(text)
        found = self._index.find_exact(words.replace(" ", "")) if " " in words else []
        return [each for each in found if fold(spaced(each.entity.name or "")) == words]

    def _inflected(self, text: str) -> list[Match]:
        """Return the entities whose names a text is another form of, but for a text in English."""
        words = fold(text).split()
        if (
            not self.foreign
            or len(words) > MAX_INFLECTED_WORDS
            or not self._function.isdisjoint((words[0], words[-1]))
        ):
            return []
        return self._index.find_inflected(text, self.foreign)

    def _fully_named(self, text: str) -> list[Match]:
        """Return the entities whose names a text is short for."""
        names = [name for name in full_names(fold(text)) if self._index.has_name(fold(name))]
        return [match for name in names for match in self._index.find_exact(name)]

    def _is_class(self, text: str) -> bool:
        """Return whether a text names only what has no facts of its own, such as a class."""
        named = [*self._fully_named(text), *self._index.find_exact(text)]
        ids = [match.entity.id for match in named[:MAX_BEARERS_LOOKED_AT]]
        facts = self._index.facts(ids)
        return bool(ids) and all(id in facts and not facts[id] for id in ids)

    def _names_kind(self, text: str) -> bool:
        """Return whether a word of a text is the plural of a name, as of a class: "huts" are many."""
        said = zip(fold(text).split(), fold(in_singular(text)).split(), strict=False)
        return any(many != one and self._index.has_name(one) for many, one in said)

    def _strength(self, folded: str, span: Sequence[Word], opens: bool, lower: bool) -> int:
        parts = folded.split()
        meaning = [part for part in parts if part not in self._function]
        is_us = not meaning and len(span) == 1 and not span[0].text.isupper()
        if not is_us and self._fully_named(folded):
            return FAIR if all(word.text.islower() for word in span) else STRONG
        if not meaning:
            return _strength_of_function_words(span, opens)
        is_lower_code = self._index.is_code(folded) and not span[-1].text.isupper()
        has_initials = any(
            word.text.isupper() and len(word.text) > 1 and fold(word.text) in self._function for word in span
        )
        is_plain = meaning[0] in self._relational or (is_lower_code and not lower)
        if len(meaning) == 1 and is_plain and not has_initials:
            return FAINT
        named = span[1:] if opens and fold(span[0].text) in self.everyday else span
        if has_initials or any(
            word.text[0].isupper() and fold(word.text) not in self._function for word in named
        ):
            return STRONG
        if not self._is_rare(folded) or len(folded) == 1 or folded.isdigit():
            return FAINT if self.everyday.issuperset(parts) else WEAK
        return STRONG if len(meaning) > 1 and lower else FAIR

    def _choose(self, spans: Iterable[_Span], lower: bool) -> list[_Span]:
        """Take spans that do not overlap, best first.

        Where nothing is capitalised, whatever is not weak may be a name; else what is as strong as the best,
        and terms.
        """
        chosen: list[_Span] = []
        order = sorted(spans, key=lambda s: (-s.strength, -s.capitals, s.first - s.last, -len(s), s.start))
        for span in order:
            fair = span.strength == FAIR and (span.term or lower)
            fit = not chosen or span.strength == chosen[0].strength or fair
            if fit and not _overlaps_any(span, chosen):
                chosen.append(span)
        if not chosen or chosen[0].strength == STRONG or (lower and chosen[0].strength == FAIR):
            return chosen
        return [max(chosen, key=lambda s: (s.capitals > 0, s.last - s.first, len(s), s.start))]

    def _near(self, question: str, span: _Span) -> list[Match]:
        """Match a span that is nobody's name: by longer names that it is a part of, else by misspelt ones."""
        text = question[span.start : span.end]
        if text.isdigit():
            return []
        if found := self._index.find_longer([text], MAX_LONGER_NAMES):
            return found
        found = self._index.find_misspelt(text, 5, MIN_SPELLING_SIMILARITY)
        found = [match for match in found if _begins_alike(text, match.entity.name or "")]
        return found if found and found[0].score * 100 >= MIN_SPELLING_SIMILARITY else []

    def _named(self, question: str, span: _Span, lower: bool) -> list[Match]:
        """Match a span, its neighbouring punctuation and its article as far as a name has them.

        Longer names that it is a part of come last.
        """
        text = question[span.start : span.end]
        best: dict[str, tuple[float, int, Match]] = {}
        for place, variant in enumerate(_span_variants(question, span)):
            for match in self._index.find_exact(variant):
                is_text = match.how == "exact" and not lower
                score = match.score if is_text else min(match.score, CASE_SCORE) - place / 1000
                if match.entity.id not in best or best[match.entity.id][0] < score:
                    best[match.entity.id] = (score, place, match)
        if not best:
            spelt = [match for each in respellings(text) for match in self._index.find_exact(each)]
            spelt = spelt or self._joined(text) or self._inflected(text)
            best = {match.entity.id: (FOLDED_SCORE, 0, match) for match in spelt}
        ordered = sorted(best.values(), key=lambda found: (-found[0], found[1], found[2].how != "exact"))
        found = [match for _, _, match in ordered]
        longer = self._index.find_longer([text], MAX_LONGER_NAMES)
        if full := self._fully_named(text):
            meant = (_languages(text, longer) or found) if _means_language(question, span) else full
            found = [
                *(meant or full),
                *(replace(each, score=PART_SCORE, how="part") for each in found + full),
            ]
        return list(_unique((*found, *longer)))

    def _approximate(
        self, question: str, listed: Sequence[Word], weak: list[Mention], names_class: bool
    ) -> list[Mention]:
        """Take what is partly named or misspelt, else the ``weak`` mentions, else what is meant."""
        grams = _word_groups(listed, self.everyday, self.common)[:MAX_GROUPS]
        looked_up = ((gram, self._near(question, gram)) for gram in grams)
        near = [_make_mention(question, gram, found) for gram, found in looked_up if found]
        best = sorted(near, key=lambda m: (m.matches[0].how != "part", -m.matches[0].score, m.start - m.end))
        if best:
            return best[:1]
        for word in sorted((gram for gram in grams if gram.last - gram.first == 1), key=lambda g: g.start):
            if found := self._index.find_beginning(question[word.start : word.end]):
                return [_make_mention(question, word, found)]
        if weak or names_class:
            return weak
        grams = [gram for gram in grams if not self._names_kind(question[gram.start : gram.end])]
        for look, least in (
            (self._index.find_by_meaning, MIN_MEANING_COSINE),
            (self._index.find_containing, 0.0),
        ):
            scored = [
                _make_mention(question, gram, matches)
                for gram in grams
                if (matches := look([question[gram.start : gram.end]], 5)) and matches[0].score >= least
            ]
            if scored:
                return sorted(scored, key=lambda m: (-m.matches[0].score, m.start))[:1]
        return []


def _begins_alike(text: str, name: str) -> bool:
    return strip_article(fold(text))[:1] == strip_article(fold(name))[:1]


def _without_whole(span: _Span, question: str, matches: Iterable[Match]) -> list[Match]:
    """Leave out names that say what belongs to a span: "Court of the Union" is not called "Union".

    A single word may be short for such a name.
    """
    text = strip_article(fold(question[span.start : span.end]))
    whole = re.compile(rf"\b(?:of|in|at|for|from)(?: the)? {re.escape(text)}$")
    return [each for each in matches if " " not in text or not whole.search(fold(each.entity.name or ""))]


def _sure(matches: Iterable[Match]) -> set[Entity]:
    return {match.entity for match in matches if match.sure}


def _unique(matches: Iterable[Match]) -> tuple[Match, ...]:
    """Leave out what was matched before."""
    first: dict[str, Match] = {}
    for match in matches:
        first.setdefault(match.entity.id, match)
    return tuple(first.values())


def _make_mention(question: str, span: _Span, matches: Sequence[Match]) -> Mention:
    return Mention(question[span.start : span.end], span.start, span.end, tuple(matches))


def _span_variants(question: str, span: _Span) -> list[str]:
    """Ways to read a span: with the punctuation around it, as it is, and without its article."""
    left, right = span.start, span.end
    first, last = max(0, left - MAX_PUNCTUATION_CHARS), min(len(question), right + MAX_PUNCTUATION_CHARS)
    while left > first and not (question[left - 1].isspace() or question[left - 1].isalnum()):
        left -= 1
    while right < last and not (question[right].isspace() or question[right].isalnum()):
        right += 1
    texts = [question[left:end] for end in range(right, span.end - 1, -1)]
    texts += [question[span.start : end] for end in range(right, span.end - 1, -1)]
    bare = re.sub(r"(?i)^(the|an|a)\s+", "", texts[-1])
    if bare != texts[-1]:
        texts += [bare + text[len(texts[-1]) :] for text in texts[-1 - (right - span.end) :]]
    return list(dict.fromkeys(texts))[:16]


def _strength_of_function_words(span: Sequence[Word], opens: bool) -> int:
    """Judge a span like "How to Be" or "It": only capitals can make it a name."""
    capital = span[0].text[0].isupper() and span[-1].text[0].isupper()
    if len(span) == 1 or opens:
        return FAIR if capital and not opens else 0
    several = sum(word.text[0].isupper() for word in span) > 1
    return STRONG if several and span[0].text[0].isupper() else 0


def _overlaps_any(span: _Span, chosen: Iterable[_Span]) -> bool:
    return any(span.meets(other) for other in chosen)


def _count_capitals(listed: Sequence[Word], first: int, last: int) -> int:
    return sum(word.text[0].isupper() or word.text.isdigit() for word in listed[max(first, 1) : last])


def _languages(text: str, longer: Iterable[Match]) -> list[Match]:
    called = {f"{strip_article(fold(text))} {what}" for what in ("language", "languages")}
    spoken = (each for each in longer if fold(each.entity.name or "") in called)
    return [replace(each, score=FOLDED_SCORE, how="normalised") for each in spoken]


def _means_language(question: str, span: _Span) -> bool:
    """Return whether the word for a people stands for what they speak, unless that is what is asked."""
    before = question[: span.start]
    said = _LANGUAGE_CUE.search(question) or _LANGUAGE_BEFORE.search(before)
    return said is not None and _LANGUAGE_ASKED.search(question) is None


def _splits_any(start: int, end: int, quoted: Iterable[tuple[int, int]]) -> bool:
    """Return whether a span has only a part of what stands between quotation marks."""
    return any(start < last and first < end and not start <= first < last <= end for first, last in quoted)


def _quoted_places(question: str) -> set[tuple[int, int]]:
    """The places between quotation marks, without punctuation at their ends."""
    places = set()
    for match in _QUOTED.finditer(question):
        start = match.start(match.lastindex or 0)
        inside = split_words(match.group(match.lastindex or 0))
        if inside:
            places.add((start + inside[0].start, start + inside[-1].end))
    return places


def _capitalised_runs(
    listed: Sequence[Word], common: Collection[str], function: Collection[str]
) -> list[_Span]:
    """Runs of capitalised words that are not all common ones; then without these where they begin.

    The same without what stands before a name as "Ms" or "Dr" do: a word without a vowel.
    """
    runs: list[list[int]] = []
    for place, word in enumerate(listed):
        if word.text[0].isupper() and fold(word.text) not in function:
            if runs and runs[-1][-1] == place - 1:
                runs[-1].append(place)
            else:
                runs.append([place])
    spans = []
    for run in runs:
        rare = [place for place in run if fold(listed[place].text) not in common]
        inner = range(rare[0], run[-1] + 1) if rare else run[:0]
        titled = run[1:] if not _VOWEL.search(fold(listed[run[0]].text)) else run[:0]
        parts = dict.fromkeys((tuple(run), tuple(inner), tuple(titled)))
        spans += [_span_of(listed, each) for each in parts if each and rare]
    return [span for span in spans if len(span) >= MIN_NEAR_CHARS]


def _rare_pairs(listed: Sequence[Word], common: Collection[str], function: Collection[str]) -> list[_Span]:
    """Two rare words in a row, as first and last names are."""
    rare = [word.text.isalpha() and fold(word.text) not in common for word in listed]
    return [_span_of(listed, (at, at + 1)) for at in range(len(listed) - 1) if rare[at] and rare[at + 1]]


def _span_of(listed: Sequence[Word], places: Sequence[int]) -> _Span:
    first, last = places[0], places[-1] + 1
    return _Span(first, last, listed[first].start, listed[last - 1].end, STRONG, len(places))


def _says_where(question: str, span: _Span, spans: Iterable[_Span], lower: bool) -> bool:
    """Return whether a span only says where the one before it is, as in "Vienna, Austria"; lists say more."""
    if re.match(r"\s*(?:,|(?:and|or)\b)", question[span.end :]):
        return False
    return any(
        question[other.end : span.start] == ", " and span.strength == other.strength for other in spans
    )


def _is_repeated(question: str, span: _Span, spans: Iterable[_Span]) -> bool:
    """Return whether a span before ends in these words: after "2010 World Series" so does "World Series"."""
    said = strip_article(fold(question[span.start : span.end]))
    before = (fold(question[each.start : each.end]) for each in spans if each.end < span.start)
    return any(text.endswith(f" {said}") and text != f"the {said}" for text in before)


def _word_groups(
    listed: Sequence[Word], everyday: frozenset[str], common: frozenset[str], longest: int = 5
) -> list[_Span]:
    """Groups of words, longest first: not everyday ones at their ends, and not common ones alone."""
    grams = []
    for first in range(len(listed)):
        for last in range(first + 1, min(len(listed), first + longest) + 1):
            words = [fold(word.text) for word in listed[first:last]]
            if everyday.isdisjoint((words[0], words[-1])) and not common.issuperset(words):
                start, end = listed[first].start, listed[last - 1].end
                if end - start >= MIN_NEAR_CHARS:
                    grams.append(_Span(first, last, start, end, FAIR, 0))
    return sorted(grams, key=lambda gram: (-len(gram), gram.start))
