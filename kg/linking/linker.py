"""Finds the entities that a question mentions when no topic is given.

Spans of words that name an entity compete; what looks most like a name wins:
quoted, capitalised or several words before single everyday ones, longer before
shorter. Where nothing fits exactly, spelling and then meaning decide.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kgqa.kg.linking.name_index import NameIndex
from kgqa.kg.pages import Match, Mention
from kgqa.kg.text import EVERYDAY_WORDS, FUNCTION_WORDS, Word, fold, split_words

STRONG, FAIR, WEAK = 3, 2, 1
"""How much a span looks like a name: written like one; a rare word; an everyday word."""

MIN_SPELLING_SIMILARITY = 86.0  # the least similarity (0 to 100) at which a misspelt span is taken for a name
MIN_MEANING_COSINE = 0.6  # the least cosine at which a span is taken for a name of like meaning

MAX_QUESTION_CHARS = 2_000
"""Characters of a question that are read: as many as prompts show, from which this side imports nothing."""

MAX_PUNCTUATION_CHARS = 16  # characters of punctuation beside a span that may belong to a name

_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|(?<!\w)['\u2018]([^'\u2019]+)['\u2019](?!\w)")


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

    def meets(self, other: "_Span") -> bool:
        return self.start < other.end and other.start < self.end


class Linker:
    """Links questions to a name index; words of the graph's relations are everyday words there."""

    def __init__(self, index: NameIndex, relation_words: Iterable[str]) -> None:
        self._index = index
        self._relational = {word for text in relation_words for word in fold(text).split()}
        self._everyday = EVERYDAY_WORDS | self._relational

    def link(self, question: str) -> list[Mention]:
        """Return the mentions of a question in order of appearance, matches best first."""
        question = question[:MAX_QUESTION_CHARS]
        listed = split_words(question)
        spans = self._choose(list(self._spans(question, listed)))
        mentions = [_make_mention(question, span, self._named(question, span)) for span in spans]
        runs = [span for span in _capitalised_runs(listed, self._everyday) if not _overlaps_any(span, spans)]
        spelt = self._spelt(question, runs)
        if spelt or any(span.strength > WEAK for span in spans):
            mentions += spelt
        else:
            mentions = self._approximate(question, listed, mentions)
        return sorted(mentions, key=lambda mention: mention.start)

    def _spans(self, question: str, listed: Sequence[Word]) -> Iterator[_Span]:
        """Every span that names an entity."""
        quoted = _quoted_places(question)
        lower = not any(word.text[0].isupper() for word in listed[1:])
        for first in range(len(listed)):
            for last in range(first + 1, min(len(listed), first + self._index.longest) + 1):
                start, end = listed[first].start, listed[last - 1].end
                folded = fold(question[start:end])
                if self._index.has_name(folded):
                    strength = self._strength(folded, listed[first:last], first == 0, lower)
                    if (start, end) in quoted:
                        strength = STRONG
                    if strength:
                        capitals = _count_capitals(listed, first, last)
                        term = last - first > 1 and self._everyday.isdisjoint(folded.split())
                        yield _Span(first, last, start, end, strength, capitals, term)

    def _strength(self, folded: str, span: Sequence[Word], opens: bool, lower: bool) -> int:
        parts = folded.split()
        meaning = [part for part in parts if part not in FUNCTION_WORDS]
        if not meaning:
            return _strength_of_function_words(span, opens)
        is_lower_code = self._index.is_code(folded) and not span[-1].text.isupper()
        if len(meaning) == 1 and (meaning[0] in self._relational or is_lower_code):
            return WEAK
        everyday = all(part in self._everyday or part in FUNCTION_WORDS for part in parts)
        named = span[1:] if opens and fold(span[0].text) in self._everyday else span
        if any(word.text[0].isupper() and fold(word.text) not in FUNCTION_WORDS for word in named):
            return STRONG
        if everyday:
            return WEAK
        return STRONG if len(meaning) > 1 and lower else FAIR

    def _choose(self, spans: Sequence[_Span]) -> list[_Span]:
        """Take spans that do not overlap, best first: those of the best strength, and terms."""
        chosen: list[_Span] = []
        for span in sorted(
            spans, key=lambda s: (-s.strength, -s.capitals, s.first - s.last, -len(s), s.start)
        ):
            fit = not chosen or span.strength == chosen[0].strength or (span.term and span.strength == FAIR)
            if fit and not _overlaps_any(span, chosen):
                chosen.append(span)
        if not chosen or chosen[0].strength == STRONG:
            return chosen
        return [max(chosen, key=lambda s: (s.capitals > 0, s.last - s.first, len(s), s.start))]

    def _named(self, question: str, span: _Span) -> list[Match]:
        """Match a span, its neighbouring punctuation and its article as far as a name has them."""
        best: dict[str, tuple[float, int, Match]] = {}
        for place, text in enumerate(_span_variants(question, span)):
            for match in self._index.find_exact(text):
                score = match.score if match.how == "exact" else match.score - place / 1000
                if match.entity.id not in best or best[match.entity.id][0] < score:
                    best[match.entity.id] = (score, place, match)
        ordered = sorted(best.values(), key=lambda found: (-found[0], found[1]))
        return [match for _, _, match in ordered]

    def _spelt(self, question: str, spans: Sequence[_Span], most: int = 10) -> list[Mention]:
        mentions = []
        for span in spans[:most]:
            matches = self._index.find_misspelt(question[span.start : span.end], 5, MIN_SPELLING_SIMILARITY)
            if matches and matches[0].score * 100 >= MIN_SPELLING_SIMILARITY:
                mentions.append(_make_mention(question, span, matches))
        return mentions

    def _approximate(self, question: str, listed: Sequence[Word], weak: list[Mention]) -> list[Mention]:
        """Take the best misspelt span, else the ``weak`` mentions, else what is meant or partly named."""
        grams = _word_groups(listed, self._everyday)
        best = sorted(self._spelt(question, grams, 20), key=lambda m: (-m.matches[0].score, m.start - m.end))
        if best or weak:
            return best[:1] or weak
        for look, least in (
            (self._index.find_by_meaning, MIN_MEANING_COSINE),
            (self._index.find_containing, 0.0),
        ):
            scored = [
                _make_mention(question, gram, matches)
                for gram in grams[:20]
                if (matches := look([question[gram.start : gram.end]], 5)) and matches[0].score >= least
            ]
            if scored:
                return sorted(scored, key=lambda m: (-m.matches[0].score, m.start))[:1]
        return []


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


