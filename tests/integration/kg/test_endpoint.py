"""What an endpoint may send back, and what is made of it: rows, or an error, and never half of them."""

import asyncio
import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from kgqa.kg.endpoint import transport
from kgqa.kg.endpoint.client import Endpoint
from kgqa.kg.errors import KGError, KGRejected, KGSilent, KGTimeout, KGUnavailable
from kgqa.kg.meter import metered
from kgqa.kg.terms import Literal
from kgqa.retries import RetryPolicy
from kgqa.tests.support.servers import virtuoso as virtuosos
from kgqa.tests.support.servers.faults import (
    JSON,
    Answer,
    Cut,
    Delay,
    Half,
    NotJson,
    StackTrace,
    Status,
    WrongType,
)
from kgqa.tests.support.servers.proxy import Proxy
from kgqa.tests.support.servers.scripted import HEADERS, Blocks, Said, answer, late, saying, told

ASK = "SELECT ?x { ?x ?y ?z }"

FAST = RetryPolicy(pause=0.001)

ONE = answer("one")

HALF = told(ONE.body[:40])

DAMAGED = told(b"\x1f\x8b\x08no gzip at all", ("Content-Encoding", "gzip"))


def endpoint(url: str, deadline: float = 5.0, retries: RetryPolicy = FAST) -> Endpoint:
    return Endpoint(url, deadline=deadline, retries=retries)


def page(status: int, said: str = "sorry", **headers: str) -> Answer:
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return told(said.encode(), *named, status=status)


AGAIN = [
    *(Status(status) for status in (408, 409, 429, 500, 502, 503, 504, 529)),
    Status(429, "0"),
    Status(429, "0.01"),
    Status(503, "0.01"),
    Status(503, "Sat, 01 Jan 2000 00:00:00 GMT"),
    Status(429, "soon"),
    page(503, "upstream connect error: connection timeout"),
    Cut(),
    None,
    HALF,
    told(ONE.body[:40], ("Connection", "close")),
    Answer(200, (("Content-Type", JSON),), ONE.body[:40], length=len(ONE.body)),
    Answer(200, (("Content-Type", JSON),), ONE.body[:40], framing="chunked"),
    Answer(200, (("Content-Type", JSON),), ONE.body[:40], framing="close"),
    told(ONE.body[:40] + b"\njava.lang.OutOfMemoryError\n\tat java.util"),
    told(b"<html>Your session has timed out</html>", ("Content-Type", "text/html")),
    told(b""),
    told(b"", status=204),
    DAMAGED,
    WrongType(),
    NotJson(),
    told(b"<sparql/>", ("Content-Type", "application/sparql-results+xml")),
    *(
        told(body)
        for body in (
            b"{}",
            b"[]",
            b"null",
            b"NaN",
            b'"boolean"',
            b'{"error": "out of memory"}',
            b'{"boolean": "maybe"}',
            b'{"head": {"vars": ["x"]}}',
            b'{"head": {"vars": ["x"]}, "results": {"bindings": {}}}',
            b'{"head": {"vars": ["x"]}, "results": {"bindings": ""}}',
            b'{"head": {"vars": "x"}, "results": {"bindings": []}}',
            b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "literal", "value": NaN}}]}}',
            b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "literal", "value": 1}}]}}',
            b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"value": "1"}}]}}',
        )
    ),
]


@pytest.mark.parametrize("fault", AGAIN, ids=lambda fault: repr(fault)[:60])
async def test_what_may_pass_is_asked_again(fault: Said) -> None:
    with saying(fault, fault, then=ONE) as server:
        rows = await endpoint(server.url).query(ASK)
    assert rows.rows == [(Literal("one"),)]
    assert server.queries == [ASK] * 3


@pytest.mark.parametrize("fault", AGAIN, ids=lambda fault: repr(fault)[:60])
async def test_what_does_not_pass_is_an_outage(fault: Said) -> None:
    with saying(then=fault) as server, pytest.raises(KGUnavailable) as raised:
        await endpoint(server.url).query(ASK)
    assert len(server.requests) == 3
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith(f"{server.url}: ")


