"""By which properties the members of a class are named, where no well-known one names them."""

import re
from collections.abc import Mapping, Sequence
from os.path import commonprefix
from typing import TypeGuard

from kgqa.kg.dialects import GIVEN_AND_FAMILY, is_readable
from kgqa.kg.terms import Literal, Term, local_name

MIN_NAMED_SHARE = 0.9
"""Of the members of a class that have a property, and of its values that differ, for it to name them."""

MAX_MEAN_NAME_CHARS = 80

_SAYS_NAME = re.compile(r"(?i)(?:name|title|label|designation)$")
_NAMES_ELSE = re.compile(r"(?i)(?:user|file|given|first|middle|family|last|nick|sur|fore)_?-?name$")

Facts = Mapping[str, Mapping[str, Sequence[Term]]]  # of nodes by their ids, their values by relation


def find_naming(facts: Facts, known: Sequence[str]) -> tuple[str, ...]:
    """Return the properties that name most of some nodes: the best that are ``known``, or what seems to."""
    parts = [part for pair in GIVEN_AND_FAMILY for part in pair]
    for some in (known, parts):
        given = tuple(each for each in some if any(each in has for has in facts.values()))
        if given and 2 * sum(any(each in has for each in given) for has in facts.values()) >= len(facts):
            return given
    least = MIN_NAMED_SHARE * len(facts)
    found: list[tuple[bool, float, str]] = []
    for relation in sorted({relation for has in facts.values() for relation in has}):
        texts = [has[relation] for has in facts.values() if relation in has]
        values = [text.value for several in texts for text in several if _is_text(text)]
        length = sum(map(len, values)) / max(1, len(values))
        is_whole = len(values) == sum(map(len, texts)) and len(texts) >= max(1.0, least)
        differ = len({*values}) >= MIN_NAMED_SHARE * len(values)
        if is_whole and differ and 0 < length <= MAX_MEAN_NAME_CHARS and not _NAMES_ELSE.search(relation):
            found.append((not _SAYS_NAME.search(local_name(relation)), length, relation))
    said = [each for each in found if not each[0]]
    readable = sum(is_readable(local_name(id)) for id in facts)
    alone = found if len(found) == 1 and 2 * readable < len(facts) else []
    return tuple(relation for _, _, relation in sorted(said or alone)[:1])


def _is_text(term: Term) -> TypeGuard[Literal]:
    return isinstance(term, Literal) and (bool(term.language) or term.datatype.endswith("#string"))


def find_unnamed(ids: Sequence[str]) -> str | None:
    """Return how the IRIs of a class begin whose members have no name, "" if in no way of their own.

    None where they are called by their IRIs: most can be read, and differ in more than a number.

    >>> find_unnamed(["http://x/price-1", "http://x/price-2"]), find_unnamed(["http://x/ada", "http://x/bob"])
    ('http://x/price-', None)
    """
    iris = sorted(id for id in ids if not id.startswith("_:"))
    begins = commonprefix(iris) if len(iris) > 1 else ""  # noqa: RUF071 (by characters)
    stem = begins.rpartition("/")[2].rpartition("#")[2]
    rests = [(id, local_name(id).removeprefix(stem)) for id in iris]
    told = sum(is_readable(local_name(id)) and is_readable(rest) for id, rest in rests)
    if iris and 2 * told >= len(ids):
        return None
    return begins if stem else ""
