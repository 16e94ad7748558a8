"""Addresses as they may be shown and kept: without what lets someone in."""

from urllib.parse import urlsplit, urlunsplit

GRAPHS = ("default-graph-uri", "named-graph-uri")
"""Parameters that name a graph of an endpoint; any other may be a key."""


def is_address(name: str) -> bool:
    """Tell whether a name is an address on the web.

    >>> is_address("https://host/sparql"), is_address("graph.ttl")
    (True, False)
    """
    return name.startswith(("http://", "https://"))


def shown_url(url: str) -> str:
    """Give an address without user, password and query.

    >>> shown_url("http://me:secret@host:8080/v1?token=1")
    'http://host:8080/v1'
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def without_user(url: str) -> str:
    """Give an address without user and password, and of its parameters those that name a graph.

    >>> without_user("http://me:secret@host/sparql?default-graph-uri=http://g/&key=1")
    'http://host/sparql?default-graph-uri=http://g/'
    """
    parts = urlsplit(url)
    kept = "&".join(each for each in parts.query.split("&") if each.partition("=")[0] in GRAPHS)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, kept, ""))
