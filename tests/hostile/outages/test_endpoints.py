"""An endpoint that drips, floods, packs bombs or leads elsewhere holds no thread and no memory."""

import asyncio
import gzip
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator

import httpx
import pytest

from kgqa.kg.endpoint import client as endpoints, transport
from kgqa.kg.endpoint.client import Endpoint
from kgqa.kg.endpoint.responses import (
    DECOMPRESSED_BLOCK_BYTES,
    AnswerTooLarge,
    BodyDecoder,
    UnreadableBody,
)
from kgqa.kg.errors import KGError, KGRejected, KGUnavailable
from kgqa.kg.terms import Literal
from kgqa.retries import RetryPolicy, retry_after
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.support.servers.faults import Answer
from kgqa.tests.support.servers.scripted import HEADERS, Blocks, answer, saying, told

ASK = "SELECT ?x { ?x ?y ?z }"

ONCE = RetryPolicy(attempts=1)

Sent = Callable[[], Iterator[bytes]]


def drip(first: str) -> Sent:
    def blocks() -> Iterator[bytes]:
        yield first.encode()
        while True:
            yield b"1"

    return blocks


DRIPS = {
    "a status": "HTTP/1.1 2",
    "headers": "HTTP/1.1 200 OK\r\nX-Slow: ",
    "what is no answer yet": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 ",
    "a body": f"{HEADERS}Content-Length: 100000\r\n\r\n",
    "chunks": f"{HEADERS}Transfer-Encoding: chunked\r\n\r\n5",
    "a refusal": "HTTP/1.1 401 no\r\nContent-Length: 100000\r\n\r\n",
}


@pytest.mark.parametrize("first", DRIPS.values(), ids=DRIPS)
async def test_what_drips_holds_no_thread(first: str, monkeypatch: pytest.MonkeyPatch, tried: Tried) -> None:
    """There is one thread: the next query has its turn only when the first has let go of it."""
    monkeypatch.setattr(endpoints, "MAX_CONCURRENT_REQUESTS", 1)
    with Blocks(drip(first), pause=0.02) as server:
        asked = Endpoint(server.url, deadline=0.4, retries=ONCE)
        start = time.monotonic()
        with pytest.raises(KGUnavailable) as raised:
            await asked.query(ASK)
        assert time.monotonic() - start < 3
        assert "refuses access" in str(raised.value) or "no answer within" in str(raised.value)
        waiting, before = asyncio.create_task(asked.query(f"{ASK} #2")), server.asked
        while server.asked == before:
            assert time.monotonic() - start < 4
            await asyncio.sleep(0.01)
        waiting.cancel()
    tried(faults=2)