FINAL = [
    (page(400, "parse error"), KGRejected, "refused the query (400): parse error"),
    (page(400, "parse error at <http://x/timeout>"), KGRejected, "refused the query (400)"),
    (page(413), KGRejected, "refused the query (413)"),
    (page(414), KGRejected, "refused the query (414)"),
    (page(422), KGRejected, "refused the query (422)"),
    (page(500, "Virtuoso 37000 Error SP030: syntax error"), KGRejected, "SP030"),
    (page(401), KGUnavailable, "put user and password into the address"),
    (page(403), KGUnavailable, "refuses access (403)"),
    *((page(status), KGUnavailable, "no SPARQL endpoint") for status in (404, 406, 410, 415)),
    (page(301, location="/elsewhere/?query=SELECT"), KGUnavailable, "it has moved; use http://127.0.0.1:"),
    (page(308, location="https://there/sparql"), KGUnavailable, "it has moved; use https://there/sparql"),
    (page(304), KGUnavailable, "HTTP 304"),
    (page(500, "Virtuoso S1T00 Error SR171: Transaction timed out"), KGTimeout, "timed out"),
    (page(500, "Virtuoso 42000 Error The estimated execution time 99 (sec) exceeds"), KGTimeout, "estimated"),
    (page(500, "Virtuoso HY008 Error SR203: Async statement killed by SQLCancel"), KGTimeout, "SQLCancel"),
    (page(500, "java.util.concurrent.TimeoutException"), KGTimeout, "broke the query off"),
    (page(503, "Query timed out"), KGTimeout, "timed out"),
    (page(504, "upstream request timeout"), KGTimeout, "timeout"),
    (told(ONE.body, ("X-SQL-State", "S1TAT")), KGTimeout, "a part of the answer"),
    (told(ONE.body, ("X-SQL-State", "S1TAT"), status=206), KGTimeout, "a part of the answer"),
    *(
        (told(ONE.body[:length] + said), KGTimeout, "a part of the answer")
        for length in (20, 40, 72, len(ONE.body) - 2)
        for said in (
            b"SPARQL-QUERY: queryStr=SELECT\njava.util.concurrent.TimeoutException\n\tat java.util",
            b"\n##  Query cancelled due to timeout during execution   ##\n",
            b"\n!!!!>># An error has occurred: Operation timed out.\n",
        )
    ),
    (Status(429, "6"), KGUnavailable, "too many requests; it asks to wait 6 s"),
    (Status(503, "3600"), KGUnavailable, "it asks to wait 3600 s"),
    (
        Status(429, "Wed, 01 Jan 2200 00:00:00 GMT"),
        KGUnavailable,
        "it asks to wait",
    ),
]


@pytest.mark.parametrize(("fault", "error", "said"), FINAL, ids=lambda value: repr(value)[:50])
async def test_what_will_not_pass_fails_at_once(fault: Said, error: type[KGError], said: str) -> None:
    with saying(then=fault) as server, pytest.raises(error) as raised:
        await endpoint(server.url).query(ASK)
    assert type(raised.value) is error
    assert said in str(raised.value)
    assert len(server.requests) == 1


async def test_no_one_listens() -> None:
    start = time.monotonic()
    with pytest.raises(KGUnavailable, match="no connection; does the server run"):
        await Endpoint("http://127.0.0.1:1/sparql").query(ASK)
    assert time.monotonic() - start < 4


async def test_an_answer_that_is_late_once_is_waited_for() -> None:
    with saying(late(ONE, 0.4), then=ONE) as server:
        rows = await endpoint(server.url, 0.2).query(ASK)
    assert rows.rows == [(Literal("one"),)]
    assert len(server.requests) == 2


def only(text: str, said: Said) -> Callable[[object], Said]:
    """Do this to one query only."""
    return lambda request: said if request.query == text else (lambda exchange: ONE)


async def test_an_answer_that_stays_away_is_no_time_out_of_the_query() -> None:
    with saying(then=ONE) as server:
        server.faults = only(ASK, Delay(9))
        with pytest.raises(KGSilent, match=r"no answer within 0\.2 s, but to other queries"):
            await endpoint(server.url, 0.1).query(ASK)


async def test_a_server_that_says_nothing_at_all_is_away() -> None:
    with saying(then=Delay(9)) as server, pytest.raises(KGUnavailable, match="to nothing at all") as raised:
        await endpoint(server.url, 0.1).query(ASK)
    assert type(raised.value) is KGUnavailable


def drip(first: bytes) -> Callable[[], Iterator[bytes]]:
    """Send one byte after the other, without end."""

    def blocks() -> Iterator[bytes]:
        yield first
        while True:
            yield b" "

    return blocks


