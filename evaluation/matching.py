"""Whether an answer is a gold answer: by id first, by name second, numbers by value.

>>> same(Named("http://rdf.freebase.com/ns/m.0345h", None), Named("m.0345h", "Germany"))
True
>>> same(Named("m.0345h", "Germany"), Named("m.03f2w", "Germany"))
False
>>> same(Named(None, "the U.S."), Named("m.09c7w0", "United States", ("US",)))
True
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from kgqa.evaluation.naming import Identity, Key, identity, name_key
from kgqa.evaluation.question import Named


class Reading(NamedTuple):
    """An answer as it is compared: its id, if it has one, and what its names say, the first one first."""

    id: Identity | None
    names: tuple[Key, ...]

    def same(self, other: "Reading") -> bool:
        """Tell whether both are one thing; see `same`."""
        if self.id and other.id:
            if self.id.local == other.id.local:
                return True
            if self.id.scheme and self.id.scheme == other.id.scheme:
                return False
        return any(name in other.names for name in self.names)

    @property
    def told_apart_by(self) -> Identity | Key | None:
        """What answers have in common that are one thing written twice."""
        if self.id and (self.id.scheme or not self.names):
            return self.id
        return self.names[0] if self.names else None


def same(answer: Named, gold: Named) -> bool:
    """Tell whether an answer is a gold answer.

    Equal ids decide, with or without the namespace of Freebase or Wikidata. Different ids
    of one scheme (both Freebase, both Wikidata, or IRIs of one host) decide as well: the
    answer is wrong, whatever its name. Where ids cannot be compared (a literal, a null,
    different hosts), names do (`naming.name_key`), those of the gold answer with its
    aliases. A literal, whose id is its value, is its own name.
    """
    return read(answer).same(read(gold, aliases=True))


def read(named: Named, *, aliases: bool = False) -> Reading:
    """Read ids and names once, for many comparisons; the aliases of an answer do not count."""
    id = identity(stripped) if named.id and (stripped := named.id.strip()) else None
    names = (named.name, *named.aliases) if aliases else (named.name,)
    keys = _keys(names)
    if not keys and id and not id.scheme:
        keys = _keys((id.local,))
    return Reading(id, keys)


@lru_cache(maxsize=1 << 16)
def _keys(names: tuple[str | None, ...]) -> tuple[Key, ...]:
    return tuple(dict.fromkeys(name_key(name) for name in names if name and name.strip()))


def distinct(readings: Iterable[Reading]) -> list[Reading]:
    """Leave each thing once, in order of first appearance, with all of its names.

    What is told apart by its name is the same as whatever has this name and an id.
    """
    given = [(reading, reading.told_apart_by) for reading in readings]
    called: dict[Identity | Key | None, dict[Identity, None]] = {}
    for reading, apart in given:
        if isinstance(apart, Identity) and reading.names:
            called.setdefault(reading.names[0], {})[apart] = None
    found: dict[Identity | Key | None, Reading] = {}
    for reading, apart in given:
        for id in called.get(apart, [None]) if isinstance(apart, Key) else [None]:
            _add(found, id or apart, Reading(id or reading.id, reading.names))
    return list(found.values())


def _add(found: dict[Identity | Key | None, Reading], apart: Identity | Key | None, reading: Reading) -> None:
    """Join a reading to those of the same thing; of several ids the least is kept, whatever the order."""
    first = found.setdefault(apart, reading)
    if reading != first:
        ids = [each for each in (first.id, reading.id) if each is not None]
        names = tuple(dict.fromkeys((*first.names, *reading.names)))
        found[apart] = Reading(min(ids, key=str, default=None), names)
