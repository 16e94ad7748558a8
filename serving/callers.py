"""Who calls: the name that belongs to a key, or, where there are no keys, this machine."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

from langgraph_sdk import Auth

from kgqa.serving.keys import VARIABLE, Keys

LOCAL = "this machine"
"""Whoever calls from it, where there are no keys; no key can have this name."""

_NO_KEY = "give your key in the header x-api-key, or in Authorization after Bearer"
_WRONG_KEY = "this key is not known here; ask whoever runs the server for one"
_ELSEWHERE = f"no keys are configured, so this server answers its own machine only; set {VARIABLE}"
_FORWARDED = f"no keys are configured, so this server answers nobody through a proxy; set {VARIABLE}"
_PAGE = f"no keys are configured, so this server answers Studio's pages only; set {VARIABLE}"


@dataclass(frozen=True)
class Origins:
    """The web pages that may ask: these origins, and those that the pattern matches as a whole."""

    listed: frozenset[str] = frozenset()
    pattern: str | None = None

    def __contains__(self, origin: str) -> bool:
        return origin in self.listed or bool(self.pattern and re.fullmatch(self.pattern, origin))


@dataclass(frozen=True)
class Callers:
    """Whom a server lets in: who has a key or, where there are none, this machine and these pages."""

    keys: Keys
    origins: Origins = field(default_factory=Origins)

    def name_of(self, scope: Mapping[str, Any]) -> str:
        """Give the caller's name from the ASGI scope of a request.

        Without keys, the request has to come from a loopback address and to be for one: a page
        whose name is made to point at this machine is not let in either, nor is any other page,
        since a browser asks for it from this machine.

        Raises:
            Auth.exceptions.HTTPException: 401 for a key that is missing or wrong, 403 from elsewhere.
        """
        read = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
        headers = {name.lower(): value for name, value in read}
        if not self.keys:
            if why := self._why_not_local(scope.get("client"), headers):
                raise Auth.exceptions.HTTPException(status_code=403, detail=why)
            return LOCAL
        key = headers.get("x-api-key") or _bearer(headers.get("authorization", ""))
        name = self.keys.name_of(key) if key else None
        if name is None:
            raise Auth.exceptions.HTTPException(status_code=401, detail=_WRONG_KEY if key else _NO_KEY)
        return name

    def _why_not_local(self, client: tuple[str, int] | None, headers: Mapping[str, str]) -> str | None:
        host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        if not (client and _is_loopback(client[0]) and _is_loopback(host)):
            return _ELSEWHERE
        if any(name.startswith("x-forwarded-") or name in {"forwarded", "x-real-ip"} for name in headers):
            return _FORWARDED
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        is_strange = site == "cross-site" if origin is None else origin not in self.origins
        return _PAGE if is_strange else None


def _bearer(authorization: str) -> str:
    scheme, _, key = authorization.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
