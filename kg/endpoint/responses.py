"""Responses of an endpoint: bodies decompressed up to a limit, and what a response means that is no answer.

A few compressed bytes may stand for gigabytes. A refusal says whose fault it is, and whether the next
answer may be better.
"""

import json
import math
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urljoin
from urllib.request import parse_http_list

import httpx

from kgqa.addresses import server_of_url
from kgqa.kg.errors import KGMalformed, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.graph import Rows
from kgqa.kg.sparql.decoding import read_rows
from kgqa.kg.terms import one_line

ACCEPTED_ENCODINGS = "gzip, deflate"
"""What servers may pack an answer with; only what can be unpacked block by block is asked for."""

DECOMPRESSED_BLOCK_BYTES = 1 << 18  # bytes that are unpacked at a time

_GZIP = 16 + zlib.MAX_WBITS
_WINDOW_BITS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": zlib.MAX_WBITS}
_GZIP_MAGIC = b"\x1f\x8b"


class UnreadableBody(ConnectionError):
    """A body that is packed in a way that was not asked for, or torn; the next may be better."""


class AnswerTooLarge(Exception):
    """A body that is larger than its limit."""


class BodyDecoder:
    """Decompresses the blocks of one body, up to so many bytes in all.

    Raises:
        UnreadableBody: if it is packed in a way that was not asked for.
    """

    def __init__(self, encoding: str, max_bytes: int) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", *_WINDOW_BITS):
            raise UnreadableBody(f"an answer packed as {name[:40]}, which was not asked for")
        self._max_bytes, self._size = max_bytes, 0
        self._bits = _WINDOW_BITS.get(name, 0)
        self._inflater = zlib.decompressobj(self._bits) if self._bits else None
        self._partial_magic = b""

    def blocks(self, packed: bytes) -> Iterator[bytes]:
        """Return what a block stands for.

        Raises:
            AnswerTooLarge: as soon as the body is larger than its limit.
            UnreadableBody: if it cannot be unpacked.
        """
        for block in self._decompress(packed) if self._inflater else (packed,):
            self._size += len(block)
            if self._size > self._max_bytes:
                raise AnswerTooLarge(f"the answer is larger than {self._max_bytes >> 20} MB")
            yield block

    def end(self) -> None:
        """End the body; raise UnreadableBody if the packed body is not whole."""
        if self._inflater and self._size and not self._inflater.eof:
            raise UnreadableBody("an answer that cannot be unpacked: its end is missing")

    def _decompress(self, packed: bytes) -> Iterator[bytes]:
        block = b""
        while self._inflater and (
            packed or (len(block) == DECOMPRESSED_BLOCK_BYTES and not self._inflater.eof)
        ):
            if self._inflater.eof and not (packed := self._next_member(packed)):
                return
            try:
                block = self._inflater.decompress(packed, DECOMPRESSED_BLOCK_BYTES)
            except zlib.error as error:
                if self._size or self._bits != zlib.MAX_WBITS:
                    raise UnreadableBody(f"an answer that cannot be unpacked: {error}") from None
                self._bits = -zlib.MAX_WBITS  # some servers leave out the frame of "deflate"
                self._inflater = zlib.decompressobj(self._bits)
                continue
            packed = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
            yield block

    def _next_member(self, packed: bytes) -> bytes:
        """Begin another member of gzip where one follows; what else follows an end is no part of a body."""
        packed = (self._partial_magic + packed).lstrip(b"\0")
        self._partial_magic = packed if packed == _GZIP_MAGIC[:1] else b""
        if not packed or self._partial_magic:
            return b""
        if self._bits != _GZIP or not packed.startswith(_GZIP_MAGIC):
            self._bits = 0
            return b""
        self._inflater = zlib.decompressobj(self._bits)
        return packed


MAX_SHOWN_CHARS = 200
"""Characters that are shown of an address that a server names, and that its errors are judged by."""

MAX_REST_CHARS = 10_000
"""Characters that are read of what a server writes where its answer breaks off: an error and its trace."""

PARTIAL_ANSWER = "the server broke the query off and gave a part of the answer"

JSON_TYPES = ("application/sparql-results+json", "application/json")

_OF_THE_QUERY = re.compile(r"Virtuoso (?!08|40|S1|S28)\w{5} Error")
"""Virtuoso says 500 where it cannot compile or run a query; the states left out are its own fault."""


_WORDS_OF_A_TIMEOUT = ("timeout", "timed out", "time limit", "execution time", "killed by sqlcancel")
"""In lower case; the last is Virtuoso's, when its limit falls between two steps of a query."""


_QUOTED = re.compile(r"<[^<>]*>|\"[^\"]*\"|'[^']*'")  # in which a parser shows a query


