"""Addresses as they may be shown and kept, and texts: without what lets someone in."""

import logging
import re
from collections.abc import Iterable
from urllib.parse import urlsplit, urlunsplit

GRAPHS = ("default-graph-uri", "named-graph-uri")
"""Parameters that name a graph of an endpoint; any other may be a key."""

SHORTEST = 6
"""Characters from which on a password, a key or the value of a parameter is no mere word, and is hidden."""

TOLD = 8
"""Characters in a row of a longer secret that are hidden too: it may come cut, or written otherwise."""


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


def check_password(url: str) -> None:
    """Refuse an address that does not tell where its password ends.

    Raises:
        ValueError: in one line, without the address.
    """
    if "@" in url.partition("://")[2].removeprefix(urlsplit(url).netloc):
        raise ValueError("write %40, %2F, %3F and %23 for @, /, ? and # in a user or a password")


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Give a text in which no secret can be read, nor a part of one.

    >>> hidden("no such key: SK-0123456789***", ["sk-0123456789abcdef"])
    'no such key: …***'
    """
    kept = [True] * len(text)
    if runs := {run for secret in secrets for run in _runs(secret)}:
        for found in re.finditer(f"(?=({'|'.join(map(re.escape, runs))}))", text, re.IGNORECASE):
            start, end = found.span(1)
            kept[start:end] = [False] * (end - start)
    shown = (char if keep else "\0" for char, keep in zip(text.replace("\0", " "), kept, strict=True))
    return re.sub("\0+", "…", "".join(shown))


def log_shown(*loggers: str) -> None:
    """Have clients of HTTP say addresses in their lines of log as `shown_url` does."""
    for name in loggers:
        logging.getLogger(name).addFilter(_with_shown_urls)


def _with_shown_urls(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        is_url = (type(each).__name__ == "URL" for each in record.args)
        pairs = zip(record.args, is_url, strict=True)
        record.args = tuple(shown_url(str(each)) if url else each for each, url in pairs)
    return True


def _runs(secret: str) -> set[str]:
    if len(secret) < SHORTEST:
        return set()
    return {secret[at : at + TOLD] for at in range(max(1, len(secret) - TOLD + 1))}


def _parts(url: str) -> tuple[str, str, str, str]:
    """Give scheme, host with port, path and query; all that stands before the last @ may be a password."""
    scheme, _, rest = url.strip().partition("://")
    try:
        parts = urlsplit(f"//{rest.rpartition('@')[2]}")
    except ValueError:
        return scheme.lower(), "…", "", ""
    host = re.sub(r":[^\]:]*[^\]:\d][^\]:]*$", "", parts.netloc)  # no port: a password, its host forgotten
    return scheme.lower(), host, parts.path, parts.query
