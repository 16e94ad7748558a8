"""Who calls: the name that belongs to a key, or, where there are no keys, this machine."""

from collections.abc import Mapping
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


def caller_of(scope: Mapping[str, Any], keys: Keys) -> str:
    """Give the caller's name from the ASGI scope of a request.

    Without keys, the request has to come from a loopback address and to be for one: a page
    whose name is made to point at this machine is not let in either.

    Raises:
        Auth.exceptions.HTTPException: 401 for a key that is missing or wrong, 403 from elsewhere.
    """
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    if not keys:
        client, host = scope.get("client"), headers.get(b"host", "")
        if client and _is_loopback(client[0]) and _is_loopback(urlsplit(f"//{host}").hostname or ""):
            return LOCAL
        raise Auth.exceptions.HTTPException(status_code=403, detail=_ELSEWHERE)
    key = headers.get(b"x-api-key") or _bearer(headers.get(b"authorization", ""))
    name = keys.name_of(key) if key else None
    if name is None:
        raise Auth.exceptions.HTTPException(status_code=401, detail=_WRONG_KEY if key else _NO_KEY)
    return name


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
