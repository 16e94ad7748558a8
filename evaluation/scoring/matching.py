"""Whether an answer is a gold answer: by id first, by name second, numbers by value.

>>> is_same(EntityRef("http://rdf.freebase.com/ns/m.0345h", None), EntityRef("m.0345h", "Germany"))
True
>>> is_same(EntityRef("m.0345h", "Germany"), EntityRef("m.03f2w", "Germany"))
False
>>> is_same(EntityRef(None, "the U.S."), EntityRef("m.09c7w0", "United States", ("US",)))
True
>>> name_key("The Beatles") == name_key("Beatles")
True
>>> name_key("1,000") == name_key("1e3")
True
>>> parse_id("http://www.wikidata.org/entity/Q42") == parse_id("Q42")
True
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from kgqa.evaluation.question import EntityRef
from kgqa.kg.dialects import FREEBASE, WIKIDATA, entity_iri
from kgqa.kg.text import limit_combining_marks

MAX_VALUE_CHARS = 400
"""Characters of the longest text that is read as a number."""

_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,6})?"
)
_ZONE = r"(?:z|[+-][0-9]{2}:[0-9]{2})?"
_DAY = re.compile(rf"\+?(-?[0-9]{{4,}}-[0-9]{{2}}-[0-9]{{2}})(?:[t ]00:00(?::00(?:\.0+)?)?)?{_ZONE}")
_MOMENT = re.compile(
    rf"\+?([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[t ][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]+)?)?{_ZONE})"
)
_OPENING, _CLOSING = "\"'“\N{LEFT SINGLE QUOTATION MARK}„«([{", "\"'”’“»)]}.,;:!?"
"""What a value may be wrapped in where it stands in text."""

_TRUTH_VALUES = {"true": True, "yes": True, "false": False, "no": False}

_DECIMAL_POINT = re.compile(r"(?<=[0-9])\.(?=[0-9])")

_IRI = re.compile(r"(?:https?://([^/?#\s]+)|(urn:[^:\s]+):)(\S*)")


class NameKey(NamedTuple):
    """What a name says: a number, a day or moment, a truth value, or else words."""

    kind: str
    value: Hashable


class ScopedId(NamedTuple):
    """An id without its namespace, and the scheme it belongs to.

    Ids of one scheme can be told apart. The scheme is None for an id that says nothing
    outside of its file: a literal's value, a number of a table, a blank node.
    """

    scheme: str | None
    local: str


@lru_cache(maxsize=1 << 16)
def parse_id(id: str) -> ScopedId:
    """Read an id: Freebase and Wikidata ids with or without namespace, other IRIs by their host.

    >>> identity("ns:m.0abc"), identity("http://x.org/e/Ulm"), identity("1999")
    (Identity(scheme='freebase', local='m.0abc'), \
Identity(scheme='x.org', local='x.org/e/Ulm'), Identity(scheme=None, local='1999'))
    """
    id = entity_iri(id) or id
    for dialect in (FREEBASE, WIKIDATA):
        if dialect.entities and id.startswith(dialect.entities.iri):
            return ScopedId(dialect.name, id.removeprefix(dialect.entities.iri))
    if found := _IRI.fullmatch(id):
        host = (found[1] or found[2]).casefold()
        return ScopedId(host, host + unquote(found[3]))
    return ScopedId(None, id)


def name_key(name: str) -> NameKey:
    """Return what a name says, so that two names of one thing have equal keys.

    * A number compares by value: ``3``, ``+3``, ``3.0``, ``3e0``; ``1,000`` is 1000.
    * A day is equal to its midnight in any zone (``1999-01-01``,
      ``1999-01-01T00:00:00Z``); other times compare in UTC, which is also the zone of a
      time without one. A year is a number and no day: ``1999`` is not ``1999-01-01``.
      Dates in words are words.
    * ``true`` and ``yes`` are one, so are ``false`` and ``no``; ``1`` is a number.
    * None of these minds quotes and brackets around it, nor punctuation after it.
    * Words compare after NFKC and case folding, without punctuation (but for a point
      between digits), without articles, with single spaces, as SQuAD does it; accents and
      symbols count (``C++`` is not ``C``). An article at the end is none (``Vitamin A``).
      A name of which that leaves less than two characters compares as it is (``C*``).
    """
    text = _fold(name)
    return _parse_value(text.lstrip(_OPENING).rstrip(_CLOSING)) or NameKey("words", _normalise_words(text))


def _fold(name: str) -> str:
    """Fold width and case, drop invisible characters, make spaces single."""
    if not name.isascii():
        name = unicodedata.normalize(
            "NFKC", unicodedata.normalize("NFKC", limit_combining_marks(name)).casefold()
        )
        name = name.translate(_REMOVE_INVISIBLE)
    return " ".join(name.casefold().split())


def _parse_value(text: str) -> NameKey | None:
    """Read folded text as a number, day, moment or truth value."""
    if text in _TRUTH_VALUES:
        return NameKey("truth", _TRUTH_VALUES[text])
    if len(text) > MAX_VALUE_CHARS or not any(map(str.isdigit, text)):
        return None
    if _NUMBER.fullmatch(text):
        return NameKey("number", Decimal(text.replace(",", "")))
    if day := _DAY.fullmatch(text):
        return NameKey("day", day[1])
    moment = _MOMENT.fullmatch(text)
    return _parse_moment(moment[1].upper()) if moment else None


def _parse_moment(text: str) -> NameKey | None:
    try:
        time = datetime.fromisoformat(text)
        return NameKey("moment", time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _normalise_words(text: str) -> str:
    plain = ".".join(part.translate(_REMOVE_PUNCTUATION) for part in _DECIMAL_POINT.split(text))
    words = plain.split()
    kept = [word for at, word in enumerate(words, 1) if not _is_article(word, last=at == len(words))]
    joined = " ".join(kept)
    return joined if len(joined) > 1 else text


def _is_article(word: str, *, last: bool) -> bool:
    return word == "the" or (word in {"a", "an"} and not last)


class _CategoryRemover(dict[int, int | None]):
    """A table for `str.translate` that drops the characters of some Unicode categories."""

    def __init__(self, *categories: str) -> None:
        super().__init__()
        self._categories = categories

    def __missing__(self, code: int) -> int | None:
        dropped = unicodedata.category(chr(code)).startswith(self._categories)
        self[code] = None if dropped else code
        return self[code]


_REMOVE_INVISIBLE = _CategoryRemover("Cf")
_REMOVE_INVISIBLE[ord("\N{MINUS SIGN}")] = ord("-")
_REMOVE_PUNCTUATION = _CategoryRemover("P", "Sk")


class AnswerKeys(NamedTuple):
    """An answer as it is compared: its id, if it has one, and what its names say, the first one first."""

    id: ScopedId | None
    names: tuple[NameKey, ...]

    def matches(self, other: "AnswerKeys") -> bool:
        """Return whether both are one thing; see `same`."""
        if self.id and other.id:
            if self.id.local == other.id.local:
                return True
            if self.id.scheme and self.id.scheme == other.id.scheme:
                return False
        return any(name in other.names for name in self.names)

    @property
    def told_apart_by(self) -> ScopedId | NameKey | None:
        """What answers have in common that are one thing written twice."""
        if self.id and (self.id.scheme or not self.names):
            return self.id
        return self.names[0] if self.names else None


def is_same(answer: EntityRef, gold: EntityRef) -> bool:
    """Return whether an answer is a gold answer.

    Equal ids decide, with or without the namespace of Freebase or Wikidata. Different ids
    of one scheme (both Freebase, both Wikidata, or IRIs of one host) decide as well: the
    answer is wrong, whatever its name. Where ids cannot be compared (a literal, a null,
    different hosts), names do (`naming.name_key`), those of the gold answer with its
    aliases. A literal, whose id is its value, is its own name.
    """
    return answer_keys(answer).matches(answer_keys(gold, aliases=True))


def answer_keys(named: EntityRef, *, aliases: bool = False) -> AnswerKeys:
    """Read ids and names once, for many comparisons; the aliases of an answer do not count."""
    id = parse_id(stripped) if named.id and (stripped := named.id.strip()) else None
    names = (named.name, *named.aliases) if aliases else (named.name,)
    keys = _name_keys(names)
    if not keys and id and not id.scheme:
        keys = _name_keys((id.local,))
    return AnswerKeys(id, keys)


@lru_cache(maxsize=1 << 16)
def _name_keys(names: tuple[str | None, ...]) -> tuple[NameKey, ...]:
    return tuple(dict.fromkeys(name_key(name) for name in names if name and name.strip()))


def merge_duplicates(readings: Iterable[AnswerKeys]) -> list[AnswerKeys]:
    """Leave each thing once, in order of first appearance, with all of its names.

    What is told apart by its name is the same as whatever has this name and an id.
    """
    given = [(reading, reading.told_apart_by) for reading in readings]
    called: dict[ScopedId | NameKey | None, dict[ScopedId, None]] = {}
    for reading, apart in given:
        if isinstance(apart, ScopedId) and reading.names:
            called.setdefault(reading.names[0], {})[apart] = None
    found: dict[ScopedId | NameKey | None, AnswerKeys] = {}
    for reading, apart in given:
        for id in called.get(apart, [None]) if isinstance(apart, NameKey) else [None]:
            _merge_into(found, id or apart, AnswerKeys(id or reading.id, reading.names))
    return list(found.values())


def _merge_into(
    found: dict[ScopedId | NameKey | None, AnswerKeys], apart: ScopedId | NameKey | None, reading: AnswerKeys
) -> None:
    """Join a reading to those of the same thing; of several ids the least is kept, whatever the order."""
    first = found.setdefault(apart, reading)
    if reading != first:
        ids = [each for each in (first.id, reading.id) if each is not None]
        names = tuple(dict.fromkeys((*first.names, *reading.names)))
        found[apart] = AnswerKeys(min(ids, key=str, default=None), names)


class AnswerMatches(NamedTuple):
    """How the answers fit the gold."""

    first_right: bool
    """Whether the first answer is a gold answer."""
    right: int
    """Pairs in a maximum matching of answers and gold answers."""


def match_answers(answers: Sequence[AnswerKeys], gold: Sequence[AnswerKeys]) -> AnswerMatches:
    """Match answers with gold, both without duplicates: dictionary look-ups, not all pairs."""
    edges = _find_edges(answers, gold)
    return AnswerMatches(bool(edges and edges[0]), _count_pairs(edges, len(gold)))


def _count_pairs(edges: list[list[int]], gold: int) -> int:
    """Count the pairs of a maximum matching; a choice is rare, and only then scipy is needed."""
    reached = {at for found in edges for at in found}
    if all(len(found) <= 1 for found in edges):
        return len(reached)
    if len(reached) == sum(map(len, edges)):
        return sum(map(bool, edges))
    return _count_maximum_pairs(edges, gold)


def _find_edges(answers: Sequence[AnswerKeys], gold: Sequence[AnswerKeys]) -> list[list[int]]:
    """Return the places in ``gold`` that each answer is the same as."""
    ids: dict[str, list[int]] = defaultdict(list)
    names: dict[NameKey, list[int]] = defaultdict(list)
    for at, reading in enumerate(gold):
        if reading.id:
            ids[reading.id.local].append(at)
        for key in reading.names:
            names[key].append(at)
    edges = []
    for answer in answers:
        near = dict.fromkeys(ids.get(answer.id.local, ()) if answer.id else ())
        for key in answer.names:
            near |= dict.fromkeys(names.get(key, ()))
        edges.append([at for at in near if answer.matches(gold[at])])
    return edges


def _count_maximum_pairs(edges: Sequence[Sequence[int]], gold: int) -> int:
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    starts = np.cumsum([0, *map(len, edges)])
    ends = np.array([at for found in edges for at in found], dtype=np.int32)
    graph = csr_array((np.ones(len(ends), dtype=np.int8), ends, starts), shape=(len(edges), gold))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())
