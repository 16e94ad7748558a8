"""Finds entities by name: exact, folded, misspelt, or alike in meaning.

The index is made of one scan of a graph's names and read by many threads.
Equal scores order by the number of triples, most first, then by id.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import chain
from typing import Any

from rapidfuzz import fuzz, process

from kgqa.kg.meaning import Encode, Meaning
from kgqa.kg.pages import Match
from kgqa.kg.scan import Names
from kgqa.kg.terms import Entity, is_iri, local_name
from kgqa.kg.text import fold, without_article

EXACT, CASE, FOLDED, ARTICLE = 1.0, 0.99, 0.97, 0.95
"""Scores of a name that is the text itself, or but for case, or for punctuation, or for an article."""

SURE = 0.85
"""From this score on a misspelt name is taken as found, and meaning is not asked."""

CODE = 4
"""Characters of a code at most; names as short as this and one more are seldom meant when misspelt."""

BEARERS = 1_000
"""Entities of one name that are found at most, those with most triples: a million may share it."""

LONGEST = 500
"""Characters that a misspelt name has at most; to compare long texts takes the product of their lengths."""

WORDS = 50
"""Words of a name up to which it is found inside of a question."""

FUZZY_CUTOFF = 70.0
"""The least similarity (0 to 100, Indel ratio of rapidfuzz) of a misspelt name."""


class NameIndex:
    """Finds entities among the names of a graph.

    Args:
        names: What the entities are called.
        encode: Gives one L2-normalised row per text.
    """

    def __init__(self, names: Names, encode: Encode | None = None) -> None:
        self._preferred = names.preferred
        self._degrees = names.degrees
        self._exact: dict[str, list[str]] = defaultdict(list)
        self._folded: dict[str, list[tuple[str, str]]] = defaultdict(list)
        others = ((id, name) for id, several in names.others.items() for name in several)
        for id, name in chain(names.preferred.items(), others):
            self._exact[name].append(id)
        for name, ids in self._exact.items():
            ids[:] = nsmallest(BEARERS, ids, self._rank)
            if key := without_article(fold(name)):
                self._folded[key] += ((id, name) for id in ids)
        for pairs in self._folded.values():
            pairs[:] = nsmallest(BEARERS, pairs, lambda pair: self._rank(pair[0]))
        self._keys = sorted(self._folded)
        self._meaning = Meaning(self._keys, encode) if encode else None
        self.longest = min(WORDS, max((key.count(" ") + 2 for key in self._keys), default=0))

    def find(self, text: str, limit: int = 10) -> list[Match]:
        """Find at most ``limit`` entities called or identified by ``text``, best first."""
        text = text.strip().strip("<>")
        if text in self._degrees and (is_iri(text) or text.startswith("_:")):
            return [self._match(text, EXACT, "id")]
        found = {match.entity.id: match for match in (*self._by_name(text), *self._by_local_name(text))}
        best = self._sorted(found.values())
        if len(best) < limit:
            best += [match for match in self.similar(text, limit) if match.entity.id not in found]
        if self._meaning and (not best or best[0].score < SURE):
            best = self._sorted({m.entity.id: m for m in (*self.alike([text], limit), *best)}.values())
        return best[:limit]

    def named(self, text: str) -> list[Match]:
        """Find the entities whose name is ``text``, exactly or folded, best first."""
        return self._sorted(self._by_name(text))

    def has(self, folded: str) -> bool:
        """Tell whether an entity has this folded name."""
        return folded in self._folded or without_article(folded) in self._folded

    def is_code(self, folded: str) -> bool:
        """Tell whether only short names in capitals, such as codes, fold to this."""
        named = self._folded.get(without_article(folded), ())
        return bool(named) and all(len(name) <= CODE and name.isupper() for _, name in named)

    def similar(self, text: str, limit: int = 10, cutoff: float = FUZZY_CUTOFF) -> list[Match]:
        """Find entities whose name is spelt like ``text``, or holds all its words, best first."""
        folded = without_article(fold(text))
        if not 0 < len(folded) <= LONGEST:
            return []
        scores: dict[str, float] = {}
        for key, score, _ in process.extract(
            folded, self._keys, scorer=fuzz.ratio, score_cutoff=cutoff, limit=limit
        ):
            scores[key] = max(scores.get(key, 0.0), score / 100)
        for key, score, place in process.extract(
            _sorted_words(folded), self._bags, scorer=fuzz.ratio, score_cutoff=cutoff, limit=limit
        ):
            key = self._keys[place]
            scores[key] = max(scores.get(key, 0.0), score / 100 - 0.01)
        for key in nsmallest(limit, self._holding(folded), lambda key: (len(key), key)):
            scores[key] = max(scores.get(key, 0.0), 0.5 + 0.3 * len(folded) / len(key))
        if len(folded) <= CODE + 1:
            scores = {key: 0.9 * score for key, score in scores.items()}
        return self._of_keys(scores, "fuzzy")[:limit]

    def alike(self, texts: Sequence[str], limit: int = 10) -> list[Match]:
        """Find entities whose name means what one of ``texts`` means, best first."""
        if self._meaning is None:
            return []
        folded = [key for key in (fold(text)[:LONGEST] for text in texts) if key]
        return self._of_keys(self._meaning.nearest(folded, limit, self._lexical), "embedding")[:limit]

    def holding(self, texts: Sequence[str], limit: int = 10) -> list[Match]:
        """Find entities whose name holds all words of one of ``texts``, those with most triples first."""
        keys = {key for text in texts for key in self._holding(without_article(fold(text)))}
        ids = {id for key in keys for id, _ in self._folded[key]}
        return [self._match(id, 0.5, "fuzzy") for id in nsmallest(limit, ids, self._rank)]

    def _by_name(self, text: str) -> list[Match]:
        folded = fold(text)
        found = {id: self._match(id, EXACT, "exact") for id in self._exact.get(text, ())}
        for id, name in self._folded.get(without_article(folded), ()):
            if id not in found or found[id].how != "exact":
                score = (
                    CASE
                    if name.casefold() == text.casefold()
                    else FOLDED
                    if fold(name) == folded
                    else ARTICLE
                )
                if id not in found or found[id].score < score:
                    found[id] = self._match(id, score, "normalised")
        return list(found.values())

    def _by_local_name(self, text: str) -> list[Match]:
        local = text.rpartition(":")[2]
        ids = self._local.get(local, ()) if local else ()
        return (
            [self._match(ids[0], EXACT, "id")]
            if len(ids) == 1 and ids[0] not in self._exact.get(text, ())
            else []
        )

    def _match(self, id: str, score: float, how: Any) -> Match:
        return Match(Entity(id, self._preferred.get(id)), score, how)

    def _of_keys(self, scores: Mapping[str, float], how: str) -> list[Match]:
        best: dict[str, Match] = {}
        for key, score in scores.items():
            for id, _ in self._folded[key]:
                if id not in best or best[id].score < score:
                    best[id] = self._match(id, round(score, 4), how)
        return self._sorted(best.values())

    def _sorted(self, matches: Iterable[Match]) -> list[Match]:
        return sorted(matches, key=lambda match: (-match.score, self._rank(match.entity.id)))

    def _rank(self, id: str) -> tuple[int, str]:
        """Order entities: those with most triples first."""
        return (-self._degrees.get(id, 0), id)

    def _holding(self, folded: str) -> list[str]:
        """Keys that hold all words of ``folded``."""
        sets = [self._postings.get(word) for word in set(folded.split())]
        if not sets or None in sets:
            return []
        places = set.intersection(*sorted((s for s in sets if s is not None), key=len))
        return [self._keys[place] for place in places]

    def _lexical(self, folded: str, limit: int) -> list[int]:
        """Places of the keys that look most like ``folded``."""
        found = process.extract(folded, self._keys, scorer=fuzz.ratio, limit=limit // 2)
        places = [place for _, _, place in found]
        for word in sorted(set(folded.split()), key=lambda word: (len(self._postings.get(word, ())), word)):
            places += nsmallest(max(0, limit - len(places)), self._postings.get(word, ()))
        return list(dict.fromkeys(places))[:limit]

    @cached_property
    def _bags(self) -> list[str]:
        return [_sorted_words(key) for key in self._keys]

    @cached_property
    def _postings(self) -> dict[str, set[int]]:
        postings: dict[str, set[int]] = defaultdict(set)
        for place, key in enumerate(self._keys):
            for word in key.split():
                postings[word].add(place)
        return dict(postings)

    @cached_property
    def _local(self) -> dict[str, list[str]]:
        local: dict[str, list[str]] = defaultdict(list)
        for id in self._degrees:
            local[local_name(id)].append(id)
        return dict(local)


def _sorted_words(folded: str) -> str:
    return " ".join(sorted(folded.split()))
