"""Index of entity names: exact, folded, misspelt, or alike in meaning.

What is called how is looked up in a `NameTable`; names and numbers of triples of what is found there are
those that the graph has. The index is read by many threads. Equal scores order by the number of
triples, most first, then by id.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from kgqa.kg.languages import preferred_languages, stem_words
from kgqa.kg.linking.name_table import NameTable
from kgqa.kg.pages import Match
from kgqa.kg.terms import Entity, Hop, replace_surrogates
from kgqa.kg.text import fold, strip_article
from kgqa.locks import ProcessLock

T = TypeVar("T")


class NamedGraph(Protocol):
    """What is asked about entities that were found by a name."""

    def facts(self, ids: Sequence[str]) -> dict[str, dict[Hop, int]]:
        """Return how many facts those have that the graph knows, relations left out, by relation."""

    def preferred(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return their preferred names."""


@dataclass(frozen=True, slots=True)
class EntityNames:
    """The names of some entities, all at hand.

    Attributes:
        numbers: Number of facts of each entity by relation.
        names: The preferred name of each entity that has one.
        others: Further names of entities: labels in other languages, aliases.
    """

    numbers: Mapping[str, Mapping[Hop, int]]
    names: Mapping[str, str]
    others: Mapping[str, Sequence[str]]

    def facts(self, ids: Sequence[str]) -> dict[str, dict[Hop, int]]:
        """Return the facts of some; see `NamedGraph`."""
        return {id: dict(self.numbers[id]) for id in ids if id in self.numbers}

    def preferred(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return the names of some; see `NamedGraph`."""
        return {id: self.names.get(id) for id in ids}

    def index(self, encode: "Encode | None" = None) -> "NameIndex":
        """Make an index of them in memory."""
        others = ((id, name) for id, several in self.others.items() for name in several)
        table = NameTable.build([*self.names.items(), *others], self.facts)
        return NameIndex(table, self, encode)


Vectors: TypeAlias = NDArray[np.floating[Any]]
Encode: TypeAlias = Callable[[Sequence[str]], Vectors]  # returns one L2-normalised row per text

MAX_NAMES_COMPARED = 5_000
"""Up to this many names all are compared; beyond it the `SHORTLIST_SIZE` that look most alike."""

SHORTLIST_SIZE = 300


MAX_VECTORS = 5_000  # vectors of names that are kept


class NameEmbeddings:
    """Vectors of names, encoded when first needed; the last are kept."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._rows: LRUCache[str, Vectors] = LRUCache(MAX_VECTORS)
        self._lock = ProcessLock()

    def nearest(
        self, texts: Sequence[str], limit: int, alike: Callable[[str], Sequence[str]]
    ) -> dict[str, float]:
        """Return the names nearest to any of ``texts`` with their cosine, negative ones left out.

        Compared are those that may be ``alike`` to a text.
        """
        scores: dict[str, float] = {}
        queries = self._encode(list(texts)) if texts else ()
        for text, query in zip(texts, queries, strict=True):
            if not (keys := alike(text)):
                continue
            cosines = self._vectors(keys) @ query
            for at in np.argsort(-cosines, kind="stable")[:limit]:
                key, cosine = keys[at], float(cosines[at])
                if cosine > scores.get(key, 0.0):
                    scores[key] = min(cosine, 1.0)
        return scores

    def _vectors(self, keys: Sequence[str]) -> Vectors:
        with self._lock:
            found = {key: self._rows[key] for key in keys if key in self._rows}
            if missing := [key for key in keys if key not in found]:
                found |= zip(missing, self._encode(missing), strict=True)
                self._rows.update((key, found[key]) for key in missing)
            return np.stack([found[key] for key in keys])


EXACT_SCORE, CASE_SCORE, FOLDED_SCORE, ARTICLE_SCORE, PART_SCORE = 1.0, 0.99, 0.97, 0.95, 0.8
"""Scores of a name that is the text itself, or but for case, punctuation, or an article; of a longer one."""

SURE_SCORE = 0.85  # from this score on a misspelt name is taken as found, and meaning is not asked

MAX_CODE_CHARS = 4
"""Characters of a code at most; names as short as this and one more are seldom meant when misspelt."""

MAX_KNOWN = 100_000  # entities whose names and triples are kept

MAX_CONTAINING = 1_000  # names that hold some words, the shortest first, of which the best known is found

MAX_LONGER = 100  # names that a text is a part of, the shortest first, of which the best known are found

MIN_STEM_CHARS, MAX_ENDING_CHARS, MAX_STEMMED = 3, 5, 1_000
"""Characters of a stem at least and of an ending at most, and the names that begin with a stem at most."""

MAX_MISSPELT_CHARS = 500
"""Characters that a misspelt name has at most; to compare long texts takes the product of their lengths."""

MAX_NAME_WORDS = 50  # words of a name up to which it is found inside of a question
_LOCAL_NAME = re.compile(
    r"(?:[A-Za-z0-9._~!$&'()*+,;=:@?-]|%[0-9A-Fa-f]{2}|"
    r"[\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U0001fffd\U00020000-\U0002fffd\U00030000-\U0003fffd])+"
)
"""What may follow the namespace of an IRI: ipchars and question marks (RFC 3987 §2.2)."""

MIN_FUZZY_SIMILARITY = 70.0  # the least similarity (0 to 100, Indel ratio of rapidfuzz) of a misspelt name


class NameIndex:
    """Finds entities among the names of a graph."""

    def __init__(self, table: NameTable, graph: NamedGraph, encode: Encode | None = None) -> None:
        self._table, self._graph = table, graph
        self._facts: LRUCache[str, dict[Hop, int]] = LRUCache(MAX_KNOWN)
        # by the languages that names are shown in
        self._names: defaultdict[tuple[str, ...], LRUCache[str, str | None]] = defaultdict(
            lambda: LRUCache(MAX_KNOWN)
        )
        self._lock = ProcessLock()
        self._meaning = NameEmbeddings(encode) if encode else None
        self.longest = min(MAX_NAME_WORDS, table.longest)

    def find(self, text: str, limit: int = 10) -> list[Match]:
        """Find at most ``limit`` entities called or identified by ``text``, best first."""
        text = replace_surrogates(text).strip().strip("<>")
        found = {match.entity.id: match for match in (*self._by_name(text), *self._by_local_name(text))}
        best = self._sort(found.values(), limit)
        if len(best) < limit:
            best += [match for match in self.find_misspelt(text, limit) if match.entity.id not in found]
        if self._meaning and (not best or best[0].score < SURE_SCORE):
            meant = self.find_by_meaning([text], limit)
            best = self._sort({match.entity.id: match for match in (*meant, *best)}.values(), limit)
        return best[:limit]

    def find_exact(self, text: str) -> list[Match]:
        """Find the entities whose name is ``text``, exactly or folded, best first."""
        return self._sort(self._by_name(replace_surrogates(text)))

    def sample_ids(self, most: int) -> list[str]:
        """Return some entities that have names, spread over all of them."""
        return self._table.sample_ids(most)

    def has_name(self, folded: str) -> bool:
        """Return whether an entity has this folded name."""
        return self._table.has_key(strip_article(folded))

    def facts(self, ids: Sequence[str]) -> dict[str, dict[Hop, int]]:
        """Return how many facts some entities have, by relation; those that the graph does not know, none."""
        return self._recall(self._facts, ids, self._graph.facts)

    def is_code(self, folded: str) -> bool:
        """Return whether only short names in capitals, such as codes, fold to this."""
        named = self._table.bearers(strip_article(folded))
        return bool(named) and all(len(name) <= MAX_CODE_CHARS and name.isupper() for _, name in named)

    def find_misspelt(self, text: str, limit: int = 10, cutoff: float = MIN_FUZZY_SIMILARITY) -> list[Match]:
        """Find entities whose name is spelt like ``text``, or holds all its words, best first.

        One that is spelt like it has the same digits: another number is another thing.
        """
        folded = strip_article(fold(replace_surrogates(text)))
        if not 0 < len(folded) <= MAX_MISSPELT_CHARS:
            return []
        like = cutoff / (200 - cutoff)  # of two lengths, the least share at which they can be so similar
        keys = self._table.keys_like(folded, len(folded) * like, len(folded) / like)
        if digits := _digits(folded):
            keys = [key for key in keys if _digits(key) == digits]
        scores = dict[str, float]()
        for scorer, loss in ((fuzz.ratio, 0.0), (fuzz.token_sort_ratio, 0.01)):
            for key, score, _ in process.extract(
                folded, keys, scorer=scorer, score_cutoff=cutoff, limit=limit
            ):
                scores[key] = max(scores.get(key, 0.0), score / 100 - loss)
        for key in islice(self._table.keys_holding(folded.split()), limit):
            scores[key] = max(scores.get(key, 0.0), 0.5 + 0.3 * len(folded) / len(key))
        if len(folded) <= MAX_CODE_CHARS + 1:
            scores = {key: 0.9 * score for key, score in scores.items()}
        return self._matches(scores, "fuzzy", limit)

    def find_run_together(self, text: str) -> list[Match]:
        """Find entities whose name, of several words or in the singular, is ``text`` without gaps."""
        folded = fold(replace_surrogates(text)).replace(" ", "")
        if not 0 < len(folded) <= MAX_MISSPELT_CHARS:
            return []
        keys = self._table.keys_without_gaps((folded, folded.removesuffix("s")))
        return self._matches(dict.fromkeys(keys, FOLDED_SCORE), "normalised", len(keys))

    def find_inflected(self, text: str, language: str) -> list[Match]:
        """Find entities whose name is ``text`` in another form: the stems of its words are the same."""
        stems = stem_words(replace_surrogates(text)[:MAX_MISSPELT_CHARS], language)
        if not stems or len(stems[0]) < MIN_STEM_CHARS:
            return []
        longest = sum(len(stem) + MAX_ENDING_CHARS for stem in stems)
        ids = {
            id: None
            for key in self._table.keys_beginning(stems[0], MAX_STEMMED)
            if key.count(" ") < len(stems) and len(key) <= longest
            for id, name in self._table.bearers(key)
            if stem_words(name, language) == stems
        }
        return self._sort(Match(Entity(id), FOLDED_SCORE, "normalised") for id in ids)

    def find_beginning(self, text: str, limit: int = 10) -> list[Match]:
        """Find entities of whose name of several words the first begins with ``text``, best known first."""
        keys = self._table.keys_beginning(fold(replace_surrogates(text)), MAX_LONGER)
        return self._matches({key: PART_SCORE for key in keys if " " in key}, "part", limit)

    def find_by_meaning(self, texts: Sequence[str], limit: int = 10) -> list[Match]:
        """Find entities whose name means what one of ``texts`` means, best first."""
        if self._meaning is None:
            return []
        folded = [key for key in (fold(text)[:MAX_MISSPELT_CHARS] for text in texts) if key]
        return self._matches(self._meaning.nearest(folded, limit, self._lookalikes), "embedding", limit)

    def find_containing(self, texts: Sequence[str], limit: int = 10) -> list[Match]:
        """Find entities whose name holds all words of one of ``texts``, those with most triples first."""
        wanted = [strip_article(fold(replace_surrogates(text))).split() for text in texts]
        keys = {key for words in wanted for key in islice(self._table.keys_holding(words), MAX_CONTAINING)}
        ids = dict.fromkeys(id for key in sorted(keys, key=len) for id, _ in self._table.bearers(key))
        return self._sort((Match(Entity(id), 0.5, "fuzzy") for id in islice(ids, MAX_CONTAINING)), limit)

    def find_longer(self, texts: Sequence[str], limit: int = 10) -> list[Match]:
        """Find entities whose name begins or ends with one of ``texts`` (`is_part`), best known first.

        As a family name, a title without its series and "united states" stand for the whole.
        """
        wanted = [strip_article(fold(replace_surrogates(text))).split() for text in texts]
        keys = {
            key: None
            for said in wanted
            for key in islice(
                (k for k in self._table.keys_holding(said) if is_part(said, k.split())), MAX_LONGER
            )
        }
        ids = dict.fromkeys(id for key in keys for id, _ in self._table.bearers(key))
        return self._sort((Match(Entity(id), PART_SCORE, "part") for id in islice(ids, MAX_LONGER)), limit)

    def _by_name(self, text: str) -> list[Match]:
        folded = fold(text)
        found = {id: Match(Entity(id), EXACT_SCORE, "exact") for id in self._table.called(text)}
        for id, name in self._table.bearers(strip_article(folded)):
            score = FOLDED_SCORE if fold(name) == folded else ARTICLE_SCORE
            if name.casefold() == text.casefold():
                score = CASE_SCORE
            if id not in found or found[id].score < score:
                found[id] = Match(Entity(id), score, "normalised")
        return list(found.values())

    def _by_local_name(self, text: str) -> list[Match]:
        """Find what is called so in one namespace, and only there."""
        local = text.rpartition(":")[2]
        ids = [space + local for space in self._table.namespaces] if _LOCAL_NAME.fullmatch(local) else []
        there = list(self._graph.facts(ids)) if ids else []
        is_new = len(there) == 1 and there[0] not in self._table.called(text)
        return [Match(Entity(there[0]), EXACT_SCORE, "id")] if is_new else []

    def _matches(self, scores: Mapping[str, float], how: Any, limit: int) -> list[Match]:
        best: dict[str, Match] = {}
        for key, score in scores.items():
            for id, _ in self._table.bearers(key):
                if id not in best or best[id].score < score:
                    best[id] = Match(Entity(id), round(score, 4), how)
        return self._sort(best.values(), limit)

    def _sort(self, matches: Iterable[Match], limit: int | None = None) -> list[Match]:
        """Sort matches, those of one score by their triples, and name the first."""
        found = list(matches)
        ids = [match.entity.id for match in found]
        known = self._recall(self._facts, ids, self._graph.facts) if len(ids) > 1 else {}
        degrees = {id: sum(facts.values()) for id, facts in known.items()}
        found.sort(key=lambda match: (-match.score, -degrees.get(match.entity.id, 0), match.entity.id))
        found = found[:limit]
        ids = [match.entity.id for match in found]
        names = self._recall(self._names[preferred_languages(())], ids, self._graph.preferred)
        return [
            Match(Entity(each.entity.id, names.get(each.entity.id)), each.score, each.how) for each in found
        ]

    def _recall(
        self, known: "LRUCache[str, T]", ids: Sequence[str], ask: Callable[[Sequence[str]], Mapping[str, T]]
    ) -> dict[str, T]:
        """Return what is known of entities, or asked for and kept."""
        with self._lock:
            found = {id: known[id] for id in ids if id in known}
        if missing := [id for id in dict.fromkeys(ids) if id not in found]:
            new = ask(missing)
            with self._lock:
                known.update(new)
            found |= new
        return found

    def _lookalikes(self, folded: str) -> list[str]:
        """Return the keys that are spelt like a text or hold one of its words; all of a small graph."""
        keys = self._table.keys_like(folded, 0, math.inf, SHORTLIST_SIZE)
        if len(keys) <= MAX_NAMES_COMPARED:
            return keys
        found = process.extract(folded, keys, scorer=fuzz.ratio, limit=SHORTLIST_SIZE // 2)
        holding = [
            list(islice(self._table.keys_holding([word]), SHORTLIST_SIZE))
            for word in sorted(set(folded.split()))
        ]
        near = chain((key for key, _, _ in found), *sorted(holding, key=len))
        return list(islice(dict.fromkeys(near), SHORTLIST_SIZE))


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def is_part(said: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a name is said by its first words, its last ones, or the first and the last.

    Of a name with a code, what stands between may be long.

    >>> [is_part(said.split(), "william howard taft".split()) for said in ("taft", "william taft", "howard")]
    [True, True, False]
    >>> is_part("k9 strain gauge".split(), "k9 4711 rotary strain gauge".split())
    True
    """
    n = len(said)
    edges = n == 2 and len(words) == 3 and [words[0], words[-1]] == [*said]
    has_code = n > 1 and not said[0].isalpha() and not said[0].isdigit()
    edges |= has_code and words[0] == said[0] and [*words[1 - n :]] == [*said[1:]]
    return 0 < n < len(words) and ([*words[:n]] == [*said] or [*words[-n:]] == [*said] or edges)