def _quoted_places(question: str) -> set[tuple[int, int]]:
    """The places between quotation marks, without punctuation at their ends."""
    places = set()
    for match in _QUOTED.finditer(question):
        start = match.start(match.lastindex or 0)
        inside = split_words(match.group(match.lastindex or 0))
        if inside:
            places.add((start + inside[0].start, start + inside[-1].end))
    return places


def _capitalised_runs(listed: Sequence[Word], everyday: frozenset[str]) -> list[_Span]:
    """Runs of capitalised words, the first word of the question only if it is a rare one."""
    runs: list[list[int]] = []
    for place, word in enumerate(listed):
        if word.text[0].isupper() and fold(word.text) not in (everyday if place == 0 else FUNCTION_WORDS):
            if runs and runs[-1][-1] == place - 1:
                runs[-1].append(place)
            else:
                runs.append([place])
    return [
        _Span(run[0], run[-1] + 1, listed[run[0]].start, listed[run[-1]].end, STRONG, len(run))
        for run in runs
        if listed[run[-1]].end - listed[run[0]].start >= 4
    ]


def _word_groups(listed: Sequence[Word], everyday: frozenset[str], longest: int = 5) -> list[_Span]:
    """Groups of words that neither begin nor end with an everyday one, longest first."""
    grams = []
    for first in range(len(listed)):
        for last in range(first + 1, min(len(listed), first + longest) + 1):
            edges = (fold(listed[first].text), fold(listed[last - 1].text))
            if not any(edge in everyday or edge in FUNCTION_WORDS for edge in edges):
                start, end = listed[first].start, listed[last - 1].end
                if end - start >= 4:
                    grams.append(_Span(first, last, start, end, FAIR, 0))
    return sorted(grams, key=lambda gram: (-len(gram), gram.start))
