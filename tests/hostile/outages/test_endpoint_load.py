"""An endpoint under load, down, and up again: pauses, turns, the breaker, the cache, threads and loops."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kgqa.kg.endpoint import client as endpoints
from kgqa.kg.endpoint.client import MAX_FAILURES_IN_A_ROW, Endpoint
from kgqa.kg.errors import KGError, KGUnavailable
from kgqa.kg.graph import Rows
from kgqa.kg.meter import metered
from kgqa.kg.terms import Literal
from kgqa.retries import RetryPolicy
from kgqa.tests.support.servers.faults import Answer, Cut, Delay, Exchange, Status
from kgqa.tests.support.servers.processes import free_port
from kgqa.tests.support.servers.proxy import Proxy
from kgqa.tests.support.servers.scripted import HEADERS, Blocks, answer, late, saying

ASK = "SELECT ?x { ?x ?y ?z }"

ONCE = RetryPolicy(attempts=1)

ONE = answer("one")

CHILD = Path(__file__).with_name("endpoint_child.py")


async def failures(asked: Endpoint, number: int) -> list[str]:
    """Ask different queries, side by side; give what their errors say."""
    found = await asyncio.gather(*(asked.query(f"{ASK} #{n}") for n in range(number)), return_exceptions=True)
    return [str(each) for each in found if isinstance(each, KGError)]


async def test_while_a_server_wants_to_be_left_alone_nobody_asks() -> None:
    arrived: list[float] = []
    with saying(then=ONE) as server:
        faults = [Status(429, "0.3")]

        def choose(request: object) -> Callable[[Exchange], Answer]:
            arrived.append(time.monotonic())
            return faults.pop() if faults else lambda exchange: ONE

        server.faults = choose
        asked = Endpoint(server.url)
        first = asyncio.create_task(asked.query(ASK))
        while not arrived:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert await failures(asked, 5) == []
        await first
    assert len(arrived) == 7
    assert all(at - arrived[0] >= 0.29 for at in arrived[1:])


async def test_while_a_server_wants_to_be_left_alone_for_long_all_fail_at_once() -> None:
    with saying(Status(429, "3600"), then=ONE) as server:
        asked = Endpoint(server.url)
        with pytest.raises(KGUnavailable, match="it asks to wait 3600 s"):
            await asked.query(ASK)
        start = time.monotonic()
        said = await failures(asked, 3)
    assert len(said) == 3
    assert "it wants not to be asked for 3600 s" in said[0]
    assert len(server.requests) == 1
    assert time.monotonic() - start < 5


async def test_no_more_than_some_requests_are_under_way_at_a_time() -> None:
    now, most, lock = 0, 0, threading.Lock()

    def busy(exchange: Exchange) -> Answer:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        exchange.wait(0.03)
        with lock:
            now -= 1
        return ONE

    with saying(then=busy) as server:
        assert await failures(Endpoint(server.url), 5 * endpoints.MAX_CONCURRENT_REQUESTS) == []
    assert most == endpoints.MAX_CONCURRENT_REQUESTS
    assert len(server.requests) == 5 * endpoints.MAX_CONCURRENT_REQUESTS


async def test_a_server_that_is_down_is_left_alone_and_then_tried_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoints, "DOWN_SECONDS", 0.3)
    with saying(then=Status(503)) as server:
        asked = Endpoint(server.url, retries=RetryPolicy(attempts=2, pause=0.001))
        assert len(await failures(asked, MAX_FAILURES_IN_A_ROW)) == MAX_FAILURES_IN_A_ROW
        assert len(server.requests) == 2 * MAX_FAILURES_IN_A_ROW
        said = await failures(asked, 3)
        assert [each.partition(": ")[2] for each in said] == [
            "it failed 5 times in a row; not asked for 0 s"
        ] * 3
        assert len(server.requests) == 2 * MAX_FAILURES_IN_A_ROW

        await asyncio.sleep(0.3)
        assert "HTTP 503" in "".join(await failures(asked, 4))
        assert len(server.requests) == 2 * MAX_FAILURES_IN_A_ROW + 2  # one query, asked twice

        await asyncio.sleep(0.3)
        server.faults = lambda request: late(ONE, 0.05)
        assert len(await failures(asked, 4)) == 3
        assert await failures(asked, 4) == []


@pytest.mark.parametrize("said", [Status(400), Status(404), Status(429)])
async def test_what_answers_with_a_no_is_not_down(said: Status) -> None:
    with saying(then=said) as server:
        assert not [
            each for each in await failures(Endpoint(server.url, retries=ONCE), 20) if "in a row" in each
        ]
    assert len(server.requests) == 20


async def test_what_says_nothing_for_long_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    with saying(then=Delay(9)) as server:
        asked = Endpoint(server.url, deadline=0.05, retries=ONCE)
        await failures(asked, MAX_FAILURES_IN_A_ROW)
        assert "in a row" in (await failures(asked, 1))[0]


async def test_the_same_is_asked_once_and_counted_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with saying(then=ONE) as server:
        asked = Endpoint(server.url)
        with metered() as meter:
            rows = [await asked.query(ASK) for _ in range(3)]
        assert rows == [Rows(("x",), [(Literal("one"),)])] * 3
        assert (len(server.requests), meter.queries) == (1, 3)


async def test_an_empty_answer_is_kept_and_a_failure_is_not() -> None:
    with saying(Status(404), then=answer()) as server:
        asked = Endpoint(server.url)
        with pytest.raises(KGUnavailable):
            await asked.query(ASK)
        assert [len((await asked.query(ASK)).rows) for _ in range(3)] == [0, 0, 0]
    assert len(server.requests) == 2


async def test_what_is_kept_grows_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "CACHE_SECONDS", 0.1)
    with saying(then=ONE) as server:
        asked = Endpoint(server.url)
        await asked.query(ASK)
        await asyncio.sleep(0.12)
        await asked.query(ASK)
    assert len(server.requests) == 2


async def test_what_is_kept_is_bound_by_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MAX_CACHED_ROWS", 100)
    with saying(then=answer(*"abcde" * 8)) as server:
        asked = Endpoint(server.url)
        for n in (1, 2, 1, 2, 3, 3, 1):
            await asked.query(f"{ASK} #{n}")
        assert [query[-1] for query in server.queries] == ["1", "2", "3", "1"]
        server.faults = lambda request: lambda exchange: answer(*"a" * 95)
        for _ in range(2):
            assert len((await asked.query(f"{ASK} #large")).rows) == 95
        assert server.queries[-2:] == [f"{ASK} #large"] * 2


async def test_what_others_wrote_is_not_kept_and_cut_to_its_limit() -> None:
    with saying(then=answer(*"abc")) as server:
        asked = Endpoint(server.url)
        found = [await asked.query(ASK, limit=2, foreign=True) for _ in range(2)]
    assert [len(rows.rows) for rows in found] == [2, 2]
    assert len(server.requests) == 2


async def test_answers_of_queries_side_by_side_are_not_mixed_up() -> None:
    def echo(exchange: Exchange) -> Answer:
        exchange.wait(0.01)
        return answer(exchange.request.query)

    with saying(then=echo) as server:
        asked = Endpoint(server.url)
        texts = [f"{ASK} #{n % 20}" for n in range(100)]
        found = await asyncio.gather(*map(asked.query, texts))
    assert [rows.rows for rows in found] == [[(Literal(text),)] for text in texts]


def drip() -> Iterator[bytes]:
    yield f"{HEADERS}\r\n".encode()
    while True:
        yield b" "


async def test_who_gives_up_frees_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MAX_CONCURRENT_REQUESTS", 1)
    with Blocks(drip, pause=0.02) as server:
        asked = Endpoint(server.url, deadline=30)
        tasks = [asyncio.create_task(asked.query(f"{ASK} #{n}")) for n in range(3)]
        while not server.asked:
            await asyncio.sleep(0.01)
        tasks[0].cancel()
        while server.asked < 2:  # the second has its turn
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(each, asyncio.CancelledError) for each in found)


def test_several_event_loops_use_an_endpoint_one_after_the_other() -> None:
    with saying(then=ONE) as server:
        asked = Endpoint(server.url)
        for n in range(3):
            assert len(asyncio.run(asked.query(f"{ASK} #{n}")).rows) == 1
            assert len(asked.query_now(f"{ASK} #{n}").rows) == 1
    assert len(server.requests) == 6


def test_an_endpoint_that_nobody_has_leaves_no_thread_and_no_connection() -> None:
    before = set(threading.enumerate())
    with warnings.catch_warnings(), saying(then=ONE) as server:
        warnings.simplefilter("error", ResourceWarning)
        asked = Endpoint(server.url)
        asyncio.run(asked.query(ASK))
        del asked
        gc.collect()
        deadline = time.monotonic() + 5
        while any("kgqa-endpoint" in thread.name for thread in set(threading.enumerate()) - before):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def child(what: str, url: str) -> str:
    command = [sys.executable, "-X", "dev", "-W", "error", str(CHILD), what, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, env={**os.environ})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_process_ends_at_once_whatever_is_under_way() -> None:
    with saying(ONE, then=Delay(30)) as server:
        start = time.monotonic()
        assert child("leave", server.url) == "gave up\n"
        assert time.monotonic() - start < 10


def test_a_child_of_a_process_opens_its_own_connections(
    oxigraph_server: Callable[[list[Path]], str], turtle: Callable[[str], Path]
) -> None:
    url = oxigraph_server([turtle("e:ada rdfs:label 'Ada' ; r:knows e:bob .")])
    assert child("fork", url).splitlines() == ["parent Ada", "child Ada", "parent Ada"]


@contextmanager
def serving(port: int, text: str) -> Iterator[Blocks]:
    body = answer(text).body
    head = f"{HEADERS}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    with Blocks(lambda: iter([head + body]), port=port) as server:
        yield server


async def test_an_endpoint_that_restarts_is_asked_again() -> None:
    port = free_port()
    asked = Endpoint(f"http://127.0.0.1:{port}/sparql", retries=RetryPolicy(attempts=2, pause=0.001))
    for n in range(2):
        with serving(port, f"run {n}"):
            assert (await asked.query(f"{ASK} #{n}")).rows == [(Literal(f"run {n}"),)]
        with pytest.raises(KGUnavailable, match="no connection"):
            await asked.query(f"{ASK} #down {n}")


async def test_a_query_under_way_when_the_endpoint_goes_down_fails_and_a_short_gap_is_bridged() -> None:
    with saying(then=Delay(30)) as server:
        asked = Endpoint(server.url, retries=RetryPolicy(attempts=2, pause=0.001))
        under_way = asyncio.create_task(asked.query(ASK))
        while not server.requests:
            await asyncio.sleep(0.01)
    with pytest.raises(KGUnavailable):
        await under_way
    with saying(Cut(), then=ONE) as server:
        assert len((await Endpoint(server.url, retries=RetryPolicy(pause=0.01)).query(ASK)).rows) == 1


async def test_connections_are_used_again(
    oxigraph_server: Callable[[list[Path]], str], turtle: Callable[[str], Path]
) -> None:
    with Proxy(oxigraph_server([turtle("e:a r:r e:b .")])) as proxy:
        asked = Endpoint(proxy.url)
        for n in range(5):
            await asked.query(f"{ASK} #{n}")
        opened = len(proxy._server._open)
    assert opened == 1
