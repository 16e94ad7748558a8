"""The keys of callers, as the operator lists them in KGQA_API_KEYS."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

VARIABLE = "KGQA_API_KEYS"

SHORTEST = 16
"""Characters of a key at least; what is shorter can be guessed."""


@dataclass(frozen=True)
class Keys:
    """The names of callers by the digests of their keys; the keys themselves are not kept."""

    names: Mapping[bytes, str]

    def __bool__(self) -> bool:
        return bool(self.names)

    def name_of(self, key: str) -> str | None:
        """Give the name of whoever has this key; takes as long whatever key is given."""
        digest = _digest(key)
        found = [name for known, name in self.names.items() if hmac.compare_digest(known, digest)]
        return found[0] if found else None


def read_keys(listed: str) -> Keys:
    """Read keys, separated by commas, each ``name:key`` or a key alone.

    A key alone is called by the beginning of its digest, which stays the same
    when the list changes. Several keys may have one name.

    Raises:
        ValueError: in one line, without the key, if one is too short, listed twice or badly named.
    """
    names: dict[bytes, str] = {}
    for place, entry in enumerate(filter(None, map(str.strip, listed.split(","))), start=1):
        name, colon, key = entry.partition(":")
        key = key if colon else entry
        digest = _digest(key)
        if len(key) < SHORTEST:
            raise ValueError(f"{VARIABLE}: key {place} is too short; give it {SHORTEST} characters or more")
        if colon and not re.fullmatch(r"[\w.@-]+", name):
            raise ValueError(f"{VARIABLE}: the name of key {place} may have letters, digits and . @ - _ only")
        if digest in names:
            raise ValueError(f"{VARIABLE}: key {place} is listed twice")
        names[digest] = name if colon else f"key-{digest.hex()[:8]}"
    return Keys(names)


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogateescape")).digest()
