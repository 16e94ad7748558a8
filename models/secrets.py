"""What lets someone in and is known where a call fails: none of it is said, whoever repeats it."""

import os
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from kgqa.addresses import hidden, shown_url

_SET = re.compile(r"(_|^PG)(KEYS?|TOKEN|SECRET|PASS(WORD)?)$", re.IGNORECASE)
_SENT = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,:;/@?&=#]+")


def without_secrets(text: str, error: BaseException) -> str:
    """Give a text about an error without the keys that its call carried or that the environment holds."""
    return hidden(text, {way(one) for one in (*_sent(error), *_set()) for way in (str, quote_plus)})


def _sent(error: BaseException) -> Iterator[str]:
    """Give what the request carried: servers repeat in their errors what they were sent."""
    request = getattr(getattr(error, "response", error), "request", None)
    for name, value in dict(getattr(request, "headers", None) or {}).items():
        if _SENT.search(name):
            key = value.rpartition(" ")[2]
            yield key
            yield from _of_basic(key)
    url: Any = getattr(request, "url", None)
    yield from _of_address(str(url or ""))


def _of_basic(key: str) -> list[str]:
    try:
        return b64decode(key, validate=True).decode().split(":", 1)
    except (NotBase64, UnicodeDecodeError):
        return []


def _of_address(url: str) -> list[str]:
    """Give the words of an address that are not shown."""
    shown = _BETWEEN.split(shown_url(url))
    return [word for word in _BETWEEN.split(url) if word not in shown]


def _set() -> Iterator[str]:
    """Give the keys that are set in the environment, and what lets someone in within addresses there."""
    for name, value in os.environ.items():
        if "://" in value:
            yield from _of_address(value)
        elif _SET.search(name):
            yield from _BETWEEN.split(value) if "," in value or ":" in value else [value]
