"""Who calls the server: the name that belongs to an API key, or, without keys, this machine."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

from langgraph_sdk import Auth

KEYS_VARIABLE = "KGQA_API_KEYS"

MIN_KEY_CHARS = 16  # characters of a key at least; what is shorter can be guessed


@dataclass(frozen=True)
class ApiKeys:
    """The names of callers by the digests of their keys; the keys themselves are not kept."""

    names: Mapping[bytes, str]

    def __bool__(self) -> bool:
        return bool(self.names)

    def name_of(self, key: str) -> str | None:
        """Return the caller who has this key; takes as long whatever key is given."""
        digest = _digest(key)
        found = [name for known, name in self.names.items() if hmac.compare_digest(known, digest)]
        return found[0] if found else None


def read_keys(listed: str) -> ApiKeys:
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
        if len(key) < MIN_KEY_CHARS:
            raise ValueError(
                f"{KEYS_VARIABLE}: key {place} is too short; give it {MIN_KEY_CHARS} characters or more"
            )
        if colon and not re.fullmatch(r"[\w.@-]+", name):
            raise ValueError(
                f"{KEYS_VARIABLE}: the name of key {place} may have letters, digits and . @ - _ only"
            )
        if digest in names:
            raise ValueError(f"{KEYS_VARIABLE}: key {place} is listed twice")
        names[digest] = name if colon else f"key-{digest.hex()[:8]}"
    return ApiKeys(names)


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogateescape")).digest()


LOCAL_CALLER = "this machine"  # a caller from it, where there are no keys; no key can have this name
_KEY_MISSING = "give your key in the header x-api-key, or in Authorization after Bearer"
_KEY_UNKNOWN = "this key is not known here; ask the server's operator for one"


@dataclass(frozen=True)
class Authenticator:
    """Whom a server lets in: who has a key or, where there are none, this machine and some pages.

    The pages are those of the origins that are listed, or that the pattern matches as a whole.
    """

    keys: ApiKeys
    origins: frozenset[str] = frozenset()
    origin_pattern: str | None = None

    def name_of(self, scope: Mapping[str, Any]) -> str:
        """Return the caller's name from the ASGI scope of a request.

        Without keys, the request has to come from a loopback address and to be for one: a page
        whose name is made to point at this machine is not let in either, nor is any other page,
        since a browser asks for it from this machine.

        Raises:
            Auth.exceptions.HTTPException: 401 for a key that is missing or wrong, 403 from elsewhere.
        """
        read = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
        headers = {name.lower(): value for name, value in read}
        if not self.keys:
            if refused := self._refuse_remote(scope.get("client"), headers):
                why = f"no keys are configured, so this server answers {refused}; set {KEYS_VARIABLE}"
                raise Auth.exceptions.HTTPException(status_code=403, detail=why)
            return LOCAL_CALLER
        scheme, _, token = headers.get("authorization", "").partition(" ")
        key = headers.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else "")
        name = self.keys.name_of(key) if key else None
        if name is None:
            raise Auth.exceptions.HTTPException(status_code=401, detail=_KEY_UNKNOWN if key else _KEY_MISSING)
        return name

    def _refuse_remote(self, client: tuple[str, int] | None, headers: Mapping[str, str]) -> str | None:
        host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        if not (client and _is_loopback(client[0]) and _is_loopback(host)):
            return "its own machine only"
        if any(name.startswith("x-forwarded-") or name in {"forwarded", "x-real-ip"} for name in headers):
            return "nobody through a proxy"
        if (origin := headers.get("origin")) is None:
            allowed = headers.get("sec-fetch-site") != "cross-site"
        else:
            pattern = self.origin_pattern
            allowed = origin in self.origins or bool(pattern and re.fullmatch(pattern, origin))
        return None if allowed else "Studio's pages only"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
