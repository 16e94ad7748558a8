"""What an answer over HTTP means that is none: whose fault it is, and whether the next may be better."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urljoin

import httpx

from kgqa.addresses import shown_url
from kgqa.kg.errors import KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.terms import one_line

SHOWN = 200
"""Characters that are shown of an address that a server names, and that its errors are judged by."""

JSON_TYPES = ("application/sparql-results+json", "application/json")

_OF_THE_QUERY = re.compile(r"Virtuoso (?!08|40|S1|S28)\w{5} Error")
"""Virtuoso says 500 where it cannot compile or run a query; the states left out are its own fault."""


class BrokenAnswer(ConnectionError):
    """An answer that is none, or only a part of one; the next may be whole."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, and what its headers say.

    Attributes:
        body: SPARQL's JSON.
        rows: The rows that the server gives at most, if it says so.
        server: What the server calls itself.
    """

    body: bytes
    rows: float
    server: str


def answer_of(response: httpx.Response, body: bytes, shown: Callable[[str], str]) -> Answer:
    """Give the answer that a response is.

    Args:
        response: What came back.
        body: All of its body.
        shown: Makes one short line of what a server says, without what nobody is to see.

    Raises:
        httpx.HTTPStatusError: if the server says that it cannot answer now.
        BrokenAnswer: if it is none.
        KGTimeout: if the server says that the query took too long.
        KGRejected: if it says that it will not answer this query.
        KGUnavailable: if it will answer none, however often it is asked.
    """
    if response.headers.get("x-sql-state") == "S1TAT":  # Virtuoso gives what it has found so far
        raise KGTimeout("the server broke the query off and gave a part of the answer")
    if not response.is_success:
        text = body[:2_000].decode("utf-8", "replace")
        said = shown(text)
        _refuse(response, one_line(text, SHOWN), said)
        message = f"HTTP {response.status_code}: {said}"
        raise httpx.HTTPStatusError(message, request=response.request, response=response)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in JSON_TYPES:
        raise BrokenAnswer(f"an answer of type {kind or 'unknown'}, not SPARQL's JSON")
    return Answer(body, _most(response), response.headers.get("server", ""))


def _refuse(response: httpx.Response, text: str, said: str) -> None:
    """Judge by the text itself, and say of it what may be shown."""
    status = response.status_code
    if _is_timeout(response, text.lower()):
        raise KGTimeout(f"the server broke the query off: {said}")
    if status in {400, 413, 414, 422} or _OF_THE_QUERY.match(text):
        raise KGRejected(f"the server refused the query ({status}): {said}")
    if status in {401, 403}:
        raise KGUnavailable(
            f"it refuses access ({status}); put user and password into the address: http://user:password@…"
        )
    if response.has_redirect_location:
        raise KGUnavailable(f"it has moved; use {_there(response)}")
    if status in {404, 405, 406, 410, 415}:
        raise KGUnavailable(f"there is no SPARQL endpoint at this address ({status})")


def _there(response: httpx.Response) -> str:
    try:
        return one_line(shown_url(urljoin(str(response.url), response.headers["location"])), SHOWN)
    except ValueError:
        return "its new address, which it does not tell"


def _is_timeout(response: httpx.Response, text: str) -> bool:
    """Tell whether a server says that the query takes too long, and not that a way to it does.

    QLever says so by 429, without a time to wait.
    """
    told = any(word in text for word in ("timeout", "timed out", "time limit", "execution time"))
    waits = response.status_code == 429 and "retry-after" in response.headers
    return told and not waits and not (response.status_code in {502, 503} and "connect" in text)


def _most(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("x-sparql-maxrows", ""))
    except ValueError:
        return math.inf