@pytest.mark.parametrize("first", [DRIPS["headers"], DRIPS["a body"], ""], ids=["headers", "body", "nothing"])
async def test_who_gives_up_frees_the_thread_whatever_comes(
    first: str, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    monkeypatch.setattr(endpoints, "MAX_CONCURRENT_REQUESTS", 1)
    silent = not first
    with Blocks(drip(first) if first else lambda: iter([b""] * 10_000), pause=0.05) as server:
        asked = Endpoint(server.url, deadline=30)
        for n in range(3):
            task = asyncio.create_task(asked.query(f"{ASK} #{n}"))
            start = time.monotonic()
            while server.asked <= n:
                assert time.monotonic() - start < 10, silent
                await asyncio.sleep(0.01)
            task.cancel()
    tried(faults=3)


def flood(head: str, block: bytes) -> Sent:
    def blocks() -> Iterator[bytes]:
        yield head.encode()
        while True:
            yield block

    return blocks


BOMB = gzip.compress(bytes(1 << 27), 9)
"""128 MB in 128 kB."""


async def test_no_answer_takes_more_memory_than_the_limit(
    monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    monkeypatch.setattr(transport, "MAX_RESPONSE_BYTES", 1 << 22)
    floods = {
        "": (b" " * 65536, "larger than 4 MB"),
        "Content-Encoding: gzip\r\n": (BOMB, "larger than 4 MB"),
        "Content-Encoding: deflate\r\n": (zlib.compress(bytes(1 << 27), 9), "larger than 4 MB"),
        "Content-Encoding: gzip, gzip\r\n": (gzip.compress(BOMB), "not asked for"),
        "Content-Encoding: zstd\r\n": (b"\x28\xb5\x2f\xfd" * 999, "not asked for"),
        "Content-Encoding: br\r\n": (b" " * 9999, "not asked for"),
    }
    for header, (block, said) in floods.items():
        with Blocks(flood(f"{HEADERS}{header}\r\n", block)) as server:
            asked = Endpoint(server.url, retries=ONCE)
            tracemalloc.start()
            with pytest.raises(KGError, match=said):
                await asked.query(ASK)
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert most < 5 * transport.MAX_RESPONSE_BYTES, (header, most)
    tried(faults=len(floods))


async def test_a_refusal_without_end_is_not_read_to_its_end(tried: Tried) -> None:
    head = "HTTP/1.1 401 no\r\nContent-Type: text/plain\r\n"
    for header, block in {"": b" " * 65536, "Content-Encoding: gzip\r\n": BOMB}.items():
        refusal = flood(f"{head}{header}\r\n", block)
        with Blocks(refusal) as server, pytest.raises(KGUnavailable, match="refuses access"):
            await Endpoint(server.url, retries=ONCE).query(ASK)
        assert server.asked == 1
    tried(faults=2)


def test_what_is_packed_comes_out_as_it_was_however_it_is_cut(tried: Tried) -> None:
    text = b"".join(b"%d " % (n * n) for n in range(120_000))
    plain = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = {
        "": text,
        "identity": text,
        "gzip": gzip.compress(text),
        "x-gzip": gzip.compress(text[:5]) + gzip.compress(text[5:]),
        "deflate": zlib.compress(text),
        "Deflate": plain.compress(text) + plain.flush(),
    }
    assert len(text) > 2 * DECOMPRESSED_BLOCK_BYTES
    for encoding, content in packed.items():
        for size in (97, 65_536, len(content)):
            body = BodyDecoder(encoding, len(text))
            cut = (content[start : start + size] for start in range(0, len(content), size))
            assert b"".join(block for part in cut for block in body.blocks(part)) == text
            body.end()
        with pytest.raises(AnswerTooLarge):
            list(BodyDecoder(encoding, len(text) - 1).blocks(content))
    for torn in (gzip.compress(text)[:-9], zlib.compress(text)[:-9]):
        body = BodyDecoder("gzip" if torn[0] == 31 else "deflate", 1 << 30)
        list(body.blocks(torn))
        with pytest.raises(UnreadableBody):
            body.end()
    for size in (
        0,
        1,
        DECOMPRESSED_BLOCK_BYTES - 1,
        DECOMPRESSED_BLOCK_BYTES,
        2 * DECOMPRESSED_BLOCK_BYTES,
        3 * DECOMPRESSED_BLOCK_BYTES,
        3 * DECOMPRESSED_BLOCK_BYTES + 1,
    ):
        for encoding, pack in (("gzip", gzip.compress), ("deflate", zlib.compress)):
            assert unpacked(encoding, pack(bytes(size))) == bytes(size)
    tried(inputs=34)


def unpacked(encoding: str, *parts: bytes) -> bytes:
    body = BodyDecoder(encoding, 1 << 30)
    whole = b"".join(block for part in parts for block in body.blocks(part))
    body.end()
    return whole


def test_what_follows_the_end_of_a_packed_body_is_no_part_of_it(tried: Tried) -> None:
    one, two = gzip.compress(b"one "), gzip.compress(b"two")
    bytewise = [bytes([byte]) for byte in one + two]
    for after in (b"", b"\0", bytes(512), b"\r\n", b"\x1f", b"\x1fx" + two, b"x" * 70_000, b"x" + two):
        assert unpacked("gzip", one + after) == unpacked("gzip", one, after) == b"one "
        assert unpacked("deflate", zlib.compress(b"one"), after, b"x") == b"one"
    for more in ((one + two,), (one, two), (one + two[:1], two[1:]), (one + bytes(9), two), bytewise):
        assert unpacked("gzip", *more) == b"one two"
    assert unpacked("gzip", one + b"x", two) == b"one "
    with pytest.raises(UnreadableBody):
        unpacked("gzip", one + two[:-2])
    tried(inputs=15)


async def test_one_request_is_read_no_longer_than_its_deadline() -> None:
    with Blocks(drip(DRIPS["a body"]), pause=0.02) as server:
        sender, start = transport.HttpTransport(server.url), time.monotonic()
        with pytest.raises(httpx.ReadTimeout):
            await sender.send(ASK, 0.2)
        assert time.monotonic() - start < 2
        await sender.close()


async def test_nothing_is_followed_elsewhere(tried: Tried) -> None:
    with saying(then=answer("theirs")) as other:
        for code in (301, 302, 303, 307, 308):
            for there in (other.url, "file:///etc/passwd", "/sparql", "gopher://x", "//", "http://[", ""):
                moved = Answer(code, (("Location", there),), b"")
                with saying(then=moved) as server, pytest.raises(KGUnavailable) as raised:
                    await Endpoint(server.url, retries=ONCE).query(ASK)
                assert len(server.requests) == 1 and "\n" not in str(raised.value)
        assert other.requests == []
    tried(faults=35)


async def test_nobody_there_by_name_or_by_tls_is_one_line(tried: Tried) -> None:
    with saying(then=answer("one")) as server:
        urls = (
            "http://no-such-host.invalid/sparql",
            server.url.replace("http:", "https:"),
            "http://127.0.0.1:9/sparql",
        )
        for url in urls:
            with pytest.raises(KGUnavailable) as raised:
                await Endpoint(url, deadline=2, retries=ONCE).query(ASK)
            assert "\n" not in str(raised.value)
    tried(faults=3)


async def test_long_literals_that_are_kept_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MAX_CACHED_ROWS", 300)
    with saying(then=answer("x" * 100_000)) as server:
        asked = Endpoint(server.url)
        for n in (1, 2, 1, 2, 3, 1):
            assert (await asked.query(f"{ASK} #{n}")).rows == [(Literal("x" * 100_000),)]
        assert [query[-1] for query in server.queries] == ["1", "2", "3", "1"]


class Refusal(Exception):
    """An error with the headers of an answer."""

    def __init__(self, **headers: str) -> None:
        super().__init__("no")
        self.response = Answer(429)
        object.__setattr__(self.response, "headers", headers)


def test_a_wait_is_a_number_or_nothing_whatever_a_server_says(tried: Tried) -> None:
    parts = ("Wed,", "21", "Oct", "2015", "9999", "99:99:99", "+99999999999", "GMT", "-1", "\0", "1e5", "")
    said = [" ".join((a, b, c, d)) for a in parts for b in parts for c in parts for d in parts]
    for text in said:
        wait = retry_after(Refusal(**{"retry-after": text, "date": text[::-1]}))
        assert wait is None or wait >= 0
    tried(inputs=len(said))


async def test_what_a_server_refuses_for_years_is_refused_at_once(tried: Tried) -> None:
    for wait in ("1000000000", "Fri, 31 Dec 9999 23:59:59 GMT"):
        refusal = told(b"no", ("Retry-After", wait), status=429)
        with (
            saying(refusal, then=answer("one")) as server,
            pytest.raises(KGUnavailable, match="asks to wait"),
        ):
            await Endpoint(server.url).query(ASK)
        assert len(server.requests) == 1
    tried(faults=2)


async def test_too_large_is_the_query_s_fault_and_no_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_RESPONSE_BYTES", 1 << 16)
    with saying(then=answer("x" * (1 << 17))) as server, pytest.raises(KGRejected):
        await Endpoint(server.url).query(ASK)
    assert len(server.requests) == 1