class BrokenAnswer(ConnectionError):
    """An answer that is none, or only a part of one; the next may be whole."""


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """A whole answer, and what its headers say.

    Attributes:
        body: SPARQL's JSON, as far as a success says so.
        kind: Its media type; what it is, its content says.
        max_rows: The rows that the server gives at most, if it says so.
        server: What the server calls itself.
    """

    body: bytes
    kind: str
    max_rows: float
    server: str

    def read(self) -> Rows:
        """Return the rows.

        Raises:
            KGTimeout: if the server says where the answer breaks off that the query took too long.
            BrokenAnswer: if they cannot be read.
        """
        try:
            return read_rows(self.body)
        except KGMalformed as error:
            cause = error.__cause__
            rest = cause.doc[cause.pos :] if isinstance(cause, json.JSONDecodeError) else ""
            if _says_timeout(rest[:MAX_REST_CHARS]) and not rest.startswith("<"):  # no page of a proxy
                raise KGTimeout(PARTIAL_ANSWER) from None
            if self.kind in JSON_TYPES:
                raise BrokenAnswer(str(error)) from None
            raise BrokenAnswer(f"an answer of type {self.kind or 'unknown'}, not SPARQL's JSON") from None


def read_response(response: httpx.Response, body: bytes, shown: Callable[[str], str]) -> EndpointAnswer:
    """Return the answer that a response and its whole body are; messages are cleaned by ``shown``.

    Raises:
        httpx.HTTPStatusError: if the server says that it cannot answer now.
        KGTimeout: if the server says that the query took too long.
        KGRejected: if it says that it will not answer this query.
        KGUnavailable: if it will answer none, however often it is asked.
    """
    if response.headers.get("x-sql-state") == "S1TAT":  # Virtuoso gives what it has found so far
        raise KGTimeout(PARTIAL_ANSWER)
    if not response.is_success:
        text = body[:2_000].decode("utf-8", "replace")
        said = shown(text)
        _raise_refusal(response, one_line(text, MAX_SHOWN_CHARS), said)
        message = f"HTTP {response.status_code}: {said}"
        raise httpx.HTTPStatusError(message, request=response.request, response=response)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return EndpointAnswer(body, kind, _row_limit(response), response.headers.get("server", ""))


def _raise_refusal(response: httpx.Response, text: str, said: str) -> None:
    """Judge by the text itself, and say of it what may be shown."""
    status = response.status_code
    if _is_timeout(response, text):
        raise KGTimeout(f"the server broke the query off: {said}")
    if status in {400, 413, 414, 422} or _OF_THE_QUERY.match(text):
        raise KGRejected(f"the server refused the query ({status}): {said}")
    if status == 401 and (scheme := _scheme_asked(response)):
        raise KGUnavailable(
            f"it wants {scheme} authentication (401), of which kgqa speaks Basic alone; "
            "give a key as a parameter of the address where it takes one, or put a proxy before it"
        )
    if status in {401, 403}:
        raise KGUnavailable(
            f"it refuses access ({status}); put user and password into the address: http://user:password@…"
        )
    if response.has_redirect_location:
        raise KGUnavailable(f"it has moved; use {_new_address(response)}")
    if status in {404, 405, 406, 410, 415}:
        raise KGUnavailable(f"there is no SPARQL endpoint at this address ({status})")


def _scheme_asked(response: httpx.Response) -> str:
    """Return the scheme of authentication that a server asks for; empty where it is Basic, or not told."""
    parts = parse_http_list(response.headers.get("www-authenticate", ""))  # schemes, and their parameters
    schemes = [word for each in parts if (word := one_line(each, 40).partition(" ")[0]) and "=" not in word]
    return "" if "basic" in map(str.lower, schemes) else one_line(", ".join(schemes), MAX_SHOWN_CHARS)


def _new_address(response: httpx.Response) -> str:
    try:
        moved = urljoin(str(response.url), response.headers["location"])
        slash = "/" if moved.partition("?")[0].endswith("/") else ""  # it may be all that differs
        return one_line(server_of_url(moved) + slash, MAX_SHOWN_CHARS)
    except ValueError:
        return "its new address, which it does not tell"


def _is_timeout(response: httpx.Response, text: str) -> bool:
    """Return whether a server says that the query takes too long, and not that a way to it does.

    QLever says so by 429, without a time to wait.
    """
    told = _says_timeout(_QUOTED.sub(" ", text) if response.status_code == httpx.codes.BAD_REQUEST else text)
    waits = response.status_code == 429 and "retry-after" in response.headers
    return told and not waits and not (response.status_code in {502, 503} and "connect" in text.lower())


def _says_timeout(text: str) -> bool:
    return any(words in text.lower() for words in _WORDS_OF_A_TIMEOUT)


def _row_limit(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("x-sparql-maxrows", ""))
    except ValueError:
        return math.inf
