"""Redacts addresses and texts: what lets someone in is neither shown nor kept."""

import logging
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit, urlunsplit

GRAPH_PARAMETERS = ("default-graph-uri", "named-graph-uri")
"""Parameters that name a graph of an endpoint; any other may be a key."""

SECRET_NAMES = re.compile(
    r"auth(?!or(?!i))|access|key|token|secret|cookie|pass|pwd|sig|cred|jwt|session", re.IGNORECASE
)
"""What is in the names of headers and parameters that let someone in: not in "author"."""

MIN_SECRET_CHARS = 6  # of a password, a key or the value of a parameter; shorter ones are not hidden

LONG_SECRET_CHARS = 16
"""Characters from which on parts of a secret are hidden too: it may come cut, or written otherwise."""

SECRET_PART_CHARS = 8  # in a row of a long secret; so many are hidden, too
_PLAIN_WORD = re.compile(r"[A-Z]?[a-z]+([-_][a-z]+)*|[A-Z]+")
_HOST_PATTERN = re.compile(
    r"[^:@\[\]]*|(localhost|[^:@\[\]]*\.[^:@\[\]]*|\[[^@\[\]]*\])(:\d{0,5})?", re.IGNORECASE
)
_GRAPH_PATTERN = re.compile(rf"(?<=[?&])({'|'.join(GRAPH_PARAMETERS)})=[^&#]*")


def is_web_address(name: str) -> bool:
    """Return whether a name is an address on the web.

    >>> is_web_address("https://host/sparql"), is_web_address("graph.ttl")
    (True, False)
    """
    return re.match(r"\s*https?://", name, re.IGNORECASE) is not None


def server_of_url(url: str) -> str:
    """Return an address without user, password and query.

    >>> server_of_url("http://me:secret@host:8080/v1?token=1")
    'http://host:8080/v1'
    """
    scheme, host, path, _ = _split_url(url)
    return _join_url(scheme, host, path.rstrip("/"))


def graph_url(url: str) -> str:
    """Return an address without user and password, and of its parameters those that name a graph.

    >>> graph_url("http://me:secret@host/sparql?default-graph-uri=http://g/&key=1")
    'http://host/sparql?default-graph-uri=http://g/'
    """
    scheme, host, path, query = _split_url(url)
    kept = "&".join(each for each in query.split("&") if each.partition("=")[0] in GRAPH_PARAMETERS)
    return _join_url(scheme, host, path, kept)


def redact_name(name: str) -> str:
    """Return a name as it may be shown and kept: an address by `graph_url`, others as they are.

    >>> redact_name("postgresql://me:secret@host/base"), redact_name("graph.ttl")
    ('postgresql://host/base', 'graph.ttl')
    """
    return graph_url(name) if "://" in name else name


def redact_keys(url: str) -> str:
    """Return an address without user, password and parameters that are keys.

    >>> redact_keys("http://me:secret@host/sparql?query=ASK&apikey=1")
    'http://host/sparql?query=ASK'
    """
    scheme, host, path, query = _split_url(url)
    kept = "&".join(each for each in query.split("&") if not SECRET_NAMES.search(each.partition("=")[0]))
    return _join_url(scheme, host, path, kept)


def secrets_in(url: str) -> list[str]:
    """Return the secrets in an address, as written and decoded: its password and parameters that are keys.

    >>> secrets_in("postgresql://me:1%2F2@host/base?sslmode=require&apikey=3")
    ['1%2F2', '3', '1/2']
    """
    password = _split_user(_split_scheme(url)[1])[0].partition(":")[2]
    # up to a fragment as well as with it: a key may have a "#" that nobody has escaped
    pairs = (each.partition("=") for sign in ("[?&]", "[?&#]") for each in re.split(sign, url)[1:])
    written = [password, *(value for name, _, value in pairs if SECRET_NAMES.search(name))]
    keys = dict.fromkeys([*written, *map(unquote, written)])
    return [key for key in keys if key]


def is_plain_word(text: str) -> bool:
    """Return whether a text is a mere word or two, which is known to all.

    >>> is_plain_word("virtuoso"), is_plain_word("hf_Gd2w")
    (True, False)
    """
    return len(text) < LONG_SECRET_CHARS and _PLAIN_WORD.fullmatch(text) is not None


def check_password(url: str) -> None:
    """Raise ValueError, without the address, where it does not tell where its password ends."""
    if re.search("[/?#]", _split_user(_split_scheme(url)[1])[0]):
        raise ValueError("write %40, %2F, %3F and %23 for @, /, ? and # in a user or a password")


def redact_text(text: str, secrets: Iterable[str]) -> str:
    """Return a text in which no secret can be read, nor a part of a long one.

    >>> redact_text("no such key: SK-0123456789***", ["sk-0123456789abcdef"])
    'no such key: …***'
    """
    sought = {_lower_in_place(secret) for secret in secrets if len(secret) >= MIN_SECRET_CHARS}
    shown = list(text.replace("\0", " "))
    for start, end in _find_secrets(_lower_in_place(text), sought):
        shown[start:end] = "\0" * (end - start)
    return re.sub("\0+", "…", "".join(shown))


def redact_logged_urls(*loggers: str) -> None:
    """Have clients of HTTP log addresses without their keys (`redact_keys`)."""
    for name in loggers:
        logging.getLogger(name).addFilter(_redact_record)


def _redact_record(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        is_url = (type(each).__name__ == "URL" for each in record.args)
        pairs = zip(record.args, is_url, strict=True)
        record.args = tuple(redact_keys(str(each)) if url else each for each, url in pairs)
    return True


def _lower_in_place(text: str) -> str:
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _find_secrets(text: str, secrets: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Return where secrets stand in a text, and parts of long ones."""
    for secret in secrets:
        size = SECRET_PART_CHARS if len(secret) >= LONG_SECRET_CHARS else len(secret)
        parts = {secret[at : at + size] for at in range(len(secret) - size + 1)}
        yield from ((at, at + size) for at in range(len(text) - size + 1) if text[at : at + size] in parts)


def _split_user(rest: str) -> tuple[str, str]:
    """Part what follows the scheme of an address: user and password, and all from the host on.

    Where there is a password, or half of one, all before the last @ may be of it; names of graphs are not.
    """
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    if _HOST_PATTERN.fullmatch(authority):
        return "", rest
    at = _GRAPH_PATTERN.sub(lambda found: "-" * len(found[0]), rest).rfind("@")
    return rest[: max(at, 0)], rest[at + 1 :]


def _split_url(url: str) -> tuple[str, str, str, str]:
    scheme, rest = _split_scheme(url)
    try:
        parts = urlsplit(f"//{_split_user(rest)[1]}")
    except ValueError:
        return scheme, "…", "", ""
    host = re.sub(r":[^\]:]*[^\]:\d][^\]:]*$", "", parts.netloc)  # no port: a password, its host forgotten
    return scheme, host, parts.path, parts.query


def _split_scheme(url: str) -> tuple[str, str]:
    """Return the scheme of an address, in lower case, and what follows ``://``; "" and all without one.

    >>> _split_scheme("HTTP://host/v1"), _split_scheme("me:secret@host/to?there=http://x")
    (('http', 'host/v1'), ('', 'me:secret@host/to?there=http://x'))
    """
    scheme, sign, rest = url.strip().partition("://")
    if sign and not re.search("[@/?#]", scheme):
        return scheme.lower(), rest
    return "", url.strip().removeprefix("//")


def _join_url(scheme: str, host: str, path: str, query: str = "") -> str:
    joined = urlunsplit((scheme, host, path, query, ""))
    return joined if scheme else joined.removeprefix("//")
