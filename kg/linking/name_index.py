"""Index of entity names: exact, folded, misspelt, or alike in meaning.

The names are listed by one scan of a graph, or read from the file of an earlier scan; the index is
read by many threads. Equal scores order by the number of triples, most first, then by id.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from kgqa.files import read_file
from kgqa.kg.dialects import Dialect
from kgqa.kg.graph import Executor
from kgqa.kg.naming import Naming
from kgqa.kg.pages import Match
from kgqa.kg.sparql import queries
from kgqa.kg.terms import Entity, Literal, is_id, is_iri, local_name
from kgqa.kg.text import fold, strip_article


@dataclass(frozen=True, slots=True)
class EntityNames:
    """The names of a graph's entities.

    Attributes:
        degrees: Number of triples of each entity.
        preferred: The preferred name of each entity that has one.
        others: Further names of entities: labels in other languages, aliases.
    """

    degrees: dict[str, int]
    preferred: dict[str, str]
    others: dict[str, list[str]]

    def write(self, path: Path) -> None:
        """Keep the names in a JSON file."""
        path.write_text(json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":")), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "EntityNames":
        """Read what `write` kept.

        Raises:
            OSError: if the file cannot be read.
            ValueError: if it is damaged.
        """
        from pydantic import TypeAdapter

        names = TypeAdapter(cls).validate_json(read_file(path), strict=True)
        named = names.preferred.keys() | names.others.keys()
        if not (named <= names.degrees.keys() and all(map(is_id, names.degrees))):
            raise ValueError("what has a name is no entity")
        return names


def scan_names(executor: Executor, naming: Naming, dialect: Dialect, relations: Iterable[str]) -> EntityNames:
    """List the names of a graph. Blocks for seconds per million names.

    Relations are no entities, nor are the entities that they have their names from.
    """
    predicates = set(relations)
    degrees = {
        end.id: int(n.value)
        for end, n in executor.query_now(queries.degrees()).rows
        if isinstance(end, Entity) and isinstance(n, Literal)
    }
    nodes = sorted(id for id in degrees.keys() - predicates if not dialect.is_relation_entity(id))
    listed = (
        _names_from_ids(dialect, nodes)
        if naming.local
        else _names_in_graph(executor, naming, frozenset(nodes))
    )
    preferred, others = {}, {}
    for id, names in listed.items():
        name = naming.name(id, [(rank, tag, text) for rank, tag, text in names if rank < len(naming.labels)])
        if name:
            preferred[id] = name
        others[id] = [text for text in dict.fromkeys(text for _, _, text in sorted(names)) if text != name]
    return EntityNames(
        {id: degrees[id] for id in nodes}, preferred, {id: kept for id, kept in others.items() if kept}
    )


_ListedNames: TypeAlias = dict[str, list[tuple[int, str, str]]]


def _names_in_graph(executor: Executor, naming: Naming, nodes: frozenset[str]) -> _ListedNames:
    """Return (place of the predicate, language, text) of every name, labels before aliases."""
    places = {predicate: place for place, predicate in enumerate((*naming.labels, *naming.aliases))}
    listed: _ListedNames = defaultdict(list)
    if places:
        for end, relation, name in executor.query_now(queries.all_names(tuple(places))).rows:
            if end is not None and end.id in nodes and relation is not None and isinstance(name, Literal):
                listed[end.id].append((places[relation.id], name.language, name.value))
    return dict(sorted(listed.items()))


def _names_from_ids(dialect: Dialect, nodes: Iterable[str]) -> _ListedNames:
    named = ((id, dialect.local_label(id)) for id in nodes)
    return {id: [(0, "", name)] for id, name in named if name}


Vectors: TypeAlias = NDArray[np.floating[Any]]
Encode: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Returns one L2-normalised row per text."""

MAX_NAMES_COMPARED = 5_000
"""Up to this many names all are compared; beyond it the `SHORTLIST_SIZE` that look most alike."""

SHORTLIST_SIZE = 300


class NameEmbeddings:
    """Vectors of names, encoded when first needed and kept."""

    def __init__(self, keys: Sequence[str], encode: Encode) -> None:
        self._keys = keys
        self._encode = encode
        self._rows: dict[int, Vectors] = {}
        self._lock = Lock()

    def nearest(
        self, texts: Sequence[str], limit: int, lexical: Callable[[str, int], list[int]]
    ) -> dict[str, float]:
        """Return the names nearest to any of ``texts`` with their cosine, negative ones left out.

        In a large index only the places of names that look like a text (``lexical``) are compared.
        """
        scores: dict[str, float] = {}
        queries = self._encode(list(texts)) if texts and self._keys else ()
        for text, query in zip(texts, queries, strict=True):
            places = (
                list(range(len(self._keys)))
                if len(self._keys) <= MAX_NAMES_COMPARED
                else lexical(text, SHORTLIST_SIZE)
            )
            cosines = self._vectors(places) @ query
            for at in np.argsort(-cosines, kind="stable")[:limit]:
                key, cosine = self._keys[places[at]], float(cosines[at])
                if cosine > scores.get(key, 0.0):
                    scores[key] = min(cosine, 1.0)
        return scores

    def _vectors(self, places: Sequence[int]) -> Vectors:
        with self._lock:
            missing = [place for place in places if place not in self._rows]
            if missing:
                rows = self._encode([self._keys[place] for place in missing])
                self._rows.update(zip(missing, rows, strict=True))
            return np.stack([self._rows[place] for place in places])


