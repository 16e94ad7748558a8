"""Reads names and ids into keys that compare equal for one thing.

>>> name_key("The Beatles") == name_key("Beatles")
True
>>> name_key("1,000") == name_key("1e3")
True
>>> identity("http://www.wikidata.org/entity/Q42") == identity("Q42")
True
"""

import re
import unicodedata
from collections.abc import Hashable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from kgqa.kg.dialect import FREEBASE, WIKIDATA, entity_iri
from kgqa.kg.text import unpiled

MOST_DIGITS = 400
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

_TRUTH = {"true": True, "yes": True, "false": False, "no": False}

_DECIMAL_POINT = re.compile(r"(?<=[0-9])\.(?=[0-9])")

_IRI = re.compile(r"(?:https?://([^/?#\s]+)|(urn:[^:\s]+):)(\S*)")


class Key(NamedTuple):
    """What a name says: a number, a day or moment, a truth value, or else words."""

    kind: str
    value: Hashable


class Identity(NamedTuple):
    """An id without its namespace, and the scheme it belongs to.

    Ids of one scheme can be told apart. The scheme is None for an id that says nothing
    outside of its file: a literal's value, a number of a table, a blank node.
    """

    scheme: str | None
    local: str


@lru_cache(maxsize=1 << 16)
def identity(id: str) -> Identity:
    """Read an id: Freebase and Wikidata ids with or without namespace, other IRIs by their host.

    >>> identity("ns:m.0abc"), identity("http://x.org/e/Ulm"), identity("1999")
    (Identity(scheme='freebase', local='m.0abc'), \
Identity(scheme='x.org', local='x.org/e/Ulm'), Identity(scheme=None, local='1999'))
    """
    id = entity_iri(id) or id
    for dialect in (FREEBASE, WIKIDATA):
        if dialect.entities and id.startswith(dialect.entities.iri):
            return Identity(dialect.name, id.removeprefix(dialect.entities.iri))
    if found := _IRI.fullmatch(id):
        host = (found[1] or found[2]).casefold()
        return Identity(host, host + unquote(found[3]))
    return Identity(None, id)


def name_key(name: str) -> Key:
    """Give what a name says, so that two names of one thing have equal keys.

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
    text = _folded(name)
    return _value(text.lstrip(_OPENING).rstrip(_CLOSING)) or Key("words", _words(text))


def _folded(name: str) -> str:
    """Fold width and case, drop invisible characters, make spaces single."""
    if not name.isascii():
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", unpiled(name)).casefold())
        name = name.translate(_INVISIBLE)
    return " ".join(name.casefold().split())


def _value(text: str) -> Key | None:
    """Read folded text as a number, day, moment or truth value."""
    if text in _TRUTH:
        return Key("truth", _TRUTH[text])
    if len(text) > MOST_DIGITS or not any(map(str.isdigit, text)):
        return None
    if _NUMBER.fullmatch(text):
        return Key("number", Decimal(text.replace(",", "")))
    if day := _DAY.fullmatch(text):
        return Key("day", day[1])
    moment = _MOMENT.fullmatch(text)
    return _moment(moment[1].upper()) if moment else None


def _moment(text: str) -> Key | None:
    try:
        time = datetime.fromisoformat(text)
        return Key("moment", time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _words(text: str) -> str:
    plain = ".".join(part.translate(_PUNCTUATION) for part in _DECIMAL_POINT.split(text))
    words = plain.split()
    kept = [word for at, word in enumerate(words, 1) if not _article(word, last=at == len(words))]
    joined = " ".join(kept)
    return joined if len(joined) > 1 else text


def _article(word: str, *, last: bool) -> bool:
    return word == "the" or (word in {"a", "an"} and not last)


class _Without(dict[int, int | None]):
    """A table for `str.translate` that drops the characters of some Unicode categories."""

    def __init__(self, *categories: str) -> None:
        super().__init__()
        self._categories = categories

    def __missing__(self, code: int) -> int | None:
        dropped = unicodedata.category(chr(code)).startswith(self._categories)
        self[code] = None if dropped else code
        return self[code]


_INVISIBLE = _Without("Cf")
_INVISIBLE[ord("\N{MINUS SIGN}")] = ord("-")
_PUNCTUATION = _Without("P", "Sk")