SLOW = {
    "headers": b"HTTP/1.1 200 OK\r\nX-Slow: ",
    "body with length": f"{HEADERS}Content-Length: 100000\r\n\r\n".encode(),
    "body to the end": f"{HEADERS}\r\n".encode(),
}


@pytest.mark.parametrize("first", SLOW.values(), ids=SLOW)
async def test_an_answer_that_drips_ends_at_the_deadline(first: bytes) -> None:
    with Blocks(drip(first), pause=0.02) as server:
        start = time.monotonic()
        with pytest.raises(KGUnavailable, match="no answer within"):
            await endpoint(server.url, 0.15).query(ASK)
        assert time.monotonic() - start < 4


def flood(first: bytes, block: bytes) -> Callable[[], Iterator[bytes]]:
    def blocks() -> Iterator[bytes]:
        yield first
        while True:
            yield block

    return blocks


@pytest.mark.parametrize(
    ("encoding", "block"),
    [("", b" " * 65536), ("Content-Encoding: gzip\r\n", gzip.compress(b" " * 9_000_000))],
)
async def test_an_answer_without_end_is_bounded(
    encoding: str, block: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAX_RESPONSE_BYTES", 1 << 23)
    blocks = flood(f"{HEADERS}{encoding}\r\n".encode(), block)
    with Blocks(blocks) as server, pytest.raises(KGRejected, match="the answer is larger than 8 MB"):
        await endpoint(server.url).query(ASK)
    assert server.asked == 1


@pytest.mark.parametrize(
    ("rows", "headers", "cut"),
    [
        (3, {}, False),
        (3, {"X-SPARQL-MaxRows": "3"}, True),
        (3, {"X-SPARQL-MaxRows": "4"}, False),
        (3, {"X-SPARQL-MaxRows": "many"}, False),
        (9_999, {}, False),
        (10_000, {}, True),
        (10_001, {}, False),
    ],
)
async def test_an_answer_that_may_be_cut_says_so(rows: int, headers: dict[str, str], cut: bool) -> None:
    whole = answer(*map(str, range(rows)), headers=tuple(headers.items()))
    with saying(then=whole) as server:
        found = await endpoint(server.url).query(ASK)
    assert (len(found.rows), found.cut) == (rows, cut)


async def test_an_answer_may_be_packed_and_have_no_rows() -> None:
    packed = told(gzip.compress(answer().body), ("Content-Encoding", "gzip"))
    with saying(then=packed) as server:
        assert (await endpoint(server.url).query(ASK)).rows == []


HEAVY = "SELECT {} {{ ?a <http://t/r/p> ?b . ?c <http://t/r/p> ?d . ?e <http://t/r/p> ?f . FILTER({}) }}"

COUNTED = HEAVY.format("(COUNT(*) AS ?n)", "?b != ?d && ?d != ?f && ?a != ?e")

DISTINCT = HEAVY.format("DISTINCT ?a ?e", "?b != ?d && ?d != ?f && ?a != ?e && ?a = ?b")


async def ask_metered(client: Endpoint) -> tuple[int, object]:
    """Ask, and return how many queries the meter has counted, with the rows or the error."""
    with metered() as meter:
        try:
            found: object = (await client.query(ASK)).rows
        except KGError as error:
            found = error
        return meter.queries, found


async def test_the_same_query_in_flight_is_sent_once_and_counts_for_each() -> None:
    with saying(late(ONE, 0.1), then=answer("other")) as server:
        client = endpoint(server.url)
        found = await asyncio.gather(*(ask_metered(client) for _ in range(5)))
        assert len(server.requests) == 1
    assert found == [(1, [(Literal("one"),)])] * 5


async def test_a_failure_is_given_to_all_who_wait_and_kept_for_nobody() -> None:
    with saying(late(page(400, "parse error"), 0.1), then=ONE) as server:
        client = endpoint(server.url)
        found = await asyncio.gather(*(ask_metered(client) for _ in range(3)))
        assert [(queries, type(error)) for queries, error in found] == [(1, KGRejected)] * 3
        assert len(server.requests) == 1
        assert (await client.query(ASK)).rows == [(Literal("one"),)]


@pytest.mark.parametrize("leaving", [0, 1], ids=["who asked first", "who came later"])
async def test_who_no_longer_waits_does_not_end_the_query_of_another(leaving: int) -> None:
    with saying(late(ONE, 0.2), then=answer("other")) as server:
        client = endpoint(server.url)
        asking = [asyncio.create_task(client.query(ASK)) for _ in range(2)]
        await asyncio.sleep(0.1)
        asking[leaving].cancel()
        assert (await asking[1 - leaving]).rows == [(Literal("one"),)]
        assert asking[leaving].cancelled()
        assert len(server.requests) == 1


async def test_a_query_that_nobody_waits_for_any_more_is_asked_anew() -> None:
    with saying(late(ONE, 1.0), then=answer("other")) as server:
        client = endpoint(server.url)
        asking = [asyncio.create_task(client.query(ASK)) for _ in range(2)]
        await asyncio.sleep(0.1)
        for each in asking:
            each.cancel()
        await asyncio.wait(asking)
        assert (await client.query(ASK)).rows == [(Literal("other"),)]


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Virtuoso that ends every query after a second or two, with some thousand triples."""
    if reason := virtuosos.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("hasty")
    path = folder / "graph.nt"
    edges = ((i, (7 * i + j) % 400) for i in range(400) for j in range(8))
    path.write_text("".join(f"<http://t/e/{a}> <http://t/r/p> <http://t/e/{b}> .\n" for a, b in edges))
    with virtuosos.serving(folder, [path], seconds=1) as url:
        yield url


@pytest.mark.parametrize("query", [COUNTED, DISTINCT], ids=["counted", "distinct"])
async def test_virtuoso_says_that_a_query_takes_too_long(hasty: str, query: str) -> None:
    with pytest.raises(KGTimeout, match="broke the query off"):
        await endpoint(hasty, 20).query(query)


async def test_virtuoso_told_a_time_gives_a_part_and_may_not_say_so(hasty: str) -> None:
    """Why it is told none."""
    parameters = {**httpx.URL(hasty).params, "timeout": "1000"}
    async with httpx.AsyncClient(headers={"Accept": JSON}, timeout=20) as client:
        said = await client.get(hasty, params={**parameters, "query": DISTINCT})
    rows = json.loads(said.content)["results"]["bindings"]
    assert (said.status_code, "x-sql-state" in said.headers) == (200, False)
    assert 0 < len(rows) < 8 * 399
    counted = said_by_virtuoso(hasty, {**parameters, "query": COUNTED})
    with saying(then=counted) as server, pytest.raises(KGTimeout, match="broke the query off"):
        await endpoint(server.url).query(ASK)


def said_by_virtuoso(url: str, parameters: dict[str, str]) -> Answer:
    """What Virtuoso sends, headers and all."""
    said = httpx.get(url, params=parameters, headers={"Accept": JSON}, timeout=20)
    return Answer(said.status_code, tuple(said.headers.items()), said.content, length=len(said.content))


@pytest.mark.parametrize(
    "headers",
    [
        (),
        *(
            (("Content-Type", kind),)
            for kind in (
                "application/json",
                "text/json",
                "text/plain; charset=utf-8",
                "text/javascript",
                "application/javascript",
                "application/octet-stream",
                "no type",
            )
        ),
    ],
)
async def test_an_answer_is_known_by_its_content(headers: tuple[tuple[str, str], ...]) -> None:
    with saying(then=Answer(200, headers, ONE.body)) as server:
        assert (await endpoint(server.url).query(ASK)).rows == [(Literal("one"),)]
    assert len(server.requests) == 1


async def test_a_real_answer_that_ends_in_a_time_out_says_so(
    oxigraph_server: Callable[[list[Path]], str], turtle: Callable[[str], Path]
) -> None:
    url = oxigraph_server([turtle(" ".join(f"e:a r:r e:b{n} ." for n in range(50)))])
    with Proxy(url) as proxy:
        proxy.faults = lambda request: StackTrace()
        with pytest.raises(KGTimeout, match="a part of the answer"):
            await endpoint(proxy.url).query(ASK)
    assert len(proxy.requests) == 1


@pytest.mark.parametrize("fault", [Half(), Half("chunked"), Half("close")], ids=repr)
async def test_half_an_answer_of_a_real_server_is_no_answer(
    oxigraph_server: Callable[[list[Path]], str], turtle: Callable[[str], Path], fault: Said
) -> None:
    url = oxigraph_server([turtle(" ".join(f"e:a r:r e:b{n} ." for n in range(50)))])
    with Proxy(url) as proxy:
        proxy.faults = [fault]
        asked = endpoint(proxy.url)
        assert len((await asked.query(ASK)).rows) == 50
        proxy.faults = lambda request: fault
        with pytest.raises(KGUnavailable):
            await asked.query(ASK + " ")
        await asyncio.sleep(0)
