"""What may go wrong between a client and an endpoint, one class for each kind."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal as Choice, Protocol

JSON = "application/sparql-results+json"

Framing = Choice["length", "chunked", "close"]


@dataclass(frozen=True)
class Answer:
    """An answer over HTTP/1.1.

    Attributes:
        status: Its status.
        headers: Its headers, but for those of the framing.
        body: What is sent of its body.
        length: The length that is stated, where it is another than that of ``body``.
        framing: How the end of the body is told: by its length, in chunks, or by the connection's end.
    """

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    length: int | None = None
    framing: Framing = "length"


class Exchange(Protocol):
    """One request on its way through the proxy."""

    def fetch(self) -> Answer:
        """Return the real answer."""

    def wait(self, seconds: float) -> None:
        """Wait, or until the proxy ends."""


Fault = Callable[[Exchange], Answer | None]
"""What is done to one request: the answer it gets, None for a connection closed before any."""


@dataclass(frozen=True)
class Delay:
    """The real answer, some seconds late."""

    seconds: float

    def __call__(self, exchange: Exchange) -> Answer:
        exchange.wait(self.seconds)
        return exchange.fetch()


@dataclass(frozen=True)
class Status:
    """An error of the server; the request does not reach it."""

    code: int
    retry_after: str | None = None

    def __call__(self, exchange: Exchange) -> Answer:
        headers = [("Content-Type", "text/plain")]
        if self.retry_after is not None:
            headers.append(("Retry-After", self.retry_after))
        return Answer(self.code, tuple(headers), b"not now")


@dataclass(frozen=True)
class Cut:
    """The connection closed before any answer."""

    def __call__(self, exchange: Exchange) -> None:
        return None


@dataclass(frozen=True)
class Half:
    """Headers of the real answer, half of its body, and the connection closed.

    With a ``length`` that is not reached, any client can tell; ``chunked``, or ended by the
    connection's ``close``, the answer is complete as far as HTTP goes, and only its JSON is torn.
    """

    framing: Framing = "length"

    def __call__(self, exchange: Exchange) -> Answer:
        answer = exchange.fetch()
        half, whole = answer.body[: len(answer.body) // 2], len(answer.body)
        stated = whole if self.framing == "length" else None
        return replace(answer, body=half, length=stated, framing=self.framing)


@dataclass(frozen=True)
class WrongType:
    """A page for people, as a proxy or a login in between sends it."""

    def __call__(self, exchange: Exchange) -> Answer:
        body = b"<!DOCTYPE html><html><body><h1>Welcome</h1></body></html>"
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), body)


@dataclass(frozen=True)
class NotJson:
    """Prose under the type that was asked for."""

    def __call__(self, exchange: Exchange) -> Answer:
        return Answer(200, (("Content-Type", JSON),), b"The service is being restarted, please wait.")


@dataclass(frozen=True)
class Anytime:
    """Half of the rows, as Virtuoso sends what it has when its time is up: only a header tells.

    Virtuoso 7.2 does so with status 200, later versions with 206.
    """

    status: int = 200

    def __call__(self, exchange: Exchange) -> Answer:
        answer = exchange.fetch()
        found = json.loads(answer.body)
        rows = found["results"]["bindings"]
        found["results"]["bindings"] = rows[: len(rows) // 2]
        said = "RC...: Returning incomplete results, query interrupted by result timeout."
        told = (("X-SQL-State", "S1TAT"), ("X-SQL-Message", said))
        return Answer(self.status, (*answer.headers, *told), json.dumps(found).encode())


@dataclass(frozen=True)
class StackTrace:
    """Half of the JSON, then Java's stack trace, as Wikidata's service ends what takes too long."""

    def __call__(self, exchange: Exchange) -> Answer:
        answer = exchange.fetch()
        trace = (
            b"SPARQL-QUERY: queryStr=SELECT ...\njava.util.concurrent.TimeoutException\n"
            b"\tat java.util.concurrent.FutureTask.get(FutureTask.java:205)\n"
            b"\tat com.bigdata.rdf.sail.webapp.BigdataServlet.submitApiTask(BigdataServlet.java:292)\n"
        )
        return replace(answer, body=answer.body[: len(answer.body) // 2] + trace, framing="chunked")