EXACT_SCORE, CASE_SCORE, FOLDED_SCORE, ARTICLE_SCORE = 1.0, 0.99, 0.97, 0.95
"""Scores of a name that is the text itself, or but for case, or for punctuation, or for an article."""

SURE_SCORE = 0.85  # from this score on a misspelt name is taken as found, and meaning is not asked

MAX_CODE_CHARS = 4
"""Characters of a code at most; names as short as this and one more are seldom meant when misspelt."""

MAX_BEARERS = 1_000
"""Entities of one name that are found at most, those with most triples: a million may share it."""

MAX_MISSPELT_CHARS = 500
"""Characters that a misspelt name has at most; to compare long texts takes the product of their lengths."""

MAX_NAME_WORDS = 50  # words of a name up to which it is found inside of a question
MIN_FUZZY_SIMILARITY = 70.0  # the least similarity (0 to 100, Indel ratio of rapidfuzz) of a misspelt name


class NameIndex:
    """Finds entities among the names of a graph."""

    def __init__(self, names: EntityNames, encode: Encode | None = None) -> None:
        self._preferred = names.preferred
        self._degrees = names.degrees
        self._exact: dict[str, list[str]] = defaultdict(list)
        self._folded: dict[str, list[tuple[str, str]]] = defaultdict(list)
        others = ((id, name) for id, several in names.others.items() for name in several)
        for id, name in chain(names.preferred.items(), others):
            self._exact[name].append(id)
        for name, ids in self._exact.items():
            if len(ids) > 1:
                ids[:] = nsmallest(MAX_BEARERS, ids, self._rank)
            if key := strip_article(fold(name)):
                self._folded[key] += ((id, name) for id in ids)
        for pairs in self._folded.values():
            if len(pairs) > 1:
                pairs[:] = nsmallest(MAX_BEARERS, pairs, lambda pair: self._rank(pair[0]))
        self._keys = sorted(self._folded)
        self._meaning = NameEmbeddings(self._keys, encode) if encode else None
        self.longest = min(MAX_NAME_WORDS, max((key.count(" ") + 2 for key in self._keys), default=0))

    def find(self, text: str, limit: int = 10) -> list[Match]:
        """Find at most ``limit`` entities called or identified by ``text``, best first."""
        text = text.strip().strip("<>")
        if text in self._degrees and (is_iri(text) or text.startswith("_:")):
            return [self._match(text, EXACT_SCORE, "id")]
        found = {match.entity.id: match for match in (*self._by_name(text), *self._by_local_name(text))}
        best = self._sort(found.values())
        if len(best) < limit:
            best += [match for match in self.find_misspelt(text, limit) if match.entity.id not in found]
        if self._meaning and (not best or best[0].score < SURE_SCORE):
            best = self._sort(
                {m.entity.id: m for m in (*self.find_by_meaning([text], limit), *best)}.values()
            )
        return best[:limit]

    def find_exact(self, text: str) -> list[Match]:
        """Find the entities whose name is ``text``, exactly or folded, best first."""
        return self._sort(self._by_name(text))

    def has_name(self, folded: str) -> bool:
        """Return whether an entity has this folded name."""
        return folded in self._folded or strip_article(folded) in self._folded

    def is_code(self, folded: str) -> bool:
        """Return whether only short names in capitals, such as codes, fold to this."""
        named = self._folded.get(strip_article(folded), ())
        return bool(named) and all(len(name) <= MAX_CODE_CHARS and name.isupper() for _, name in named)

    def find_misspelt(self, text: str, limit: int = 10, cutoff: float = MIN_FUZZY_SIMILARITY) -> list[Match]:
        """Find entities whose name is spelt like ``text``, or holds all its words, best first."""
        folded = strip_article(fold(text))
        if not 0 < len(folded) <= MAX_MISSPELT_CHARS:
            return []
        scores: dict[str, float] = {}
        for key, score, _ in process.extract(
            folded, self._keys, scorer=fuzz.ratio, score_cutoff=cutoff, limit=limit
        ):
            scores[key] = max(scores.get(key, 0.0), score / 100)
        for key, score, place in process.extract(
            _sort_words(folded), self._sorted_keys, scorer=fuzz.ratio, score_cutoff=cutoff, limit=limit
        ):
            key = self._keys[place]
            scores[key] = max(scores.get(key, 0.0), score / 100 - 0.01)
        for key in nsmallest(limit, self._keys_containing(folded), lambda key: (len(key), key)):
            scores[key] = max(scores.get(key, 0.0), 0.5 + 0.3 * len(folded) / len(key))
        if len(folded) <= MAX_CODE_CHARS + 1:
            scores = {key: 0.9 * score for key, score in scores.items()}
        return self._matches(scores, "fuzzy")[:limit]

    def find_by_meaning(self, texts: Sequence[str], limit: int = 10) -> list[Match]:
        """Find entities whose name means what one of ``texts`` means, best first."""
        if self._meaning is None:
            return []
        folded = [key for key in (fold(text)[:MAX_MISSPELT_CHARS] for text in texts) if key]
        return self._matches(self._meaning.nearest(folded, limit, self._lookalikes), "embedding")[:limit]

    def find_containing(self, texts: Sequence[str], limit: int = 10) -> list[Match]:
        """Find entities whose name holds all words of one of ``texts``, those with most triples first."""
        keys = {key for text in texts for key in self._keys_containing(strip_article(fold(text)))}
        ids = {id for key in keys for id, _ in self._folded[key]}
        return [self._match(id, 0.5, "fuzzy") for id in nsmallest(limit, ids, self._rank)]

    def _by_name(self, text: str) -> list[Match]:
        folded = fold(text)
        found = {id: self._match(id, EXACT_SCORE, "exact") for id in self._exact.get(text, ())}
        for id, name in self._folded.get(strip_article(folded), ()):
            score = FOLDED_SCORE if fold(name) == folded else ARTICLE_SCORE
            if name.casefold() == text.casefold():
                score = CASE_SCORE
            if id not in found or found[id].score < score:
                found[id] = self._match(id, score, "normalised")
        return list(found.values())

    def _by_local_name(self, text: str) -> list[Match]:
        ids = self._by_local.get(text.rpartition(":")[2], [])
        is_new = len(ids) == 1 and ids[0] not in self._exact.get(text, ())
        return [self._match(ids[0], EXACT_SCORE, "id")] if is_new else []

    def _match(self, id: str, score: float, how: Any) -> Match:
        return Match(Entity(id, self._preferred.get(id)), score, how)

    def _matches(self, scores: Mapping[str, float], how: str) -> list[Match]:
        best: dict[str, Match] = {}
        for key, score in scores.items():
            for id, _ in self._folded[key]:
                if id not in best or best[id].score < score:
                    best[id] = self._match(id, round(score, 4), how)
        return self._sort(best.values())

    def _sort(self, matches: Iterable[Match]) -> list[Match]:
        return sorted(matches, key=lambda match: (-match.score, self._rank(match.entity.id)))

    def _rank(self, id: str) -> tuple[int, str]:
        """Order entities: those with most triples first."""
        return (-self._degrees.get(id, 0), id)

    def _keys_containing(self, folded: str) -> list[str]:
        """Keys that hold all words of ``folded``."""
        sets = [self._postings.get(word) for word in set(folded.split())]
        if not sets or None in sets:
            return []
        places = set.intersection(*sorted((s for s in sets if s is not None), key=len))
        return [self._keys[place] for place in places]

    def _lookalikes(self, folded: str, limit: int) -> list[int]:
        """Places of the keys that look most like ``folded``."""
        found = process.extract(folded, self._keys, scorer=fuzz.ratio, limit=limit // 2)
        places = [place for _, _, place in found]
        for word in sorted(set(folded.split()), key=lambda word: (len(self._postings.get(word, ())), word)):
            places += nsmallest(max(0, limit - len(places)), self._postings.get(word, ()))
        return list(dict.fromkeys(places))[:limit]

    @cached_property
    def _sorted_keys(self) -> list[str]:
        return [_sort_words(key) for key in self._keys]

    @cached_property
    def _postings(self) -> dict[str, set[int]]:
        postings: dict[str, set[int]] = defaultdict(set)
        for place, key in enumerate(self._keys):
            for word in key.split():
                postings[word].add(place)
        return dict(postings)

    @cached_property
    def _by_local(self) -> dict[str, list[str]]:
        local: dict[str, list[str]] = defaultdict(list)
        for id in self._degrees:
            local[local_name(id)].append(id)
        local.pop("", None)
        return dict(local)


def _sort_words(folded: str) -> str:
    return " ".join(sorted(folded.split()))
