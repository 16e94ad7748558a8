"""Addresses as they may be shown and kept, and texts: without what lets someone in."""

import logging
import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit, urlunsplit

GRAPHS = ("default-graph-uri", "named-graph-uri")
"""Parameters that name a graph of an endpoint; any other may be a key."""

KEYS = re.compile(r"auth|access|key|token|secret|cookie|pass|pwd|sig|cred|jwt|session", re.IGNORECASE)
"""What is in the names of headers and parameters that let someone in."""

SHORTEST = 6
"""Characters from which on a password, a key or the value of a parameter is hidden."""

LONG = 16
"""Characters from which on parts of a secret are hidden too: it may come cut, or written otherwise."""

TOLD = 8
"""Characters in a row of a long secret that are such a part."""

_WORD = re.compile(r"[A-Z]?[a-z]+([-_][a-z]+)*|[A-Z]+")
_HOST = re.compile(r"[^:@\[\]]*|(localhost|[^:@\[\]]*\.[^:@\[\]]*|\[[^@\[\]]*\])(:\d{0,5})?", re.IGNORECASE)
_GRAPH = re.compile(rf"(?<=[?&])({'|'.join(GRAPHS)})=[^&#]*")


def is_address(name: str) -> bool:
    """Tell whether a name is an address on the web.

    >>> is_address("https://host/sparql"), is_address("graph.ttl")
    (True, False)
    """
    return re.match(r"\s*https?://", name, re.IGNORECASE) is not None


def shown_url(url: str) -> str:
    """Give an address without user, password and query.

    >>> shown_url("http://me:secret@host:8080/v1?token=1")
    'http://host:8080/v1'
    """
    scheme, host, path, _ = _parts(url)
    return urlunsplit((scheme, host, path.rstrip("/"), "", ""))


def without_user(url: str) -> str:
    """Give an address without user and password, and of its parameters those that name a graph.

    >>> without_user("http://me:secret@host/sparql?default-graph-uri=http://g/&key=1")
    'http://host/sparql?default-graph-uri=http://g/'
    """
    scheme, host, path, query = _parts(url)
    kept = "&".join(each for each in query.split("&") if each.partition("=")[0] in GRAPHS)
    return urlunsplit((scheme, host, path, kept, ""))


def shown_name(name: str) -> str:
    """Give a name as it may be shown and kept: an address of any kind `without_user`, all others as they are.

    >>> shown_name("postgresql://me:secret@host/base"), shown_name("graph.ttl")
    ('postgresql://host/base', 'graph.ttl')
    """
    return without_user(name) if "://" in name else name


def without_keys(url: str) -> str:
    """Give an address without user, password and parameters that are keys.

    >>> without_keys("http://me:secret@host/sparql?query=ASK&apikey=1")
    'http://host/sparql?query=ASK'
    """
    scheme, host, path, query = _parts(url)
    kept = "&".join(each for each in query.split("&") if not KEYS.search(each.partition("=")[0]))
    return urlunsplit((scheme, host, path, kept, ""))


def keys_of(url: str) -> list[str]:
    """Give what lets someone in within an address: its password and the parameters that are keys.

    >>> keys_of("postgresql://me:1%2F2@host/base?sslmode=require&apikey=3")
    ['1%2F2', '3', '1/2']
    """
    password = _apart(url.strip().partition("://")[2])[0].partition(":")[2]
    pairs = (each.partition("=") for each in re.split("[?&]", url)[1:])
    written = [password, *(value for name, _, value in pairs if KEYS.search(name))]
    keys = dict.fromkeys([*written, *map(unquote, written)])
    return [key for key in keys if key]


def is_word(text: str) -> bool:
    """Tell whether a text is a mere word or two, which is known to all.

    >>> is_word("virtuoso"), is_word("hf_Gd2w")
    (True, False)
    """
    return len(text) < LONG and _WORD.fullmatch(text) is not None


def check_password(url: str) -> None:
    """Refuse an address that does not tell where its password ends.

    Raises:
        ValueError: in one line, without the address.
    """
    if re.search("[/?#]", _apart(url.strip().partition("://")[2])[0]):
        raise ValueError("write %40, %2F, %3F and %23 for @, /, ? and # in a user or a password")


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Give a text in which no secret can be read, nor a part of a long one.

    >>> hidden("no such key: SK-0123456789***", ["sk-0123456789abcdef"])
    'no such key: …***'
    """
    low, sought = _low(text), {_low(secret) for secret in secrets if len(secret) >= SHORTEST}
    shown = list(text.replace("\0", " "))
    for start, end in (*_whole(low, sought), *_told(low, sought)):
        shown[start:end] = "\0" * (end - start)
    return re.sub("\0+", "…", "".join(shown))


def log_shown(*loggers: str) -> None:
    """Have clients of HTTP say addresses in their lines of log `without_keys`."""
    for name in loggers:
        logging.getLogger(name).addFilter(_with_shown_urls)


def _with_shown_urls(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        is_url = (type(each).__name__ == "URL" for each in record.args)
        pairs = zip(record.args, is_url, strict=True)
        record.args = tuple(without_keys(str(each)) if url else each for each, url in pairs)
    return True


def _low(text: str) -> str:
    """Give a text in small letters, each in its place."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _whole(text: str, secrets: Iterable[str]) -> list[tuple[int, int]]:
    """Give where secrets that are not long stand."""
    short = [secret for secret in secrets if len(secret) < LONG]
    return [found.span() for secret in short for found in re.finditer(re.escape(secret), text)]


def _told(text: str, secrets: Iterable[str]) -> list[tuple[int, int]]:
    """Give where parts of long secrets stand."""
    long = [secret for secret in secrets if len(secret) >= LONG]
    runs = {secret[at : at + TOLD] for secret in long for at in range(len(secret) - TOLD + 1)}
    ends = range(TOLD, len(text) + 1) if runs else ()
    return [(end - TOLD, end) for end in ends if text[end - TOLD : end] in runs]


def _apart(rest: str) -> tuple[str, str]:
    """Part what follows the scheme of an address: user and password, and all from the host on.

    Where there is a password, or half of one, all before the last @ may be of it; names of graphs are not.
    """
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    if _HOST.fullmatch(authority):
        return "", rest
    at = _GRAPH.sub(lambda found: "-" * len(found[0]), rest).rfind("@")
    return rest[: max(at, 0)], rest[at + 1 :]


def _parts(url: str) -> tuple[str, str, str, str]:
    """Give scheme, host with port, path and query."""
    scheme, _, rest = url.strip().partition("://")
    try:
        parts = urlsplit(f"//{_apart(rest)[1]}")
    except ValueError:
        return scheme.lower(), "…", "", ""
    host = re.sub(r":[^\]:]*[^\]:\d][^\]:]*$", "", parts.netloc)  # no port: a password, its host forgotten
    return scheme.lower(), host, parts.path, parts.query
