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
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from kgqa.evaluation.question import EntityRef
from kgqa.kg.dialects import FREEBASE, WIKIDATA, entity_iri
from kgqa.kg.text import limit_combining_marks

MAX_VALUE_CHARS = 400  # characters of the longest text that is read as a number

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

    >>> parse_id("http://x.org/e/Ulm"), parse_id("1999")
    (ScopedId(scheme='x.org', local='x.org/e/Ulm'), ScopedId(scheme=None, local='1999'))
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
        name = unicodedata.normalize("NFKC", limit_combining_marks(name)).casefold()
        name = unicodedata.normalize("NFKC", name).translate(_REMOVE_INVISIBLE)
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
    if moment := _MOMENT.fullmatch(text):
        with suppress(ValueError, OverflowError):
            time = datetime.fromisoformat(moment[1].upper())
            return NameKey("moment", time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC))
    return None


def _normalise_words(text: str) -> str:
    words = ".".join(part.translate(_REMOVE_PUNCTUATION) for part in _DECIMAL_POINT.split(text)).split()
    kept = [word for word in words[:-1] if word not in ("the", "a", "an")]
    joined = " ".join([*kept, *(word for word in words[-1:] if word != "the")])
    return joined if len(joined) > 1 else text


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
        """Return whether both are one thing; see `is_same`."""
        if self.id and other.id:
            if self.id.local == other.id.local:
                return True
            if self.id.scheme and self.id.scheme == other.id.scheme:
                return False
        return any(name in other.names for name in self.names)

    @property
    def lookup_keys(self) -> tuple[str | NameKey, ...]:
        """What it has in common with everything that it `matches`, some of it."""
        return (self.id.local, *self.names) if self.id else self.names

    @property
    def distinguishing_key(self) -> ScopedId | NameKey | None:
        """What answers have in common that are one thing written twice."""
        if self.id and (self.id.scheme or not self.names):
            return self.id
        return self.names[0] if self.names else None


def is_same(answer: EntityRef, gold: EntityRef) -> bool:
    """Return whether an answer is a gold answer.

    Equal ids decide, with or without the namespace of Freebase or Wikidata. Different ids
    of one scheme (both Freebase, both Wikidata, or IRIs of one host) decide as well: the
    answer is wrong, whatever its name. Where ids cannot be compared (a literal, a null,
    different hosts), names do (`name_key`), those of the gold answer with its
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


def exact_keys(named: EntityRef) -> AnswerKeys:
    """Read id and name for comparisons without aliases, to the letter where names have to be compared."""
    id = answer_keys(named).id
    name = named.name or (id.local if id and not id.scheme else None)
    return AnswerKeys(id, (NameKey("exact", name),) if name else ())


@lru_cache(maxsize=1 << 16)
def _name_keys(names: tuple[str | None, ...]) -> tuple[NameKey, ...]:
    return tuple(dict.fromkeys(name_key(name) for name in names if name and name.strip()))


def merge_duplicates(answers: Iterable[AnswerKeys]) -> list[AnswerKeys]:
    """Leave each thing once, in order of first appearance, with all of its names.

    What is known by its name only is the same as whatever has this name and an id. Of
    several ids of one thing the least is kept, whatever the order.
    """
    given = [(answer, answer.distinguishing_key) for answer in answers]
    ids_of_name: dict[NameKey, dict[ScopedId, None]] = defaultdict(dict)
    for answer, key in given:
        if isinstance(key, ScopedId) and answer.names:
            ids_of_name[answer.names[0]][key] = None
    groups: dict[ScopedId | NameKey | None, list[AnswerKeys]] = defaultdict(list)
    for answer, key in given:
        ids = ids_of_name.get(key) if isinstance(key, NameKey) else None
        for id in ids or [answer.id]:
            groups[id if ids else key].append(AnswerKeys(id, answer.names))
    merged = []
    for group in groups.values():
        least = min((answer.id for answer in group if answer.id is not None), key=str, default=None)
        names = dict.fromkeys(name for answer in group for name in answer.names)
        merged.append(AnswerKeys(least, tuple(names)))
    return merged


class AnswerIndex:
    """Gold answers, found by look-ups of their ids and names instead of comparing all pairs."""

    def __init__(self, answers: Sequence[AnswerKeys]) -> None:
        self.answers = answers
        self._places: dict[str | NameKey, list[int]] = defaultdict(list)
        for place, answer in enumerate(answers):
            for key in answer.lookup_keys:
                self._places[key].append(place)

    def find(self, answer: AnswerKeys) -> list[int]:
        """Return the places of the gold answers that an answer is the same as."""
        near = dict.fromkeys(place for key in answer.lookup_keys for place in self._places.get(key, ()))
        return [place for place in near if answer.matches(self.answers[place])]


def match_answers(answers: Sequence[AnswerKeys], gold: Sequence[AnswerKeys]) -> tuple[bool, int]:
    """Return whether the first answer is right, and the size of a maximum matching with the gold.

    Neither has duplicates. A choice between pairs is rare, and only then scipy is needed.
    """
    index = AnswerIndex(gold)
    edges = [index.find(answer) for answer in answers]
    first_right = bool(edges and edges[0])
    reached = {place for places in edges for place in places}
    if all(len(places) <= 1 for places in edges):
        return first_right, len(reached)
    if len(reached) == sum(map(len, edges)):
        return first_right, sum(map(bool, edges))
    return first_right, _count_maximum_pairs(edges, len(gold))


def _count_maximum_pairs(edges: Sequence[Sequence[int]], gold: int) -> int:
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    starts = np.cumsum([0, *map(len, edges)])
    ends = np.array([place for places in edges for place in places], dtype=np.int32)
    graph = csr_array((np.ones(len(ends), dtype=np.int8), ends, starts), shape=(len(edges), gold))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())
