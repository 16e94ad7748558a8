"""What lets someone in and is known where a call fails: none of it is said, whoever repeats it."""

import os
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from urllib.parse import quote_plus

from kgqa.addresses import KEYS, hidden, is_word, keys_of

_SET = re.compile(r"(_|^PG)(KEYS?|TOKEN|SECRET|PASS(WORD)?)$", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,:;]+")
_ADDRESSES = re.compile(r"[\s,;]+(?=[A-Za-z][\w+.-]*://)")


def without_secrets(text: str, error: BaseException) -> str:
    """Give a text about an error without the keys that its call carried or that the environment holds."""
    return hidden(text, {way(one) for one in (*_sent(error), *_set()) for way in (str, quote_plus)})


def _sent(error: BaseException) -> Iterator[str]:
    """Give what the request carried: servers repeat in their errors what they were sent."""
    request = getattr(getattr(error, "response", error), "request", None)
    for name, value in dict(getattr(request, "headers", None) or {}).items():
        if KEYS.search(name):
            key = value.rpartition(" ")[2]
            yield from (key, *_of_basic(key)) if not is_word(key) else ()
    yield from keys_of(str(getattr(request, "url", None) or ""))


def _of_basic(key: str) -> list[str]:
    """Give the password, and the user as well unless that is a mere word: it may be a key."""
    try:
        user, _, password = b64decode(key, validate=True).decode().partition(":")
    except (NotBase64, UnicodeDecodeError):
        return []
    return [password] if is_word(user) else [user, password]


def _set() -> Iterator[str]:
    """Give the keys that are set in the environment, and those within addresses there.

    Words are none ("ollama", where a server wants any key), nor are names of files that hold one.
    """
    for name, value in os.environ.items():
        if "://" in value:
            found = [part for url in _ADDRESSES.split(value) for part in keys_of(url)]
            found += [part.partition(",")[0] for part in found]
        elif _SET.search(name):
            found = _BETWEEN.split(value) if "," in value or ":" in value else [value]
        else:
            continue
        yield from (one for one in found if not is_word(one) and not _is_file(one))


def _is_file(value: str) -> bool:
    return os.path.exists(os.path.expanduser(value))
